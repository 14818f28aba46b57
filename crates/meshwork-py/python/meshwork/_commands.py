"""The commands of the program, each as a function: the same checks, the same sentences, the same numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _meshwork as _native
from ._errors import InputError
from ._machine import Machine
from ._table import Table


def ask(*words: str) -> tuple[str, bool]:
    """Ask the command with these words: what it writes, and whether all was well."""
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
        if isinstance(value, (list, tuple)):
            value = ",".join(str(item) for item in value)
        words.append(f"--{key.replace('_', '-')}={value}")
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
    """List strategies, workloads and metrics, those that were registered among them; it is `meshwork.list`.

    Parameters
    ----------
    kind
        One of topology, workload, size, runtime, scheduler, selector, sizing, allocator, network, pattern, traffic and
        metric; all of them where it is left out.

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
    """Give all that an entry of a list says of itself, with its parameters.

    Examples
    --------
    >>> import meshwork as mw
    >>> [parameter["name"] for parameter in mw.describe("allocator", "first_fit")["parameters"]]
    ['rotation', 'scan']
    """
    return _objects("list", kind, name)[0]


def show(path: str | os.PathLike[str], set: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
    """Give the scenarios of a study file with every default filled in; of a `Study`, `Study.scenarios` does."""
    return _objects("show", str(path), *_settings(set))


def check(folder: str | os.PathLike[str], sample: int = 20, threads: int | None = None) -> list[dict[str, Any]]:
    """Replay a sample of the stored runs of a folder, and compare.

    Returns
    -------
    list of dict
        Of each run its `key`, its `replication`, the `verdict` (`same`, `different` or `failed`) and a `message`.
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
    """Run the studies of a paper, or of all of them, and give each claim with its verdict.

    Runs that `out` has already are not run again. The page of all figures is `report.html` in it.
    """
    words = [word for word in (paper, figure) if word is not None]
    flags = ["--quick"] if quick else []
    return _objects("reproduce", *words, *flags, *_options(out=out, threads=threads), *_settings(set))


def report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Write the page of a folder of results; `report.html` in it where no file is named."""
    ask("report", str(folder), *_options(out=out))
    return Path(folder) / "report.html" if out is None else Path(out)


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
    """Load a network without jobs, and give what it carries.

    Parameters
    ----------
    machine
        A mesh, a torus or a hypercube.
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
    dims = table.get("dims", table.get("dimension"))
    if dims is None:
        raise InputError(f"the machine of traffic is a mesh, a torus or a hypercube, and this is {table}")
    options = _options(
        topology=table["topology"], dims=dims, loads=loads, traffic=traffic, packet=packet, buffer=buffer, vcs=vcs,
        timing=timing, router_delay=router_delay, cycles=cycles, warmup=warmup, seed=seed, threads=threads,
    )  # fmt: skip
    return _table(_objects("traffic", *options))


class trace:  # noqa: N801  (a room of functions, as the command has one of commands)
    """Read and write logs in the Standard Workload Format, and tables of jobs."""

    @staticmethod
    def info(path: str | os.PathLike[str]) -> dict[str, Any]:
        """Give what a log is like: counts, spans and distributions."""
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
        """Clean, sort, cut, shuffle, split and scale a log; give what the new one is like.

        `since` is the option `--from`; `set` has keys of the workload `swf`.
        """
        own = _options(
            first_jobs=first_jobs, until=until, runtime_scale=runtime_scale, arrival_scale=arrival_scale, seed=seed
        )
        begin = [] if since is None else [f"--from={since}"]
        ask("trace", "convert", str(source), str(target), *own, *begin, *_settings(set))
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
        """Generate a log by the model of Lublin and Feitelson; give what it is like.

        Examples
        --------
        >>> import meshwork as mw, tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mw.trace.generate(pathlib.Path(folder) / "day.swf", jobs=200, processors=64)["jobs"]
        200
        """
        options = _options(jobs=jobs, processors=processors, seed=seed, classes=classes, load=load)
        ask("trace", "generate", str(target), *options)
        return trace.info(target)


def main(words: Iterable[str]) -> int:
    """Run the command `meshwork` with these words; give its exit status.

    What was registered in this process can be named: a script that registers a strategy and ends with
    `sys.exit(mw.main(sys.argv[1:]))` is the command with that strategy.
    """
    return _native.main(["meshwork", *words])


def _table(rows: list[dict[str, Any]]) -> Table:
    import json

    return Table(_native.Table.from_json(json.dumps(rows)))
