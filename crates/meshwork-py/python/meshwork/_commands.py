"""The commands of the program as functions, with the same checks, messages and numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import _meshwork as _native
from ._errors import InputError
from ._machine import Machine
from ._table import Table


def ask(*words: str) -> tuple[str, bool]:
    """Run a command given as words; return its output, and whether no run failed and no check found a difference."""
    return _native.ask(list(words))


def _objects(*words: str) -> list[dict[str, Any]]:
    import json

    text, _ = ask(*words, "--json")
    return [json.loads(line) for line in text.splitlines()]


def _options(**options: object) -> list[str]:
    words: list[str] = []
    for key, value in options.items():
        if value is None:
            continue
        name = f"--{key.replace('_', '-')}"
        if isinstance(value, bool):
            words += [name] if value else []
            continue
        if isinstance(value, (list, tuple)):
            value = ",".join(str(item).lower() if isinstance(item, bool) else str(item) for item in value)
        words.append(f"{name}={value}")
    return words


def _toml(value: object) -> str:
    import json

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value) if isinstance(value, str) else str(value)


def _settings(settings: Mapping[str, object] | None) -> list[str]:
    return [f"--set={key}={_toml(value)}" for key, value in (settings or {}).items()]


def list_(kind: str | None = None) -> Table:
    """List strategies, workloads and metrics, including registered ones; this function is `meshwork.list`.

    Parameters
    ----------
    kind
        One of topology, workload, size, runtime, scheduler, selector, sizing, allocator, network, pattern, traffic and
        metric; by default all of them.

    Examples
    --------
    >>> import meshwork as mw
    >>> "easy" in [row["name"] for row in mw.list("scheduler")]
    True
    """
    entries = _objects("list", *([] if kind is None else [kind]))
    columns = ("kind", "name", "summary", "complexity", "source")
    return _table([{key: entry[key] for key in columns} for entry in entries])


def describe(kind: str, name: str) -> dict[str, Any]:
    """Return the description of an entry of a list, with its parameters.

    Examples
    --------
    >>> import meshwork as mw
    >>> [parameter["name"] for parameter in mw.describe("allocator", "first_fit")["parameters"]]
    ['rotation', 'scan']
    """
    return _objects("list", kind, name)[0]


def show(path: str | os.PathLike[str], set: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
    """Return the scenarios of a study file with every default filled in; for a `Study`, use `Study.scenarios`.

    Examples
    --------
    >>> import meshwork as mw, pathlib, tempfile
    >>> study = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 9})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.toml"
    ...     _ = path.write_text(study.toml)
    ...     (scenario,) = mw.show(path, set={"scheduler": "easy"})
    >>> scenario["resolved"]["scheduler"]["name"], scenario["resolved"]["allocator"]["name"]
    ('easy', 'naive')
    """
    return _objects("show", str(path), *_settings(set))


def plan(
    state: Mapping[str, Any],
    study: str | os.PathLike[str],
    set: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return the decisions for one state: jobs to start now with their nodes, and reservations.

    Parameters
    ----------
    state
        `now`, `running` jobs with `id`, `nodes` (or `blocks`), `since` and `until`, and `waiting` jobs in the order of the
        queue, with `id` and the columns of a table of jobs, a size and an `estimate` among them. With `names`, a host list
        of all nodes, nodes are written by their names. `memory` is that of the decisions for an earlier state.
    study
        The study file whose machine, allocator and scheduler decide.

    Returns
    -------
    dict
        `now`, `starts` (each with `id` and `nodes`), `reserved` (each with `id` and the instant `at`), `never`, the ids
        of jobs that the empty machine could not run, and the `memory` of the policy, for a later state. Some schedulers
        also have `stopped`, `moved` and `wake`.

    Raises
    ------
    InputError
        If the state is invalid, or names nodes that the machine does not have.

    Examples
    --------
    >>> import meshwork as mw, pathlib, tempfile
    >>> study = mw.Study(machine=mw.mesh(4, 4), allocator="first_fit", workload={"name": "lublin", "jobs": 9})
    >>> state = {"now": 5, "running": [{"id": "a", "nodes": [0, 1, 4, 5], "since": 1, "until": 9}],
    ...          "waiting": [{"id": "b", "block": [2, 2], "estimate": 60}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "policy.toml"
    ...     _ = path.write_text(study.toml)
    ...     mw.plan(state, path)["starts"][0]["nodes"]
    [2, 3, 6, 7]
    """
    import json
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.json"
        file.write_text(json.dumps(state), encoding="utf-8")
        try:
            text, _ = ask("plan", str(file), f"--study={study}", *_settings(set))
        except InputError as error:
            raise InputError(str(error).replace(str(file), "state")) from None
    decided: dict[str, Any] = json.loads(text)
    return decided


def check(folder: str | os.PathLike[str], sample: int = 20, threads: int | None = None) -> list[dict[str, Any]]:
    """Replay a sample of the stored runs of a folder, and compare the results.

    Returns
    -------
    list of dict
        For each run its `key`, its `replication`, the `verdict` (`same`, `different` or `failed`) and a `message`.

    Examples
    --------
    >>> import meshwork as mw, tempfile
    >>> study = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}, metrics=["wait"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = study.run(out=folder)
    ...     [run["verdict"] for run in mw.check(folder)]
    ['same']
    """
    return _objects("check", str(folder), *_options(sample=sample, threads=threads))


def reproduce(
    paper: str | None = None,
    figure: str | None = None,
    *,
    out: str | os.PathLike[str],
    quick: bool = False,
    set: Mapping[str, object] | None = None,
    threads: int | None = None,
) -> list[dict[str, Any]]:
    """Run the studies of a paper, or of all papers, and return each claim with its verdict.

    Runs stored in `out` are not run again. The page of all figures is `report.html` in that folder.

    Examples
    --------
    >>> import meshwork as mw, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mw.reproduce("nobody", out=folder)
    Traceback (most recent call last):
        ...
    meshwork.InputError: ...
    """
    words = [word for word in (paper, figure) if word is not None]
    flags = ["--quick"] if quick else []
    return _objects("reproduce", *words, *flags, *_options(out=out, threads=threads), *_settings(set))


def report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Write the page of a folder of results; by default `report.html` in that folder.

    Examples
    --------
    >>> import meshwork as mw, tempfile
    >>> study = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}, metrics=["wait"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = study.run(out=folder)
    ...     mw.report(folder).name
    'report.html'
    """
    ask("report", str(folder), *_options(out=out))
    return Path(folder) / "report.html" if out is None else Path(out)


def submit(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    engine: str,
    *,
    set: Mapping[str, object] | None = None,
    **options: object,
) -> str:
    """Write the script of a study for Slurm, PBS, LSF or HyperQueue and submit it; return the command's output.

    Parameters
    ----------
    path
        The study.
    out
        The folder for results, on a file system that all computers share under this path.
    engine
        One of slurm, pbs, lsf and hq.
    set
        Values by dotted keys, which override the file and its sweep.
    **options
        Further options of the command: `shards`, `max_parallel`, `time`, `mem`, `partition`, `account`, `missing` and
        `dry_run`.

    Examples
    --------
    >>> import meshwork as mw, pathlib, tempfile
    >>> study = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 9})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.toml"
    ...     _ = path.write_text(study.toml)
    ...     script = mw.submit(path, f"{folder}/out", "slurm", shards=1, dry_run=True)
    >>> "#SBATCH" in script
    True
    """
    text, _ = ask("submit", str(path), *_options(out=Path(out), engine=engine, **options), *_settings(set))
    return text


class Choice(NamedTuple):
    """The result of `choose`.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.choose(mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 9}))
    Traceback (most recent call last):
    ...
    meshwork.InputError: study.toml: there is nothing to choose from, because the study has no `[sweep]`: sweep a key, \
such as scheduler = ["fcfs", "easy"]
    """

    swept: dict[str, Any] | None
    """The swept keys of the choice with their values; `None` while there is none."""
    bound: float | None
    """How far the choice is from the best at most, as a share or, on the raw scale, in units of the metric."""
    confirmed: bool | None
    """Whether the gain over the baseline was confirmed; `None` if it was not measured."""
    sentences: list[str]
    """The result in sentences, most important first."""
    study: str
    """The text of the study of the choice alone."""
    details: dict[str, Any]
    """The whole output of `meshwork choose --json`."""

    def __repr__(self) -> str:
        """Return the sentences."""
        return "\n".join(self.sentences)


def choose(
    study: Any,
    *,
    within: str | float = "2%",
    confidence: str | float = "95%",
    constraint: Sequence[str] = (),
    baseline: Mapping[str, object] | None = None,
    out: str | os.PathLike[str] | None = None,
    set: Mapping[str, object] | None = None,
    **options: object,
) -> Choice:
    """Choose the best of a study's scenarios, with a guarantee and few runs.

    Parameters
    ----------
    study
        The study, or the path of its file. Its scenarios are the candidates.
    within
        How much worse than the best the choice may be.
    confidence
        The probability with which the choice is to be that good.
    constraint
        Limits on means of metrics, such as `"p95_wait <= 4 h"`.
    baseline
        The candidate to compare with: swept keys with their values.
    out
        The folder for results, from which the same call continues.
    set
        Values by dotted keys, which override the study and its sweep.
    **options
        Further options of the command: `budget`, `hold_out`, `metric`, `second`, `raw`, `screen_above`, `replace` and
        `threads`.

    Examples
    --------
    >>> import meshwork as mw
    >>> study = mw.Study(
    ...     machine=mw.flat(16),
    ...     workload={
    ...         "name": "synthetic", "load": 0.7, "sizes": "uniform", "runtimes": {"name": "exponential", "mean": 5.0},
    ...     },
    ...     measure={"jobs": 200, "metrics": ["wait"]},
    ...     sweep={"scheduler": ["fcfs", "easy"]},
    ... )
    >>> choice = mw.choose(study, within="10%", baseline={"scheduler": "fcfs"})
    >>> choice.swept, choice.confirmed
    ({'scheduler': 'easy'}, True)
    """
    import json
    import tempfile

    words = [f"--constraint={text}" for text in ([constraint] if isinstance(constraint, str) else constraint)]
    words += [f"--baseline={key}={_toml(value)}" for key, value in (baseline or {}).items()]
    words += _options(within=within, confidence=confidence, out=None if out is None else Path(out), quiet=True, **options)
    words += _settings(set)
    if isinstance(study, (str, os.PathLike)):
        text, _ = ask("choose", str(study), *words, "--json")
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "study.toml"
            path.write_text(study.toml, encoding="utf-8")
            try:
                text, _ = ask("choose", str(path), *words, "--json")
            except InputError as error:
                raise InputError(str(error).replace(str(path), "study.toml")) from None
    details = json.loads(text)
    chosen = details["choice"]
    return Choice(
        swept=chosen and chosen["swept"],
        bound=details["bound"],
        confirmed=details["confirmed"],
        sentences=details["sentences"],
        study=details["study_file"],
        details=details,
    )


class Collected(NamedTuple):
    """The result of `collect`.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.Collected(total=8, missing=2, failed=0, failures=[], warnings=[]).missing
    2
    """

    total: int
    """Number of runs of the study."""
    missing: int
    """Number of runs that have neither ended nor failed."""
    failed: int
    """Number of failed runs."""
    failures: list[str]
    """Failed runs, one sentence each."""
    warnings: list[str]
    """Warnings, one sentence each."""


def collect(folder: str | os.PathLike[str], format: str = "jsonl") -> Collected:
    """Merge the output of the shards of a sweep, as `meshwork collect` does.

    Parameters
    ----------
    folder
        The folder that all shards were given.
    format
        `"parquet"` to write `runs.parquet` too, with a row for each run.

    Raises
    ------
    InputError
        If there is no sweep in the folder, or a run has two different results.

    Examples
    --------
    >>> import meshwork as mw, tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> study = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}, metrics=["wait"])
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
    ...     _ = mw.sweep(study, folder, executor)
    ...     mw.collect(folder).missing
    0
    """
    if format not in ("jsonl", "parquet"):
        raise InputError(f"`format` is {format!r}, but must be 'jsonl' or 'parquet'")
    return Collected(*_native.collect(Path(folder), format == "parquet"))


def status(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the progress of a sweep, from its files alone.

    Returns
    -------
    dict
        Numbers of `total`, `done`, `running`, `missing` and `failed` runs, of `processes` that write and of `silent`
        ones, the `rate` in runs per second, `seconds_left`, and the scenarios with runs that have `not_ended`.

    Examples
    --------
    >>> import meshwork as mw, tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> study = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}, metrics=["wait"])
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
    ...     _ = mw.sweep(study, folder, executor)
    ...     mw.status(folder)["done"]
    1
    """
    return _objects("status", str(folder))[0]


class _Ops:
    """Questions of operators of a machine: the subcommands of `meshwork ops`.

    Every subcommand is a method: `ops.some_question(file, key=value)` runs `meshwork ops some-question FILE
    --key=VALUE` and returns its output as objects; `True` gives a flag, and `ops.import_` is `meshwork ops import`.
    """

    def check(self, file: str | os.PathLike[str], conf: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Lint a topology file: errors of Slurm, settings with surprising effects, and the listed places.

        Parameters
        ----------
        file
            A `topology.yaml`, or a `topology.conf`.
        conf
            The `slurm.conf` of the machine; without it, all nodes in the file are taken to exist.

        Examples
        --------
        >>> import meshwork as mw, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "topology.conf"
        ...     _ = path.write_text("SwitchName=leaf Nodes=n[0-3]")
        ...     checked = mw.ops.check(path)
        >>> checked["starts"]
        True
        """
        (answer,) = _objects("ops", "check", str(file), *_options(conf=conf))
        return answer

    def __getattr__(self, name: str) -> Callable[..., list[dict[str, Any]]]:
        if name.startswith("_"):
            raise AttributeError(name)

        def question(*words: object, **options: object) -> list[dict[str, Any]]:
            # `import_` is the subcommand `import`, which is a keyword in Python.
            command = name.rstrip("_").replace("_", "-")
            return _objects("ops", command, *(str(word) for word in words), *_options(**options))

        question.__name__ = name
        return question


ops = _Ops()


def traffic(
    machine: Machine,
    loads: Sequence[float] | None = None,
    *,
    traffic: str | None = None,
    packet: int | None = None,
    buffer: int | None = None,
    vcs: int | None = None,
    timing: str | None = None,
    router_delay: int | None = None,
    cycles: int | None = None,
    warmup: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
) -> Table:
    """Measure a network without jobs, and return its throughput and latencies.

    Parameters
    ----------
    machine
        A machine of a topology with links.
    loads
        Flits per node and cycle.
    traffic, packet, buffer, vcs, timing, router_delay, cycles, warmup, seed, threads
        The options of `meshwork traffic`.

    Examples
    --------
    >>> import meshwork as mw
    >>> carried = mw.traffic(mw.mesh(4, 4), [0.1], cycles=2000)
    >>> round(carried.row(0)["load"], 3)
    0.1
    """
    table = machine.as_table()
    if not isinstance(table, dict) or "topology" not in table or table["topology"] == "flat":
        raise InputError(f"the machine of traffic is one site with links, such as mw.torus(8, 8), and this is {table}")
    wiring = {key: value for key, value in table.items() if key not in ("speed", "allocator")}
    options = _options(
        **wiring, loads=loads, traffic=traffic, packet=packet, buffer=buffer, vcs=vcs,
        timing=timing, router_delay=router_delay, cycles=cycles, warmup=warmup, seed=seed, threads=threads,
    )  # fmt: skip
    return _table(_objects("traffic", *options))


class trace:  # noqa: N801  (a namespace of functions, as the command has subcommands)
    """Read and write logs in the Standard Workload Format, and tables of jobs.

    Examples
    --------
    >>> import meshwork as mw, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     day, half = pathlib.Path(folder) / "day.swf", pathlib.Path(folder) / "half.swf"
    ...     _ = mw.trace.generate(day, jobs=200, processors=64)
    ...     mw.trace.convert(day, half, first_jobs=100)["jobs"], mw.trace.info(day)["jobs"]
    (100, 200)
    """

    @staticmethod
    def info(path: str | os.PathLike[str]) -> dict[str, Any]:
        """Return statistics of a log: counts, spans and distributions."""
        return _objects("trace", "info", str(path))[0]

    @staticmethod
    def convert(
        source: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        first_jobs: int | None = None,
        since: float | str | None = None,
        until: float | str | None = None,
        runtime_scale: float | None = None,
        arrival_scale: float | None = None,
        set: Mapping[str, object] | None = None,
        seed: int | None = None,
    ) -> dict[str, Any]:
        """Clean, sort, cut, shuffle, split and scale a log; return statistics of the new one.

        `since` is the option `--from`; `set` has keys of the workload `swf`.
        """
        own = _options(
            first_jobs=first_jobs, until=until, runtime_scale=runtime_scale, arrival_scale=arrival_scale, seed=seed
        )
        begin = [] if since is None else [f"--from={since}"]
        ask("trace", "convert", "--replace", str(source), str(target), *own, *begin, *_settings(set))
        return trace.info(target)

    @staticmethod
    def generate(
        target: str | os.PathLike[str],
        *,
        jobs: int | None = None,
        processors: int | None = None,
        seed: int | None = None,
        classes: str | None = None,
        load: float | None = None,
    ) -> dict[str, Any]:
        """Generate a log by the model of Lublin and Feitelson; return its statistics.

        Examples
        --------
        >>> import meshwork as mw, tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mw.trace.generate(pathlib.Path(folder) / "day.swf", jobs=200, processors=64)["jobs"]
        200
        """
        options = _options(jobs=jobs, processors=processors, seed=seed, classes=classes, load=load)
        ask("trace", "generate", "--replace", str(target), *options)
        return trace.info(target)


def main(words: Iterable[str]) -> int:
    """Run the command `meshwork` with these words; return its exit status.

    Registered strategies can be named: a script that registers a strategy and ends with
    `sys.exit(mw.main(sys.argv[1:]))` is the command with that strategy.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.main(["list", "nothing"])
    2
    """
    return _native.main(["meshwork", *words])


def _table(rows: list[dict[str, Any]]) -> Table:
    import json

    return Table(_native.Table.from_json(json.dumps(rows)))
