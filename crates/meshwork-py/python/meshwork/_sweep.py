"""Studies on several processes and computers: one shard for each call of an executor."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import _meshwork as _native
from . import _strategies
from ._errors import InputError, RunError, StrategyError
from ._progress import Progress, teller
from ._study import installed

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from ._study import Results, Study

_SHARDS_PER_WORKER = 4
_SHARDS = 64
_MOST_SHARDS = 1_000_000


class Task(NamedTuple):
    """One shard, sent to another process; everything else that the process needs is in the folder."""

    folder: str
    shard: int
    of: int
    deal: str
    threads: int
    max_memory: int | None
    strategies: list[_strategies.Carried]
    nonce: str
    """A random number that makes tasks of different sweeps unequal, because some engines reuse results of equal
    tasks."""


class Report(NamedTuple):
    """The outcome of a shard."""

    shard: int
    done: int
    reused: int
    warnings: list[str]
    failures: list[str]
    raised: tuple[str, str] | None
    """The message and the traceback of an exception that a strategy in Python raised."""


def sweep(
    study: Study,
    out: str | os.PathLike[str],
    executor: Executor,
    *,
    shards: int | None = None,
    threads: int = 1,
    max_memory: int | None = None,
    progress: bool | Callable[[Progress], object] = False,
    on_failure: str = "raise",
) -> Results:
    """Run a study on the processes of an executor, on any number of computers.

    The runs are distributed over shards by their expected cost. Each shard is one call in some process of the executor,
    which appends finished runs to a file of its own in `out`. No file has two writers, so a shard that is started
    twice, or again after its process was killed, does no harm: finished runs are kept. At the end the files are merged,
    and the folder is byte for byte the one that `study.run(out=out)` would have written.

    Parameters
    ----------
    study
        The study to run.
    out
        The folder for results, on a file system that all processes share under this path.
    executor
        Any `concurrent.futures.Executor`: a `ProcessPoolExecutor`, Dask's `client.get_executor()`,
        `meshwork.ray.RayExecutor`, or the executor of another engine.
    shards
        The number of shards; by default four for each worker if the executor declares its workers, else 64. There
        are never more shards than runs.
    threads
        The number of threads of each shard.
    max_memory
        The maximum memory in bytes for concurrent runs of a shard.
    progress
        Whether to draw a bar, or a function that is called with a `Progress` whenever a shard has ended.
    on_failure
        `"raise"`, or `"keep"` to keep the results of the runs that did not fail.

    Returns
    -------
    Results
        The results of the study, as from `Study.run`.

    Raises
    ------
    InputError
        If the study, its inputs or the folder are wrong, or a strategy in Python cannot be sent to other processes; in
        that case nothing has run.
    StrategyError
        If a strategy in Python raised an exception; the cause has the traceback of the other process.
    RunError
        If a run failed, or the executor lost a shard permanently. Finished runs are kept, and the same call continues.

    Notes
    -----
    Strategies registered in this process are registered in the other processes: by module if the module can be
    imported there, else by value with `cloudpickle`, as in a notebook.

    Examples
    --------
    >>> import meshwork as mw, tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> study = mw.Study(
    ...     machine=mw.mesh(8, 8), workload={"name": "lublin", "jobs": 50}, metrics=["wait"],
    ...     sweep={"scheduler": ["fcfs", "easy"]}, replications=3,
    ... )
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as executor:
    ...     len(mw.sweep(study, folder, executor).runs)
    6
    """
    if not callable(getattr(executor, "submit", None)):
        raise InputError(
            f"the executor is {executor!r}, but must be one of concurrent.futures, such as ProcessPoolExecutor(), "
            "Dask's client.get_executor() or meshwork.ray.RayExecutor()"
        )
    if shards is not None and (isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= _MOST_SHARDS):
        raise InputError(f"`shards` is {shards!r}, but must be a whole number from 1 to {_MOST_SHARDS}")
    study._check(threads, on_failure)
    folder = Path(out).absolute()
    study._put_tables(folder)
    memory = max_memory or installed()
    deal, parts, named = study._native.begin_sweep(folder, memory)
    if deal is not None:
        count = min(parts, shards or _fitting(executor))
        strategies = [_strategies.carried(kind, name) for kind, name in named]
        nonce = os.urandom(16).hex()
        tasks = [Task(str(folder), shard, count, str(deal), threads, memory, strategies, nonce) for shard in range(count)]
        _all(executor, tasks, study.name, parts, progress, on_failure)
    # All runs that could end are stored: this merges and reads them.
    return study.run(threads, out=folder, max_memory=max_memory, on_failure=on_failure)


def run_task(task: Task) -> Report:
    """Run a shard in this process; `sweep` submits this function to the executor."""
    import traceback

    digests = [strategy.arrive() for strategy in task.strategies]
    ended = _native.run_shard(
        Path(task.folder), (task.shard, task.of), Path(task.deal), task.threads, task.max_memory, digests
    )
    done, reused, warnings, failures, error = ended
    raised = None
    if error is not None:
        raised = (str(error), "".join(traceback.format_exception(error.__cause__ or error)))
    return Report(task.shard, done, reused, warnings, failures, raised)


class _Elsewhere(Exception):  # noqa: N818  (a traceback of another process, as the standard library has one)
    """The traceback of another process."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return f"in another process:\n{self.text}"


def _all(
    executor: Executor,
    tasks: list[Task],
    name: str,
    parts: int,
    progress: bool | Callable[[Progress], object],
    on_failure: str,
) -> None:
    """Run all shards; raise the exception of a shard that failed."""
    from concurrent.futures import CancelledError, as_completed

    tell, end = teller(progress, name)
    futures: dict[Future[Report], Task] = {}
    done = failed = 0
    raised: list[tuple[int, tuple[str, str]]] = []
    lost: list[tuple[Task, BaseException]] = []
    try:
        for task in tasks:
            futures[executor.submit(run_task, task)] = task
        for future in as_completed(futures):
            try:
                report = future.result()
            except (Exception, CancelledError) as error:
                lost.append((futures[future], error))
                continue
            if report.raised is not None:
                raised.append((report.shard, report.raised))
            done += report.done
            failed += len(report.failures)
            if tell is not None:
                tell(done, max(parts, done), 0, failed, 0.0, 0)
    finally:
        for future in futures:
            future.cancel()
        end()
    # The reported failure does not depend on which shard ended first.
    if raised and on_failure == "raise":
        _, (sentence, text) = min(raised)
        raise StrategyError(sentence) from _Elsewhere(text)
    if lost:
        task, why = min(lost, key=lambda one: one[0].shard)
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        if isinstance(why, InputError):
            raise why
        raise RunError(
            f"{task.folder}: the executor lost shard {task.shard} of {task.of}{more}: {type(why).__name__}: "
            f"{' '.join(str(why).split())}: what had ended is kept, and the same call, with an "
            "executor that works, goes on"
        ) from why


def _fitting(executor: Executor) -> int:
    """Return a number of shards large enough that no worker waits long for the last shard."""
    workers = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)
    if client is not None and callable(getattr(client, "nthreads", None)):
        workers = sum(client.nthreads().values())
    return _SHARDS_PER_WORKER * workers if isinstance(workers, int) and workers > 0 else _SHARDS
