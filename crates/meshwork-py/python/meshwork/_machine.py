"""Machines: how processors are wired, and how many there are."""

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
        """Give what a study has as `machine`: a table, or the name of one that has a name."""
        return self._table if isinstance(self._table, str) else dict(self._table)

    @property
    def topology(self) -> Topology:
        """Where its nodes lie, and which are neighbours.

        Examples
        --------
        >>> import meshwork as mw
        >>> grid = mw.torus(4, 4).topology
        >>> grid.coordinates(5), grid.node((3, 0)), grid.distance(0, 3)
        ((1, 1), 3, 1)
        """
        return _native.Pool({"machine": self._bare()}).topology

    def _bare(self) -> dict[str, Any] | str:
        """Without what is not its wiring."""
        if isinstance(self._table, str):
            return self._table
        return {key: value for key, value in self._table.items() if key not in ("speed", "allocator")}

    def graph(self) -> networkx.Graph:
        """Give the graph of its links, for `networkx`.

        Returns
        -------
        networkx.Graph
            A node for each processor, with its coordinates as `pos`. Where processors are not the routers themselves, as in
            a fat tree or a dragonfly, there is a node `("router", r)` for each router too, and an edge from every
            processor to its own; a flat machine has no edges.

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
    """Only what is given: all else is the program's own default."""
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
        Whether each dimension closes to a ring all the same: one word for all, or one for each.
    processors_per_node
        Processors of each node; with more than 1 the machine hands out processors by count.
    speed
        How many times faster than the workload's own machine it runs a job; for one of several sites.
    allocator
        An allocator of its own; for one of several sites.

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
    """Make a torus: a grid whose every dimension is a ring, unless `wrap` says which are. Parameters are those of `mesh`.

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
    """Make a machine of so many processors behind one switch: any of them will do.

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
        Nodes of a leaf switch and children of every other, or one number for each level, the leaves first.
    levels
        Levels of switches: 3, or as many as `arity` has numbers.
    taper
        How many times more nodes than links upwards a leaf switch has: 1.
    speed, allocator
        Those of `mesh`.

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
    """Make a dragonfly: groups of routers that all know each other, with one link between every two groups.

    Parameters
    ----------
    p
        Nodes of a router.
    a
        Routers of a group: 2 p.
    h
        Global links of a router: p.
    speed, allocator
        Those of `mesh`.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.dragonfly(2).topology.nodes
    72
    """
    return _site("dragonfly", {"p": p, **_given(a=a, h=h)}, speed, allocator)


def twisted_torus(*sides: int | Sequence[int], speed: float | None = None, allocator: object = None) -> Machine:
    """Make a torus of sides k and 2k, whose short rings are closed k steps further along the long ones.

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
    """Make groups of 2 × 3 × 2 nodes inside a torus with these sides, one to three of them.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.tofu(4, 4, 4).topology.dims
    (2, 3, 2, 4, 4, 4)
    """
    return _grid("tofu", sides, None, processors_per_node, speed, allocator)


def named(name: str) -> Machine:
    """Give a machine that has a name, with its wiring and the rule by which it hands processors out.

    Raises
    ------
    InputError
        If there is none of this name.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.named("tpu_v4").topology.dims
    (16, 16, 16)
    >>> [row["name"] for row in mw.list("machine")][:3]
    ['tpu_v4', 'tpu_v5p', 'tpu7x']
    """
    machine = Machine(name)
    # What is unknown is refused here, and not where it is used.
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
