"""The rules that every strategy of the program keeps, tried on one of one's own.

Each function registers a class and tries it on small machines of every topology, with every choice of its parameters, in
long random histories and whole runs, against brute force wherever there is one. What it cannot know is what the strategy is
meant to be: that belongs into a test of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import _meshwork as _native
from ._strategies import kind_of, name_of, register


class ContractError(AssertionError):
    """A strategy broke a rule: which, on which machine, at which step, with a drawing of the machine where there is one.

    Examples
    --------
    >>> import meshwork.testing
    >>> class Twice:
    ...     "The first free node, as often as it is asked for."
    ...     asks, finds, stateless = "nodes", "any_nodes", True
    ...     def choose(self, ask):
    ...         return ask.site.free_numbers[:1].repeat(ask.nodes)
    >>> try:
    ...     meshwork.testing.check_allocator(Twice)
    ... except (meshwork.testing.ContractError, meshwork.StrategyError) as error:
    ...     "twice" in str(error)
    True
    """


@dataclass(frozen=True)
class Tried:
    """How much a strategy was tried with.

    Examples
    --------
    >>> import meshwork.testing
    >>> meshwork.testing.Tried(machines=3, questions=100, jobs=50).jobs
    50
    """

    machines: int
    """Machines, each counted once for every choice of the parameters."""
    questions: int
    """Questions that it was asked by itself."""
    jobs: int
    """Jobs that finished in whole runs."""


def check_allocator(cls: type) -> Tried:
    """Hold an allocator to the rules.

    What it proposes is free, distinct, large enough, and a block of the requested shape where it is `contiguous`; neither
    asking nor what a copy is told changes its next answer, nor does the clock or chance change whether it finds room; it
    finds room whenever its `finds` says so; and under every scheduler each job starts once and ends once, the same in every
    run of one seed.

    Raises
    ------
    ContractError
        The first rule that it breaks.
    StrategyError
        If it raises, or proposes what cannot be.

    Examples
    --------
    >>> import meshwork.testing
    >>> class FirstNodes:
    ...     "The free nodes with the lowest numbers."
    ...     asks, finds, stateless = "nodes", "any_nodes", True
    ...     def choose(self, ask):
    ...         return ask.site.free.ravel(order="F").nonzero()[0][: ask.nodes]
    >>> meshwork.testing.check_allocator(FirstNodes).questions > 1000
    True
    """
    return _check(cls, "allocator")


def check_scheduler(cls: type) -> Tried:
    """Hold a scheduler to the rules: each job starts once and ends once, and the same seed gives the same run.

    Examples
    --------
    >>> import meshwork.testing
    >>> class InOrder:
    ...     "First come, first served."
    ...     serves_all = True
    ...     def schedule(self, cluster):
    ...         while cluster.head is not None and cluster.start(cluster.head):
    ...             pass
    >>> meshwork.testing.check_scheduler(InOrder).jobs > 100
    True
    """
    return _check(cls, "scheduler")


def check_sizing(cls: type) -> Tried:
    """Hold a sizing to the rules: what it gives is never below its `fewest`, and has the form that was asked for.

    Examples
    --------
    >>> import meshwork.testing
    >>> class AsAsked:
    ...     "What was asked for."
    ...     stateless = True
    ...     def sizes(self, demand):
    ...         return [(demand.request, 1.0)]
    ...     def fewest(self, demand):
    ...         return demand.wanted
    >>> meshwork.testing.check_sizing(AsAsked).questions > 100
    True
    """
    return _check(cls, "sizing")


def check_selector(cls: type) -> Tried:
    """Hold a selector to the rules: it looks without a trace, and takes what can be claimed.

    Examples
    --------
    >>> import meshwork.testing
    >>> class FirstRoom:
    ...     "The first site with room."
    ...     stateless = True
    ...     def select(self, job, offers, rng):
    ...         return next((site for site in range(offers.sites) if offers.at(site) is not None), None)
    >>> meshwork.testing.check_selector(FirstRoom).jobs > 100
    True
    """
    return _check(cls, "selector")


def _check(cls: type, kind: str) -> Tried:
    if kind_of(cls) != kind:
        raise ContractError(f"`{cls.__name__}` is a strategy of another kind: a {kind_of(cls)}, and no {kind}")
    register(cls)
    tried, broken = _native.conform(kind, name_of(cls))
    if broken is not None:
        sentence, drawing = broken
        raise ContractError(f"{sentence}\n{drawing}".rstrip())
    return Tried(*tried)
