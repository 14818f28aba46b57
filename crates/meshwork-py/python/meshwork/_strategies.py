"""Registered classes: allocators, schedulers, sizings, selectors, workloads and metrics written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from . import _meshwork as _native
from ._errors import InputError

if TYPE_CHECKING:
    import inspect

C = TypeVar("C", bound=type)

_KINDS = {
    "choose": "allocator",
    "schedule": "scheduler",
    "sizes": "sizing",
    "select": "selector",
    "jobs": "workload",
    "value": "metric",
    "result": "metric",
}
_RANGES = ("positive", "non_negative", "share", "inside", "at_least_one")
_LARGEST = 2**63 - 1


@overload
def register(strategy: C) -> C: ...
@overload
def register(strategy: str) -> Callable[[C], C]: ...
def register(strategy: C | str) -> C | Callable[[C], C]:
    """Register a class as a strategy, a workload or a metric that studies, pools and the command can name.

    The kind of a class follows from its method: `choose(ask)` makes an allocator, `schedule(cluster)` a scheduler,
    `sizes(demand)` and `fewest(demand)` a sizing, `select(job, offers, rng)` a selector, `jobs(rng)` a workload,
    `value(run, now)` a metric that is a mean over jobs, and `result()` a metric that is computed by an `Observer` at
    the end of a run. An allocator is called only if enough nodes are free. The name is the argument, else the attribute
    `name`, else the class name in snake case. A later registration of the same name replaces an earlier one.

    `jobs` yields jobs in the order of submission, as a generator does. A job is a mapping, or an object with
    attributes, with the columns of a table of jobs (`submit`, `runtime`, one of `nodes`, `block` and `subcube`, and
    optionally `estimate`, `user`, `priority`, …); `None` is an empty cell. All transformations of workloads (`load` by
    `scale`, `arrival_scale`, `dependencies`, …) apply. An endless workload has `ends = False`.

    A metric is measured if a study names it, in its own `unit` (`"time"` is the unit of the clock). `value` is called
    for each job that finishes in the measured part of a run, and a value of `None` is not counted; `result` is called
    once, and the observer has seen the warm-up too.

    Every call into Python takes some microseconds and the global interpreter lock, which serialises the threads of a
    study. Each run has its own instance, which no two threads call at the same time.

    An `__init__` may have a parameter `machine` (a `Topology`; a tuple of them for schedulers, sizings, workloads and
    metrics; selectors have none). All other parameters become parameters of the strategy, of type `float`, `int`,
    `bool`, `str` or `Literal`, with their defaults; metrics have none. `Annotated[float, "share", "the share of …"]`
    gives a range (positive, non_negative, share, inside or at_least_one; for an `int` a `range`) and a line of help.

    Further facts are attributes of the class. Of an allocator: `asks` (the form of requests: `nodes`, `block`,
    `block_or_nodes`, `subcube` or `square`), `finds` (`any_nodes`, `every_block` or `some_blocks`), `contiguous`,
    `serves` (the topologies), `dimensions` (one number or several), and `goes_by_free_nodes`. Of a scheduler: `serves`,
    `plans`, `serves_all`. Of all: `stateless`, which avoids copies. An allocator may have `claimed(placement, site,
    now)`, `released(placement, site)`, `memory()` and `recall(memory, site)`. A scheduler may have `wake_at(now)`,
    called after each `schedule`; it returns a later instant at which the scheduler is called even without an event, or
    `None`. It may have `memory()`, which returns a text, and `recall(memory)`, so that one `meshwork.plan` continues
    another; it names jobs there by `cluster.job(job).number`, as others arrive with each plan. Any strategy may have
    `fork()`; the default is `copy.deepcopy`.

    Raises
    ------
    InputError
        If the class has no such method, or its name is that of a built-in entry.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class LastNodes:
    ...     "The free nodes with the highest numbers."
    ...     asks, finds, stateless = "nodes", "any_nodes", True
    ...     def choose(self, ask):
    ...         return ask.site.free_numbers[-ask.nodes:]
    >>> pool = mw.Pool(mw.mesh(4, 4), allocator="last_nodes")
    >>> pool.allocate(3)
    Placement("1,3:3x1")

    >>> @mw.register
    ... class Bursts:
    ...     "Bursts of equal jobs."
    ...     def __init__(self, bursts: int = 5, gap: float = 100.0):
    ...         self.bursts, self.gap = bursts, gap
    ...     def jobs(self, rng):
    ...         for burst in range(self.bursts):
    ...             for _ in range(1 + rng.below(4)):
    ...                 yield {"submit": burst * self.gap, "runtime": 50, "nodes": 8, "user": f"u{burst}"}
    >>> @mw.register
    ... class LateJobs:
    ...     "The share of jobs that wait at all."
    ...     unit = "ratio"
    ...     def value(self, run, now):
    ...         return run.wait > 0
    >>> study = mw.Study(machine=mw.flat(8), workload={"name": "bursts", "gap": 60.0}, metrics=["late_jobs"])
    >>> 0 < study.run().summary.row(0)["mean"] < 1
    True
    """
    if isinstance(strategy, str):
        name = strategy

        def named(cls: C) -> C:
            _register(cls, name)
            return cls

        return named
    if not isinstance(strategy, type):
        raise InputError(f"a strategy is a class, and {strategy!r} is none")
    _register(strategy, None)
    return strategy


class Observer:
    """An observer of the events of a run: an optional base class, and the list of the methods.

    `Study.run(observer=…)` makes one for each run, and a metric with the method `result` is an observer too. An
    observer may have any of these methods, and no others are called. Jobs are identified by `id`, their position in the
    order of arrival.

    | method | when |
    |---|---|
    | `arrived(id, job, now)` | a job joined the queue |
    | `refused(id, job, now)` | a job arrived that does not fit on the empty machine |
    | `turned_away(id, job, now)` | a waiting job was removed from the queue |
    | `promised(id, by, now)` | a waiting job was promised a start no later than `by` |
    | `started(run, now)` | a job began to run |
    | `moved(run, before, now)` | a running job changed its processors or its rate |
    | `finished(run, now)` | a job ended |
    | `interrupted(run, now)` | a running job was interrupted and requeued |
    | `down(site, node, now)`, `up(site, node, now)` | a node went out of service, or returned to service |
    | `asleep(site, nodes, now)`, `awake(site, nodes, energy, now)` | nodes fell asleep, or were woken at a cost in joules |
    | `unusable(line, reason, now)` | a line of a log was not a valid job |
    | `elapsed(state, begin, end)` | the machine was in this state from `begin` to `end` |
    | `waited(id, cause, begin, end)` | a job waited for nodes, shape, priority or reserved nodes from `begin` to `end` |

    Each call takes some microseconds and the global interpreter lock. With `waited`, the allocator is called for each
    form of the waiting requests after each change of the machine. An observer cannot change a run.

    Examples
    --------
    >>> import meshwork as mw
    >>> class Log(mw.Observer):
    ...     def __init__(self, swept: dict, replication: int):
    ...         logs[swept["scheduler"], replication] = self.lines = []
    ...     def started(self, run: mw.Run, now: float):
    ...         self.lines.append((run.job.number, now))
    >>> logs = {}
    >>> jobs = {"submit": [0, 1, 2], "runtime": [9, 5, 3], "nodes": [3, 4, 1]}
    >>> study = mw.Study(machine=mw.flat(4), workload=jobs, sweep={"scheduler": ["fcfs", "easy"]})
    >>> results = study.run(observer=Log)
    >>> logs["easy", 0]
    [(1, 0.0), (3, 2.0), (2, 9.0)]
    """


def registered() -> list[tuple[str, str]]:
    """Return the kinds and names of all registered classes.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class FirstNodes:
    ...     "The free nodes with the lowest numbers."
    ...     asks, finds, stateless = "nodes", "any_nodes", True
    ...     def choose(self, ask):
    ...         return ask.site.free_numbers[: ask.nodes]
    >>> ("allocator", "first_nodes") in mw.registered()
    True
    """
    return _native.registered()


def kind_of(cls: type) -> str:
    """Return the kind of a class: `allocator`, `scheduler`, `sizing`, `selector`, `workload` or `metric`."""
    found = [kind for method, kind in _KINDS.items() if callable(getattr(cls, method, None))]
    if len(found) != 1:
        has = f"it has {len(found)} of them" if found else "it has none of them"
        raise InputError(
            f"the class `{cls.__name__}` is no strategy: one has the method choose, schedule, sizes or select, and {has}; "
            "a workload has the method jobs, and a metric value or result"
        )
    if found == ["sizing"] and not callable(getattr(cls, "fewest", None)):
        raise InputError(f"the class `{cls.__name__}` is no sizing: it has `sizes`, but no method `fewest`")
    return found[0]


def name_of(cls: type) -> str:
    """Return the name of a class in studies."""
    import re

    name = getattr(cls, "name", None)
    return name if isinstance(name, str) else re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


class Carried(NamedTuple):
    """A strategy packed for another process."""

    kind: str
    packed: bytes
    facts: dict[str, Any]

    def arrive(self) -> str:
        """Register the strategy in this process, unless it is registered already; return the digest of its source."""
        import pickle

        name, digest = self.facts["name"], str(self.facts["digest"])
        known = _FACTS.get((self.kind, name))
        if known is not None and known[1] == self.facts:
            return digest
        try:
            cls = pickle.loads(self.packed)
        except Exception as error:
            raise InputError(
                f"the {self.kind} `{name}` cannot be found in this process ({type(error).__name__}: {error}): put its class "
                "into a module that can be imported on all computers, or install cloudpickle"
            ) from error
        # A class sent by value, or defined in a script, has no source here to compare.
        if _is_at_home(cls) and (here := _digest(cls)) != digest:
            raise InputError(
                f"the {self.kind} `{name}` has another source in this process ({cls.__module__}, digest {here}) than in the "
                f"one that began the sweep ({digest}): all computers must have the same"
            )
        _FACTS[self.kind, name] = (cls, self.facts)
        _native.register(self.kind, cls, self.facts)
        return digest


def carried(kind: str, name: str) -> Carried:
    """Pack a strategy registered in this process."""
    cls, facts = _FACTS[kind, name]
    try:
        from cloudpickle import dumps  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from pickle import dumps
    try:
        packed = dumps(cls)
    except Exception as error:
        raise InputError(
            f"the {kind} `{name}` cannot be sent to other processes ({type(error).__name__}: {error}): put its class into "
            "a module, outside of any function, or install cloudpickle"
        ) from error
    return Carried(kind, packed, facts)


def _is_at_home(cls: type) -> bool:
    """Whether the module of a class has this class under its name."""
    import operator
    import sys

    module = sys.modules.get(cls.__module__)
    try:
        return cls.__module__ not in ("__main__", "__mp_main__") and operator.attrgetter(cls.__qualname__)(module) is cls
    except AttributeError:
        return False


# Registered classes by kind and name, each with the facts that were collected about it.
_FACTS: dict[tuple[str, str], tuple[type, dict[str, Any]]] = {}


def _register(cls: type, name: str | None) -> None:
    import inspect
    import re

    kind = kind_of(cls)
    name = name or name_of(cls)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"the strategy is called {name!r}, but a name is small letters, digits and _, as in first_fit")
    lines = inspect.getdoc(cls) or f"The {kind} {name}, in Python."
    summary, _, rest = lines.partition("\n")
    summary = summary.strip().rstrip(".")
    params = _params(cls)
    if kind == "metric" and params:
        raise InputError(f"the metric `{name}` has the parameter `{params[0][0]}`, but metrics have none")
    facts = {
        "name": name,
        "summary": summary[:1].lower() + summary[1:],
        "definition": " ".join(rest.split()) or f"{summary}.",
        "complexity": getattr(cls, "complexity", "What its code in Python takes."),
        "source": f"{cls.__module__}.{cls.__qualname__}",
        "params": params,
        "ends": bool(getattr(cls, "ends", True)),
        "unit": str(getattr(cls, "unit", "")),
        "watches": callable(getattr(cls, "result", None)),
        "serves": list(getattr(cls, "serves", ("mesh", "torus", "hypercube", "flat"))),
        "dimensions": getattr(cls, "dimensions", None),
        "asks": getattr(cls, "asks", "block"),
        "finds": getattr(cls, "finds", "some_blocks"),
        "contiguous": bool(getattr(cls, "contiguous", False)),
        "plans": bool(getattr(cls, "plans", False)),
        "serves_all": bool(getattr(cls, "serves_all", False)),
        "digest": _digest(cls),
    }
    _native.register(kind, cls, facts)
    _FACTS[kind, name] = (cls, facts)


def _digest(cls: type) -> str:
    """Return a digest of the source of a class: of its whole module, or in a notebook of the class alone."""
    import hashlib
    import inspect
    import uuid

    try:
        module = inspect.getmodule(cls)
        source = inspect.getsource(cls)
        if module is not None and module.__name__ != "__main__":
            source += inspect.getsource(module)
    except (OSError, TypeError):
        source = uuid.uuid4().hex
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _params(cls: type) -> list[tuple[str, str, list[str], str | None, str]]:
    if cls.__init__ is object.__init__:  # type: ignore[misc]
        return []
    import inspect
    import typing

    try:
        hints = typing.get_type_hints(cls.__init__, include_extras=True)  # type: ignore[misc]
    except (NameError, TypeError) as error:
        raise InputError(f"the types of `{cls.__name__}.__init__` cannot be read: {error}") from error
    params = []
    for parameter in list(inspect.signature(cls).parameters.values()):
        if parameter.name == "machine" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        params.append(_param(cls, parameter, hints.get(parameter.name)))
    return params


def _param(cls: type, parameter: inspect.Parameter, hint: Any) -> tuple[str, str, list[str], str | None, str]:
    import typing

    extras: tuple[Any, ...] = ()
    if typing.get_origin(hint) is typing.Annotated:
        hint, *rest = typing.get_args(hint)
        extras = tuple(rest)
    help_ = next((extra for extra in extras if isinstance(extra, str) and extra not in _RANGES), "a parameter of its own")
    within = next((extra for extra in extras if extra in _RANGES), "non_negative")
    default: Any = parameter.default
    if hint is None and default is not parameter.empty:
        hint = type(default)
    words: list[str] = []
    if typing.get_origin(hint) is typing.Literal:
        kind, words = "choice", [str(word) for word in typing.get_args(hint)]
    elif hint is bool:
        kind = "flag"
    elif hint is int:
        limits = next((extra for extra in extras if isinstance(extra, range)), range(_LARGEST))
        kind, words = "integer", [str(limits.start), str(limits.stop - 1)]
    elif hint is float:
        kind, words = "number", [within]
    elif hint is str:
        kind = "text"
    else:
        raise InputError(
            f"the parameter `{parameter.name}` of `{cls.__name__}` is a {hint}, but must be a float, an int, a bool, a str "
            "or a Literal of texts"
        )
    if default is parameter.empty:
        return parameter.name, kind, words, None, help_
    from ._commands import _toml

    return parameter.name, kind, words, _toml(float(typing.cast(Any, default)) if hint is float else default), help_


def instance(cls: type, kind: str, machine: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """Make an instance of a class for a machine, at the beginning of a run or a pool."""
    import inspect

    if "machine" in inspect.signature(cls).parameters:
        given = {"machine": machine[0] if kind == "allocator" else machine, **given}
    # Parameters of all schedulers or workloads are passed only to classes that declare them.
    common = given if kind == "workload" else {"kill_at_estimate"}
    return cls(**{key: value for key, value in given.items() if key not in common or _takes(cls, key)})


def _takes(cls: type, key: str) -> bool:
    import inspect

    return key in inspect.signature(cls).parameters


def interrupt(threads: set[int]) -> None:
    """Raise `KeyboardInterrupt` in threads that run strategies; Python itself raises it in the main thread only."""
    import ctypes

    for thread in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
