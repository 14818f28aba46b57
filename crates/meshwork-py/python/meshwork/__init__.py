"""Meshwork: simulation and comparison of strategies that allocate processors to jobs.

The package simulates machines whose processors are wired as a mesh, a torus, a hypercube, a fat tree, a dragonfly or a
flat switch, with the strategies that allocate them, and runs studies that compare strategies. The simulator is
compiled; this package is its complete interface for Python.

Examples
--------
>>> import meshwork as mw
>>> pool = mw.Pool(mw.torus(8, 8, 8), allocator="first_fit")
>>> pool.allocate((4, 4, 2))
Placement("0,0,0:4x4x2")
"""

from __future__ import annotations

from ._meshwork import (
    Ask,
    Cluster,
    Demand,
    Guard,
    Job,
    Offers,
    Placement,
    Rng,
    Run,
    Site,
    State,
    Topology,
    __version__,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._commands import (
        Choice,
        Collected,
        check,
        choose,
        collect,
        describe,
        main,
        ops,
        plan,
        report,
        reproduce,
        show,
        status,
        submit,
        trace,
        traffic,
    )
    from ._commands import list_ as list
    from ._errors import InputError, MeshworkError, RunError, StrategyError
    from ._machine import (
        Machine,
        dragonfly,
        fat_tree,
        flat,
        hypercube,
        mesh,
        named,
        sites,
        tofu,
        torus,
        twisted_torus,
    )
    from ._plot import Figure
    from ._pool import Pool
    from ._progress import Progress
    from ._strategies import Observer, register, registered
    from ._study import Results, Study
    from ._sweep import sweep
    from ._table import Table
else:
    # A name is loaded when it is first used (SPEC 1 of Scientific Python): a program that only uses a pool does not
    # load studies, and the command loads neither.
    _HOMES = {
        "_commands": (
            "Choice", "Collected", "check", "choose", "collect", "describe", "list", "main", "ops", "plan", "report",
            "reproduce", "show", "status", "submit", "trace", "traffic",
        ),
        "_errors": ("InputError", "MeshworkError", "RunError", "StrategyError"),
        "_machine": (
            "Machine", "dragonfly", "fat_tree", "flat", "hypercube", "mesh", "named", "sites", "tofu", "torus",
            "twisted_torus",
        ),
        "_plot": ("Figure",),
        "_pool": ("Pool",),
        "_progress": ("Progress",),
        "_strategies": ("Observer", "register", "registered"),
        "_study": ("Results", "Study"),
        "_sweep": ("sweep",),
        "_table": ("Table",),
    }  # fmt: skip
    _HOME = {name: home for home, names in _HOMES.items() for name in names}

    def __getattr__(name):
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(f".{home}", __name__), "list_" if name == "list" else name)
        globals()[name] = found
        return found

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "Ask",
    "Choice",
    "Cluster",
    "Collected",
    "Demand",
    "Figure",
    "Guard",
    "InputError",
    "Job",
    "Machine",
    "MeshworkError",
    "Observer",
    "Offers",
    "Placement",
    "Pool",
    "Progress",
    "Results",
    "Rng",
    "Run",
    "RunError",
    "Site",
    "State",
    "StrategyError",
    "Study",
    "Table",
    "Topology",
    "__version__",
    "check",
    "choose",
    "collect",
    "describe",
    "dragonfly",
    "fat_tree",
    "flat",
    "hypercube",
    "list",
    "main",
    "mesh",
    "named",
    "ops",
    "plan",
    "register",
    "registered",
    "report",
    "reproduce",
    "show",
    "sites",
    "status",
    "submit",
    "sweep",
    "tofu",
    "torus",
    "trace",
    "traffic",
    "twisted_torus",
]
