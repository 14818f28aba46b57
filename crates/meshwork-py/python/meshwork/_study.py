"""Studies and their results."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _frame, _plot, _strategies
from . import _meshwork as _native
from ._commands import ask
from ._errors import InputError, RunError
from ._machine import Machine
from ._progress import Progress, teller
from ._table import Table

if TYPE_CHECKING:
    import tempfile

    from matplotlib.axes import Axes

    from ._meshwork import Topology

_MEASURE = ("jobs", "warmup_jobs", "time", "metrics")


class Study:
    """A study: a machine, strategies, a workload, and the keys that are swept.

    Every key has the meaning that it has in a study in TOML: `meshwork list` and the reference list them. A strategy is
    given by its name, or by a mapping of its `name` and parameters.

    A study can be copied and pickled together with its tables of jobs. Classes registered in Python are pickled by
    module or by value.

    Parameters
    ----------
    machine
        From `mesh`, `torus`, `hypercube`, `flat` or `sites`, or a mapping.
    workload
        A name, a mapping of a `name` and parameters, the path of a log (`.swf`, `.swf.gz`) or of a table of jobs (`.csv`,
        `.parquet`), or a table of jobs itself: anything that gives Arrow, a data frame, or a mapping of columns, with
        `submit`, `runtime` and one of `nodes`, `block` and `subcube`.
    jobs, warmup_jobs, time, metrics
        The keys of `measure`: the end of a run, the length of the warm-up, and the metrics.
    sweep
        The swept keys: lists of values by dotted keys, such as `{"workload.load": [0.5, 0.7]}`.
    name
        The name of the study.
    **keys
        Any other key: `scheduler`, `selector`, `sizing`, `network`, `seed`, `replications`, `precision`, `compare`, …

    Raises
    ------
    InputError
        If a key is wrong; the message names the first error. Errors that depend on a scenario are raised when the study
        is expanded or run.

    Examples
    --------
    >>> import meshwork as mw
    >>> study = mw.Study(
    ...     machine=mw.mesh(8, 8),
    ...     workload={"name": "synthetic", "load": 0.4, "sizes": "uniform",
    ...               "runtimes": {"name": "exponential", "mean": 5.0}},
    ...     jobs=300, metrics=["wait", "utilization"], replications=3,
    ...     sweep={"scheduler": ["fcfs", "easy"]},
    ... )
    >>> len(study)
    2
    >>> results = study.run(threads=1)
    >>> results.summary.column_names
    ['scenario', 'scheduler', 'metric', 'mean', 'half_width', 'replications', 'method']
    """

    def __init__(
        self,
        *,
        machine: Machine | Mapping[str, Any],
        workload: object,
        jobs: int | None = None,
        warmup_jobs: int | None = None,
        time: float | None = None,
        metrics: list[str] | None = None,
        sweep: Mapping[str, Any] | None = None,
        name: str = "study",
        **keys: object,
    ) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        found: dict[str, list[str]] = {}
        document: dict[str, Any] = {"name": name, "machine": machine, **keys}
        document["workload"] = self._workload(workload, "workload", found)
        given = {"jobs": jobs, "warmup_jobs": warmup_jobs, "time": time, "metrics": metrics}
        measure: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        own = document.pop("measure", {})
        if not isinstance(own, Mapping):
            raise InputError(f"`measure` is {own!r}, but must be a mapping")
        if measure or own:
            document["measure"] = {**own, **measure}
        if sweep is not None:
            document["sweep"] = {
                key: [self._workload(value, f"sweep.{key}[{at}]", found) for at, value in enumerate(values)]
                if key == "workload" and isinstance(values, list)
                else values
                for key, values in sweep.items()
            }
        self._native = _native.Study.from_mapping(document, Path(), found)

    def _workload(self, value: object, what: str, found: dict[str, list[str]]) -> object:
        if _frame.is_table(value):
            if self._folder is None:
                import tempfile

                self._folder = tempfile.TemporaryDirectory(prefix="meshwork-")
            name, path = _frame.written(value, Path(self._folder.name), f"`{what}`")
            found[name] = [str(path)]
            return {"name": "table", "path": name}
        if isinstance(value, (str, os.PathLike)):
            text = os.fspath(value)
            endings = str(text).removesuffix(".gz")
            if endings.endswith((".csv", ".parquet")):
                return {"name": "table", "path": str(text)}
            if endings.endswith(".swf") or isinstance(value, os.PathLike):
                return {"name": "swf", "path": str(text)}
        return value

    @classmethod
    def _of(cls, native: _native.Study) -> Study:
        study = cls.__new__(cls)
        study._native = native
        study._folder = None
        return study

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], set: Mapping[str, Any] | None = None) -> Study:
        """Read a study file.

        Parameters
        ----------
        path
            The file.
        set
            Values by dotted keys, which override the file and its sweep.

        Raises
        ------
        InputError
            If the file is wrong; the message names the first error, with its line.
        """
        return cls._of(_native.Study.read(Path(path), dict(set or {})))

    @classmethod
    def from_text(cls, text: str, folder: str | os.PathLike[str] = "", set: Mapping[str, Any] | None = None) -> Study:
        """Read the text of a study; relative paths in it are looked up in `folder`.

        Examples
        --------
        >>> import meshwork as mw
        >>> mw.Study.from_text("replications = 0")
        Traceback (most recent call last):
            ...
        meshwork.InputError: `replications` is 0, but must be a whole number from 1 to 1000000
        """
        return cls._of(_native.Study.parse(text, Path(folder), dict(set or {})))

    @property
    def name(self) -> str:
        """The name of the study."""
        return self._native.name

    @property
    def description(self) -> str | None:
        """The description of the study, usually its question."""
        return self._native.description

    @property
    def toml(self) -> str:
        """The text of the study, without later changes by `set`."""
        return self._native.toml

    def __len__(self) -> int:
        """Return the number of scenarios."""
        return len(self._native)

    def scenarios(self) -> list[dict[str, Any]]:
        """Return every scenario with every default filled in, as `meshwork show` does.

        Raises
        ------
        InputError
            If a scenario is wrong; the message names the first error.
        """
        return [resolved for _, resolved in self._native.scenarios()]

    def set(self, key: str, value: object) -> Study:
        """Set a dotted key in all scenarios; return the study.

        Raises
        ------
        InputError
            If the value is not valid for the key.
        RunError
            If the study is running in another thread.
        """
        self._native.set(key, value)
        return self

    def copy(self) -> Study:
        """Return an independent copy of the study."""
        other = self._of(self._native.__copy__())
        # Both studies use the same tables of jobs, which are deleted with the last of the two.
        other._folder = self._folder
        return other

    def __copy__(self) -> Study:
        return self.copy()

    def __deepcopy__(self, _memo: object) -> Study:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[[_State], Study], tuple[_State]]:
        return _again, (_state(self._native, self._folder),)

    def run(
        self,
        threads: int = 0,
        *,
        out: str | os.PathLike[str] | None = None,
        replace: bool = False,
        observer: Callable[[dict[str, Any], int], object] | None = None,
        progress: bool | Callable[[Progress], object] = False,
        max_memory: int | None = None,
        on_failure: str = "raise",
    ) -> Results:
        """Run the study, without the global interpreter lock.

        Results do not depend on the number of threads. Ctrl-C ends the run once every thread is between two events;
        `KeyboardInterrupt` is raised in Python code that is executing at that time.

        Parameters
        ----------
        threads
            The number of threads; 0 is one for each processor. Calls of strategies in Python are serialised.
        out
            The folder for results. Runs stored in it are not run again.
        replace
            Whether to replace the tables of a study of another name in that folder; its runs are kept.
        observer
            A class or function that returns an observer for each run, or `None`. Its arguments are the swept values of
            the scenario, by dotted keys, and the number of the replication. `Observer` lists the methods. Runs that are
            taken from `out` are not observed.
        progress
            Whether to draw a bar, or a function that is called with a `Progress` about ten times a second.
        max_memory
            The maximum memory in bytes for concurrent runs, as estimated before they begin; by default three quarters
            of this computer's memory.
        on_failure
            `"raise"`, or `"keep"` to keep the results of the runs that did not fail.

        Raises
        ------
        InputError
            If the study or its inputs are wrong; in that case nothing has run.
        StrategyError
            If a strategy in Python raised an exception.
        RunError
            If a run failed; the exception has the results of the other runs as `results`.
        """
        self._check(threads, on_failure)
        folder = None if out is None else Path(out)
        if folder is not None:
            self._put_tables(folder)
        tell, end = teller(progress, self.name)
        try:
            native = self._native.run(threads, folder, replace, max_memory or installed(), tell, observer)
        finally:
            end()
        results = Results(native, folder, self._folder)
        for sentence in results.warnings:
            warnings.warn(sentence, stacklevel=2)
        if results.failures and on_failure == "raise":
            more = len(results.failures) - 1
            error = RunError(results.failures[0] + (f" (and {more} more failures like this)" if more else ""))
            error.results = results
            raise error
        return results

    @staticmethod
    def _check(threads: object, on_failure: object) -> None:
        if on_failure not in ("raise", "keep"):
            raise InputError(f"`on_failure` is {on_failure!r}, but must be 'raise' or 'keep'")
        if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
            raise InputError(f"`threads` is {threads!r}, but must be a whole number from 0 to 1024")

    def _put_tables(self, folder: Path) -> None:
        """Copy the tables of jobs of the study into the folder of results, so that the folder is complete."""
        if self._folder is not None:
            _put(self._folder, folder)

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {len(self)} scenarios)"


class _State(NamedTuple):
    """A study packed for another process."""

    native: tuple[str, bool, str, Path, list[str], dict[str, list[Path]]]
    tables: dict[str, bytes]
    """The tables of jobs of the study, by their file names."""
    strategies: list[_strategies.Carried]


def _state(native: _native.Study, folder: tempfile.TemporaryDirectory[str] | None) -> _State:
    tables = {} if folder is None else {path.name: path.read_bytes() for path in Path(folder.name).iterdir()}
    carried = [_strategies.carried(kind, name) for kind, name in native.named()]
    return _State(native.state(), tables, carried)


def _again(state: _State) -> Study:
    for strategy in state.strategies:
        strategy.arrive()
    file, without_file, text, place, settings, found = state.native
    folder: tempfile.TemporaryDirectory[str] | None = None
    if state.tables:
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="meshwork-")
        for name, table in state.tables.items():
            (Path(folder.name) / name).write_bytes(table)
        here = Path(folder.name)
        found = {
            key: [here / path.name if path.name in state.tables else path for path in map(Path, paths)]
            for key, paths in found.items()
        }
    study = Study._of(_native.Study.of_state(file, without_file, text, place, settings, found))
    study._folder = folder
    return study


def _results_again(study: _State, state: tuple[Any, ...]) -> Results:
    of = _again(study)
    return Results(_native.Results.of_state(of._native, *state), None, of._folder)


def _put(tables: tempfile.TemporaryDirectory[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for table in Path(tables.name).iterdir():
        (folder / table.name).write_bytes(table.read_bytes())


def installed() -> int | None:
    """Return three quarters of the memory of this computer, or `None` if that is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 * 3
    except (AttributeError, OSError, ValueError):
        return None


class Results:
    """The results of a study.

    Results are immutable and can be pickled together with the results of the runs. No run is repeated except by `jobs`,
    which needs the log or the table that the study reads.

    Examples
    --------
    >>> import meshwork as mw
    >>> results = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}, metrics=["wait"]).run()
    >>> results.summary.row(0)["metric"], len(results.jobs())
    ('wait', 20)
    """

    def __init__(
        self, native: _native.Results, folder: Path | None, tables: tempfile.TemporaryDirectory[str] | None
    ) -> None:
        self._native = native
        self._folder = folder
        self._tables = tables
        self._own: tempfile.TemporaryDirectory[str] | None = None

    @property
    def name(self) -> str:
        """The name of the study."""
        return self._native.name

    @property
    def scenarios(self) -> list[dict[str, Any]]:
        """The swept values of each scenario; the first is scenario 1."""
        return self._native.scenarios

    @property
    def summary(self) -> Table:
        """One row for each scenario and metric: mean, half width of the 95 % interval, and the method of the interval."""
        return Table(self._native.summary())

    @property
    def runs(self) -> Table:
        """One row for each run and metric."""
        return Table(self._native.runs())

    @property
    def by_size(self) -> Table | None:
        """The summary for jobs of each size, if the study has `measure.by_size`."""
        return _maybe(self._native.by_size())

    @property
    def by_user(self) -> Table | None:
        """The summary for the jobs of each user, if the study has `measure.by_user`."""
        return _maybe(self._native.by_user())

    @property
    def by_group(self) -> Table | None:
        """The summary for the jobs of each group of users, if the study has `measure.by_group`."""
        return _maybe(self._native.by_group())

    @property
    def by_application(self) -> Table | None:
        """The summary for the jobs of each application, if the study has `measure.by_application`."""
        return _maybe(self._native.by_application())

    @property
    def by_queue(self) -> Table | None:
        """The summary for the jobs of each queue, if the study has `measure.by_queue`."""
        return _maybe(self._native.by_queue())

    @property
    def by_partition(self) -> Table | None:
        """The summary for the jobs of each partition, if the study has `measure.by_partition`."""
        return _maybe(self._native.by_partition())

    @property
    def comparison(self) -> Table | None:
        """Paired differences from the baselines of `compare`; `None` without baselines."""
        return _maybe(self._native.comparison())

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims of the study with their verdicts."""
        return self._native.claims

    @property
    def warnings(self) -> list[str]:
        """Warnings, one sentence each."""
        return self._native.warnings

    @property
    def failures(self) -> list[str]:
        """Failed runs, one sentence each."""
        return self._native.failures

    @property
    def growing(self) -> list[int]:
        """The scenarios whose queue grows over the whole run, so that their means say little."""
        return self._native.growing

    def jobs(self, scenario: int = 1, replication: int = 0) -> Table:
        """Return the jobs of one run, one row for each that finished, in order of arrival.

        The run is repeated, because its jobs are not stored; this takes the time of one run.

        Parameters
        ----------
        scenario
            The number of the scenario, from 1 as in `jobs/index.csv`.
        replication
            The number of the replication, from 0.

        Returns
        -------
        Table
            `job`, `submit`, `start`, `finish`, `wait`, `turnaround`, `runtime`, `estimate`, `requested`, `held`, `site`,
            `blocks`, the coordinates of the first node as `x`, `y`, `z`, … , the request as `nodes`, `block` or
            `subcube`, `dispersal`, `stretch`, `user` and `group`.

        Raises
        ------
        InputError
            If there is no such run.
        """
        return Table(self._native.jobs(scenario, replication))

    def topologies(self, scenario: int = 1) -> list[Topology]:
        """Return the topology of each site of a scenario."""
        return self._native.topologies(scenario)

    def plot(
        self,
        metric: str,
        x: str | None = None,
        hue: str | None = None,
        *,
        where: Mapping[str, object] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a metric with its intervals, with matplotlib.

        Parameters
        ----------
        metric
            The name of the metric.
        x
            The swept key on the x axis; by default the first one with numeric values.
        hue
            The swept key whose values have a line each; by default the next key that has several values.
        where
            Values of the other swept keys.
        ax
            The axes to draw on; by default those of a new figure.

        Raises
        ------
        InputError
            If there is no such metric or key, or another key has several values.
        """
        return _plot.metric(self.summary, list(self._native.sweep), metric, x, hue, where or {}, ax)

    @property
    def folder(self) -> Path:
        """A folder with these results in the layout of the command: `out`, or a temporary one."""
        if self._folder is None:
            import re
            import tempfile

            self._own = tempfile.TemporaryDirectory(prefix="meshwork-")
            # The name of the page is that of its folder.
            folder = Path(self._own.name) / (re.sub(r"[^\w.-]+", "-", self.name) or "study")
            self.save(folder)
            self._folder = folder
        return self._folder

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write all results into a folder, as `meshwork run --out` does, without running anything again."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        if self._tables is not None:
            _put(self._tables, path)
        self._native.save(path)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report with all plots, tables and claims: one self-contained HTML file."""
        ask("report", str(self.folder), "--out", str(path))
        return Path(path)

    def figures(self) -> dict[str, _plot.Figure]:
        """Return the plots of the report by name; a notebook shows each."""
        return {name.removesuffix(".svg"): _plot.Figure(svg) for name, svg in _native.figures(self.folder)}

    def figure(self, name: str | None = None) -> _plot.Figure:
        """Return one plot of the report: the named one, or the first.

        Raises
        ------
        InputError
            If there is no plot of that name, or no plot at all.
        """
        figures = self.figures()
        if not figures:
            raise InputError("there is nothing to draw where one scenario was run: sweep something")
        if name is None:
            return next(iter(figures.values()))
        if name not in figures:
            raise InputError(f"there is no figure {name!r}; there are {', '.join(figures)}")
        return figures[name]

    def __repr__(self) -> str:
        return f"Results({self.name!r}, {len(self.scenarios)} scenarios)"

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()

    # Results are immutable, so a copy is the object itself.
    def __copy__(self) -> Results:
        return self

    def __deepcopy__(self, _memo: object) -> Results:
        return self

    def __reduce__(self) -> tuple[Callable[[_State, tuple[Any, ...]], Results], tuple[_State, tuple[Any, ...]]]:
        return _results_again, (_state(self._native.study(), self._tables), self._native.state())


def _maybe(table: _native.Table | None) -> Table | None:
    return None if table is None else Table(table)
