"""Parts of one's own: a class becomes an allocator, a scheduler, a sizing, a selector, a workload or a metric."""

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
    """Make a class a strategy, a workload or a metric that studies, pools and the command can name.

    What it becomes follows from its method: `choose(ask)` makes an allocator, `schedule(cluster)` a scheduler,
    `sizes(demand)` and `fewest(demand)` a sizing, `select(job, offers, rng)` a selector, `jobs(rng)` a workload,
    `value(run, now)` a metric that is a mean over jobs, and `result()` one that an `Observer` gives in the end. An allocator
    is asked only where enough nodes are free. The name is that of the class, in snake case, or its attribute `name`, or
    what is given here. One that is registered again replaces the older one.

    `jobs` gives jobs in the order of submission, one after the other, as a generator does: mappings, or objects with
    attributes, with the columns of a table of jobs (`submit`, `runtime`, one of `nodes`, `block` and `subcube`, and perhaps
    `estimate`, `user`, `priority`, …), where `None` is an empty cell. Whatever can be done to any workload (`load` by
    `scale`, `arrival_scale`, `dependencies`, …) can be done to it. One that never ends says so by `ends = False`.

    A metric is measured where a study names it, in its own `unit` (`"time"` is that of the clock). `value` is asked of each
    job that finishes in the measured part of a run, and `None` counts for nothing; `result` is asked once, and has seen the
    warm-up too.

    Whatever is asked in Python takes some microseconds and the lock of the interpreter: threads that run a study take
    turns in it. Each run has an instance of its own, which no two threads ask at the same time.

    An `__init__` may have a parameter `machine` (a `Topology`; a tuple of them for schedulers, sizings, workloads and
    metrics; selectors have none), and any others, which metrics have not, become parameters of the strategy: `float`,
    `int`, `bool`, `str` or `Literal`, with their defaults. `Annotated[float, "share", "the share of …"]` gives a range
    (positive, non_negative, share, inside or at_least_one; for an `int` a `range`) and a line of help.

    Attributes of the class say more. Of an allocator: `asks` (in which form it wants requests: `nodes`, `block`,
    `block_or_nodes`, `subcube` or `square`), `finds` (`any_nodes`, `every_block` or `some_blocks`), `contiguous`, `serves`
    (the topologies), `dimensions` (one number or several), and `goes_by_free_nodes`. Of a scheduler: `serves`,
    `plans`, `serves_all`. Of all: `stateless`, which spares copies. An allocator may have `claimed(placement, site, now)`,
    `released(placement, site)`, `memory()` and `recall(memory, site)`; a scheduler `wake_at(now)`, asked after each
    `schedule`: the later instant at which it is called even if nothing happens then, or `None`; any strategy may have
    `fork()`, for which `copy.deepcopy` stands in.

    Raises
    ------
    InputError
        If the class is nothing of the kind, or its name is that of one of the program's own.

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
    """Somebody who is told what happens in a run: a class for those who like to inherit, and the list of the methods.

    `Study.run(observer=…)` makes one for each run, and a metric with the method `result` is one. It may have any of these
    methods, and is told nothing else; a job is called by `id`, its place in the order of arrival.

    | method | when |
    |---|---|
    | `arrived(id, job, now)` | a job joined the queue |
    | `refused(id, job, now)` | a job arrived that would not fit even the empty machine |
    | `turned_away(id, job, now)` | a waiting job left the queue unserved |
    | `promised(id, by, now)` | a waiting job was promised a start by then |
    | `started(run, now)` | a job began to run |
    | `moved(run, before, now)` | a running job holds other processors, or works at another rate |
    | `finished(run, now)` | a job ended |
    | `interrupted(run, now)` | a running job was stopped, and waits again |
    | `down(site, node, now)`, `up(site, node, now)` | a node went out of service, or is in service again |
    | `asleep(site, nodes, now)`, `awake(site, nodes, energy, now)` | nodes fell asleep, or were woken for so many joules |
    | `unusable(line, reason, now)` | a line of a log was no job |
    | `elapsed(state, begin, end)` | time passed, and all the while the machine was in this state |
    | `waited(id, cause, begin, end)` | time passed, and a job waited for nodes, shape, priority or reserved nodes |

    Each call takes some microseconds and the lock of the interpreter. `waited` costs a question to the allocator for each
    form in which jobs wait, after each change of the machine. An observer changes nothing: it is told, and not asked.

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
    """Give the kinds and names of what was registered.

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
    """Say what a class is: `allocator`, `scheduler`, `sizing`, `selector`, `workload` or `metric`."""
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
    """Give the name of a class in studies."""
    import re

    name = getattr(cls, "name", None)
    return name if isinstance(name, str) else re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


class Carried(NamedTuple):
    """A strategy on its way to another process."""

    kind: str
    packed: bytes
    facts: dict[str, Any]

    def arrive(self) -> str:
        """Register it here, unless it is registered already; give the digest of its source."""
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
        # What came by value, or from a script, has no source here that could be compared.
        if _is_at_home(cls) and (here := _digest(cls)) != digest:
            raise InputError(
                f"the {self.kind} `{name}` has another source in this process ({cls.__module__}, digest {here}) than in the "
                f"one that began the sweep ({digest}): all computers must have the same"
            )
        _FACTS[self.kind, name] = (cls, self.facts)
        _native.register(self.kind, cls, self.facts)
        return digest


def carried(kind: str, name: str) -> Carried:
    """Pack a strategy that was registered here."""
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
    """Whether a class is the one that its module has under its name."""
    import operator
    import sys

    module = sys.modules.get(cls.__module__)
    try:
        return cls.__module__ not in ("__main__", "__mp_main__") and operator.attrgetter(cls.__qualname__)(module) is cls
    except AttributeError:
        return False


# What was registered, by kind and name: the class, and what was found out about it.
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
    """Say which source a class has: that of its module, or its own in a notebook. Without one, no stored run is its."""
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
    """Make a strategy for a machine; called when a run or a pool begins."""
    import inspect

    if "machine" in inspect.signature(cls).parameters:
        given = {"machine": machine[0] if kind == "allocator" else machine, **given}
    # What every scheduler and every workload has besides is not for the class, unless it asks for it.
    common = given if kind == "workload" else {"kill_at_estimate"}
    return cls(**{key: value for key, value in given.items() if key not in common or _takes(cls, key)})


def _takes(cls: type, key: str) -> bool:
    import inspect

    return key in inspect.signature(cls).parameters


def interrupt(threads: set[int]) -> None:
    """Raise `KeyboardInterrupt` in threads that ask strategies: Python itself does so in the main thread only."""
    import ctypes

    for thread in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
