"""Checks of a strategy in Python against the rules that all strategies keep.

Each function registers a class and tests it on small machines of every topology, with every choice of its parameters,
in long random histories and whole runs, against brute force where that is possible. The intended behaviour of the
strategy cannot be checked here and needs a test of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import _meshwork as _native
from ._strategies import kind_of, name_of, register


class ContractError(AssertionError):
    """A strategy broke a rule; the message has the rule, machine, step and, if possible, a drawing of the machine.

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
    """The numbers of machines, calls and jobs with which a strategy was checked.

    Examples
    --------
    >>> import meshwork.testing
    >>> meshwork.testing.Tried(machines=3, questions=100, jobs=50).jobs
    50
    """

    machines: int
    """Number of machines; each counts once for every choice of the parameters."""
    questions: int
    """Number of separate calls of the strategy."""
    jobs: int
    """Number of jobs that finished in whole runs."""


def check_allocator(cls: type) -> Tried:
    """Check an allocator against the rules.

    A placement is free, without duplicates, large enough, and a block of the requested shape if the allocator is
    `contiguous`. Neither a call nor a change of a copy affects the next answer, and neither time nor chance affects
    whether there is an answer. An answer is found whenever `finds` promises it. Under every scheduler each job starts
    once and ends once, and runs with equal seeds are equal.

    Raises
    ------
    ContractError
        If the allocator breaks a rule; the message names the first one.
    StrategyError
        If the allocator raises an exception, or proposes an invalid placement.

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
    """Check a scheduler against the rules: each job starts once and ends once, and runs with equal seeds are equal.

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
    """Check a sizing against the rules: its sizes are never below its `fewest`, and have the requested form.

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
    """Check a selector against the rules: its calls change nothing, and its choice can be claimed.

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
