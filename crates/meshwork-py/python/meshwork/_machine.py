"""Machines: the wiring and the number of processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _meshwork as _native

if TYPE_CHECKING:
    import networkx

    from ._meshwork import Topology


class Machine:
    """A machine, or one site of several.

    `mesh`, `torus`, `hypercube`, `flat`, `fat_tree`, `dragonfly`, `twisted_torus`, `tofu`, `sites` and `named` make one.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.torus(8, 8, speed=2.0).as_table()
    {'topology': 'torus', 'dims': [8, 8], 'speed': 2.0}
    """

    def __init__(self, table: Mapping[str, Any] | str) -> None:
        self._table: dict[str, Any] | str = table if isinstance(table, str) else dict(table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self._table == other._table

    def __hash__(self) -> int:
        return hash(repr(self._table))

    def __repr__(self) -> str:
        return f"Machine({self._table!r})"

    def as_table(self) -> Any:
        """Return the value of `machine` in a study: a table, or the name of a named machine."""
        return self._table if isinstance(self._table, str) else dict(self._table)

    @property
    def topology(self) -> Topology:
        """The topology: coordinates and neighbours of nodes.

        Examples
        --------
        >>> import meshwork as mw
        >>> grid = mw.torus(4, 4).topology
        >>> grid.coordinates(5), grid.node((3, 0)), grid.distance(0, 3)
        ((1, 1), 3, 1)
        """
        return _native.Pool({"machine": self._bare()}).topology

    def _bare(self) -> dict[str, Any] | str:
        """Return the table without keys that do not belong to the wiring."""
        if isinstance(self._table, str):
            return self._table
        return {key: value for key, value in self._table.items() if key not in ("speed", "allocator")}

    def graph(self) -> networkx.Graph:
        """Return the graph of the machine's links, for `networkx`.

        Returns
        -------
        networkx.Graph
            A node for each processor, with its coordinates as `pos`. If routers are separate, as in a fat tree or a
            dragonfly, each router `r` is a node `("router", r)` too, with an edge to each of its processors; a flat
            machine has no edges.

        Examples
        --------
        >>> import meshwork as mw
        >>> graph = mw.torus(4, 4).graph()
        >>> graph.number_of_nodes(), graph.number_of_edges(), graph.nodes[5]["pos"]
        (16, 32, (1, 1))
        >>> tree = mw.fat_tree(2, levels=2).graph()
        >>> sorted(tree.neighbors(0)), len(list(tree.neighbors(("router", 0))))
        ([('router', 0)], 4)
        """
        import networkx

        topology = self.topology
        graph: networkx.Graph = networkx.Graph()
        for node in range(topology.nodes):
            graph.add_node(node, pos=topology.coordinates(node))
        links = topology.links()
        last = topology.nodes - 1
        if not links or topology.router(last) == last:
            graph.add_edges_from(links)
            return graph
        graph.add_edges_from((node, ("router", topology.router(node))) for node in range(topology.nodes))
        graph.add_edges_from((("router", a), ("router", b)) for a, b in links)
        return graph


def _site(topology: str, shape: Mapping[str, Any], speed: float | None, allocator: object) -> Machine:
    table: dict[str, Any] = {"topology": topology, **shape}
    if speed is not None:
        table["speed"] = speed
    if allocator is not None:
        table["allocator"] = allocator
    return Machine(table)


def _sides(sides: tuple[int | Sequence[int], ...]) -> list[Any]:
    if len(sides) == 1 and not isinstance(sides[0], int):
        only = sides[0]
        return list(only) if isinstance(only, Sequence) else [only]
    return list(sides)


def _given(**keys: object) -> dict[str, Any]:
    """Return only the given arguments; the program fills in its defaults for all others."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in keys.items() if value is not None}


def mesh(
    *sides: int | Sequence[int],
    wrap: bool | Sequence[bool] | None = None,
    processors_per_node: int | None = None,
    speed: float | None = None,
    allocator: object = None,
) -> Machine:
    """Make a mesh: a grid without links around its edges.

    Parameters
    ----------
    *sides
        The sides, dimension 0 first: `mesh(16, 8)` or `mesh((16, 8))`.
    wrap
        Whether each dimension closes to a ring: one value for all, or one for each.
    processors_per_node
        Processors of each node; with more than 1 the machine allocates processors by count.
    speed
        The speed relative to the machine of the workload; for one of several sites.
    allocator
        The allocator of the site; for one of several sites.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.mesh(16, 8).topology.nodes
    128
    >>> mw.mesh(8, 8, 4, wrap=(True, True, False)).topology
    Topology(8 × 8 × 4 torus without rings along dimension 2)
    """
    return _grid("mesh", sides, wrap, processors_per_node, speed, allocator)


def torus(
    *sides: int | Sequence[int],
    wrap: bool | Sequence[bool] | None = None,
    processors_per_node: int | None = None,
    speed: float | None = None,
    allocator: object = None,
) -> Machine:
    """Make a torus: a grid whose dimensions are rings: all, or those of `wrap`. Parameters are those of `mesh`.

    Examples
    --------
    >>> import meshwork as mw
    >>> grid = mw.torus(4, 4, processors_per_node=2).topology
    >>> grid.nodes, grid.distance(0, 1), grid.distance(0, 6)
    (32, 0, 1)
    """
    return _grid("torus", sides, wrap, processors_per_node, speed, allocator)


def _grid(
    topology: str,
    sides: tuple[int | Sequence[int], ...],
    wrap: bool | Sequence[bool] | None,
    processors_per_node: int | None,
    speed: float | None,
    allocator: object,
) -> Machine:
    rings = [wrap] if isinstance(wrap, bool) else wrap
    shape = {"dims": _sides(sides), **_given(wrap=rings, processors_per_node=processors_per_node)}
    return _site(topology, shape, speed, allocator)


def hypercube(dimension: int, *, speed: float | None = None, allocator: object = None) -> Machine:
    """Make a hypercube of 2 to the power of `dimension` processors.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.hypercube(7).topology.nodes
    128
    """
    return _site("hypercube", {"dimension": dimension}, speed, allocator)


def flat(processors: int, *, speed: float | None = None, allocator: object = None) -> Machine:
    """Make a machine of equivalent processors behind one switch.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.flat(12).topology.nodes
    12
    """
    return _site("flat", {"processors": processors}, speed, allocator)


def fat_tree(
    arity: int | Sequence[int],
    levels: int | None = None,
    taper: float | None = None,
    *,
    speed: float | None = None,
    allocator: object = None,
) -> Machine:
    """Make a tree of switches: a k-ary n-tree, or a Clos network of any number of levels.

    Parameters
    ----------
    arity
        Nodes of a leaf switch and children of every other switch, or one number for each level, leaves first.
    levels
        Levels of switches; by default 3, or the length of `arity`.
    taper
        The ratio of nodes to upward links of a leaf switch; by default 1.
    speed, allocator
        As for `mesh`.

    Examples
    --------
    >>> import meshwork as mw
    >>> tree = mw.fat_tree(4).topology
    >>> tree.nodes, tree.routers, tree.distance(0, 63)
    (64, 48, 4)
    """
    return _site("fat_tree", {"arity": arity, **_given(levels=levels, taper=taper)}, speed, allocator)


def dragonfly(
    p: int, a: int | None = None, h: int | None = None, *, speed: float | None = None, allocator: object = None
) -> Machine:
    """Make a dragonfly: groups of fully connected routers, with one link between every two groups.

    Parameters
    ----------
    p
        Nodes of a router.
    a
        Routers of a group; by default 2 p.
    h
        Global links of a router; by default p.
    speed, allocator
        As for `mesh`.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.dragonfly(2).topology.nodes
    72
    """
    return _site("dragonfly", {"p": p, **_given(a=a, h=h)}, speed, allocator)


def twisted_torus(*sides: int | Sequence[int], speed: float | None = None, allocator: object = None) -> Machine:
    """Make a torus of sides k and 2k, whose short rings are closed with an offset of k along the long ones.

    Examples
    --------
    >>> import meshwork as mw
    >>> [machine(4, 8).topology.distance(0, 18) for machine in (mw.torus, mw.twisted_torus)]
    [6, 2]
    """
    return _site("twisted_torus", {"dims": _sides(sides)}, speed, allocator)


def tofu(
    *sides: int | Sequence[int],
    processors_per_node: int | None = None,
    speed: float | None = None,
    allocator: object = None,
) -> Machine:
    """Make groups of 2 × 3 × 2 nodes inside a torus with these sides; the torus has one to three dimensions.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.tofu(4, 4, 4).topology.dims
    (2, 3, 2, 4, 4, 4)
    """
    return _grid("tofu", sides, None, processors_per_node, speed, allocator)


def named(name: str) -> Machine:
    """Return a named machine, with its wiring and its allocator.

    Raises
    ------
    InputError
        If no machine has this name.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.named("tpu_v4").topology.dims
    (16, 16, 16)
    >>> [row["name"] for row in mw.list("machine")][:3]
    ['tpu_v4', 'tpu_v5p', 'tpu7x']
    """
    machine = Machine(name)
    # An unknown name is refused here rather than at its first use.
    _native.Pool({"machine": name})
    return machine


def sites(machines: Sequence[Machine]) -> Machine:
    """Make a grid of several sites, in the order in which first-fit selection tries them.

    Examples
    --------
    >>> import meshwork as mw
    >>> grid = mw.sites([mw.mesh(8, 8), mw.mesh(16, 16, speed=2.0)])
    >>> len(grid.as_table()["sites"])
    2
    """
    return Machine({"sites": [machine.as_table() for machine in machines]})
