"""Machines: how processors are wired, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _meshwork as _native

if TYPE_CHECKING:
    import networkx

    from ._meshwork import Topology


class Machine:
    """A machine, or one site of several; see `mesh`, `torus`, `hypercube`, `flat` and `sites`.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.torus(8, 8, speed=2.0).as_table()
    {'topology': 'torus', 'dims': [8, 8], 'speed': 2.0}
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = dict(table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self._table == other._table

    def __hash__(self) -> int:
        return hash(repr(self._table))

    def __repr__(self) -> str:
        return f"Machine({self._table!r})"

    def as_table(self) -> dict[str, Any]:
        """Give the table that a study has under `machine`."""
        return dict(self._table)

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
        own = {key: value for key, value in self._table.items() if key not in ("speed", "allocator")}
        return _native.Pool({"machine": own}).topology

    def graph(self) -> networkx.Graph:
        """Give the graph of its links, for `networkx`.

        Returns
        -------
        networkx.Graph
            A node for each processor, with its coordinates as `pos`; a flat machine has no links.

        Examples
        --------
        >>> import meshwork as mw
        >>> graph = mw.torus(4, 4).graph()
        >>> graph.number_of_nodes(), graph.number_of_edges(), graph.nodes[5]["pos"]
        (16, 32, (1, 1))
        """
        import networkx

        topology = self.topology
        graph: networkx.Graph = networkx.Graph()
        for node in range(topology.nodes):
            graph.add_node(node, pos=topology.coordinates(node))
        graph.add_edges_from(topology.links())
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


def mesh(*sides: int | Sequence[int], speed: float | None = None, allocator: object = None) -> Machine:
    """Make a mesh: a grid without links around its edges.

    Parameters
    ----------
    *sides
        The sides, dimension 0 first: `mesh(16, 8)` or `mesh((16, 8))`.
    speed
        How many times faster than the workload's own machine it runs a job; for one of several sites.
    allocator
        An allocator of its own; for one of several sites.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.mesh(16, 8).topology.nodes
    128
    """
    return _site("mesh", {"dims": _sides(sides)}, speed, allocator)


def torus(*sides: int | Sequence[int], speed: float | None = None, allocator: object = None) -> Machine:
    """Make a torus: a grid whose every dimension is a ring. Parameters are those of `mesh`."""
    return _site("torus", {"dims": _sides(sides)}, speed, allocator)


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
    """Make a machine of so many processors behind one switch: any of them will do."""
    return _site("flat", {"processors": processors}, speed, allocator)


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
