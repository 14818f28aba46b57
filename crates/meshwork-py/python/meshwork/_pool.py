"""An allocator without a simulation, for use in other schedulers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _meshwork as _native
from ._errors import InputError

if TYPE_CHECKING:
    import numpy
    from typing_extensions import Self

    from ._machine import Machine


class Pool(_native.Pool):
    """The processors of one machine, and the allocator that assigns them.

    A pool has no queue, no jobs and no running clock. It takes requests and returns placements, which are held until
    they are released. The command `meshwork place` is a pool that reads and writes JSON.

    Several threads may use one pool: their calls are serialised. An allocator in Python must not call the pool that
    calls it.

    Parameters
    ----------
    machine
        From `mesh`, `torus`, `hypercube` or `flat`, or a mapping.
    allocator
        The name of the allocator, or a mapping of its `name` and parameters; by default `first_fit`, or `naive` on a flat
        machine.
    seed
        The seed of an allocator that draws random numbers.
    shape
        How a count of processors becomes a block: `squarest` or `exact`.
    order
        Which node comes first if jobs share nodes, that is, if `machine` has types of its `nodes`.
    within
        Which cores and GPUs of a node are given if jobs share nodes.

    Raises
    ------
    InputError
        If an argument is wrong; the message names the first error.

    Examples
    --------
    >>> import meshwork as mw
    >>> pool = mw.Pool(mw.torus(8, 8, 8), allocator="first_fit")
    >>> block = pool.allocate((4, 4, 2))
    >>> block, len(block), pool.free_nodes
    (Placement("0,0,0:4x4x2"), 32, 480)
    >>> bool(pool.free[0, 0, 0]), int(pool.free.sum())
    (False, 480)
    >>> pool.release(block)
    >>> pool.free_nodes
    512
    """

    def __new__(
        cls,
        machine: Machine | Mapping[str, Any],
        allocator: object = None,
        *,
        seed: int | None = None,
        shape: str | None = None,
        order: object = None,
        within: object = None,
    ) -> Self:
        """Make an empty pool."""
        document: dict[str, Any] = {"machine": machine}
        choices = {"allocator": allocator, "seed": seed, "shape": shape, "order": order, "within": within}
        for key, value in choices.items():
            if value is not None:
                document[key] = value
        return super().__new__(cls, document)

    @property
    def free(self) -> numpy.ndarray[Any, Any]:
        """Which nodes are free, by coordinates: a boolean array without copies that follows every change."""
        return self.site.free

    @property
    def holder(self) -> numpy.ndarray[Any, Any]:
        """The number of the claim that holds each node, −1 if the node is free; the array follows every change."""
        return self.site.holder

    def largest(self, ratio: Sequence[int] | None = None) -> dict[str, Any]:
        """Return `free` of `nodes`, and the `largest` free block with sides in this ratio, as (base, sides).

        Examples
        --------
        >>> import meshwork as mw
        >>> mw.Pool(mw.mesh(8, 4)).largest((2, 1))
        {'free': 32, 'nodes': 32, 'largest': ((0, 0), (8, 4))}
        """
        return self.room(None if ratio is None else list(ratio))

    def snapshot(self) -> dict[str, Any]:
        """Return the complete state of the pool, as values that JSON can represent."""
        import json

        state: dict[str, Any] = json.loads(self.snapshot_json())
        return state

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Restore the state of a snapshot of a pool with the same machine, allocator, seed and shape.

        Raises
        ------
        InputError
            If `snapshot` is no snapshot, or one of another pool; nothing is changed then.
        """
        import json

        try:
            text = json.dumps(snapshot)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"this is no snapshot of a pool ({error})") from None
        self.restore_json(text)

    def __repr__(self) -> str:
        return f"Pool({self.free_nodes} of {self.topology.nodes} nodes free)"
