"""Sweeps on executors give the bytes of a local run, whatever happens to the processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import meshwork as mw
from meshwork import _sweep

from .conftest import SYNTHETIC

TABLES = ("runs.jsonl", "summary.csv", "experiment.toml", "asked.toml", "comparison.csv")


def study(**keys: Any) -> mw.Study:
    given: dict[str, Any] = {
        "name": "spread",
        "machine": mw.mesh(16, 16),
        "workload": SYNTHETIC,
        "jobs": 400,
        "metrics": ["wait", "utilization"],
        "replications": 5,
        "sweep": {"allocator": ["first_fit", "frame_sliding"], "workload.load": [0.3, 0.5]},
        "compare": {"allocator": "first_fit"},
    }
    return mw.Study(**{**given, **keys})


def assert_same(shared: Path, local: Path) -> None:
    """Assert that the files of both folders have the same bytes, and that no segments are left."""
    files = [{path.name for path in folder.iterdir() if path.is_file()} for folder in (shared, local)]
    assert files[0] == files[1]
    for name in files[0]:
        assert (shared / name).read_bytes() == (local / name).read_bytes(), name
    assert not (shared / "runs").exists(), "the segments are gone"


def test_processes_give_the_bytes_of_one(tmp_path: Path) -> None:
    study().run(out=tmp_path / "local")
    told: list[mw.Progress] = []
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        results = mw.sweep(study(), tmp_path / "shared", executor, progress=told.append)
    assert_same(tmp_path / "shared", tmp_path / "local")
    assert len(results.runs) == 40
    assert told[-1].done == told[-1].total == 20
    assert [path.name for path in (tmp_path / "shared/submit").iterdir()] == ["1.deal.csv"]


def test_what_has_ended_is_not_run_again(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    with ThreadPoolExecutor(2) as executor:
        mw.sweep(study(replications=2), tmp_path / "other", executor, shards=3)
        mw.sweep(study(), folder, executor, shards=3)
        before = (folder / "runs.jsonl").read_bytes()
        mw.sweep(study(), folder, executor)
    assert (folder / "runs.jsonl").read_bytes() == before
    assert len(list((folder / "submit").iterdir())) == 1, "nothing was dealt"


def test_forked_workers_do_not_wait_for_threads_that_are_not_there(tmp_path: Path) -> None:
    # Everything that starts threads runs in this process before it forks.
    results = study().run(out=tmp_path / "local", threads=2)
    results.report(tmp_path / "report.html")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as executor:
        mw.sweep(study(), tmp_path / "shared", executor, shards=4)
    (tmp_path / "local/report.html").unlink(missing_ok=True)
    assert_same(tmp_path / "shared", tmp_path / "local")


MODULE = """
import meshwork as mw


@mw.register
class FromTheEnd:
    \"\"\"The free nodes with the highest numbers.\"\"\"

    asks, finds, stateless = "nodes", "any_nodes", True

    def choose(self, ask):
        free = ask.site.free.ravel(order="F").nonzero()[0]
        return free[-ask.nodes:]


@mw.register
class Raises:
    \"\"\"None at all.\"\"\"

    asks, finds, stateless = "nodes", "any_nodes", True

    def choose(self, ask):
        raise ZeroDivisionError("by intent")
"""


def in_a_process(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder with the module of strategies."""
    (folder / "strategies.py").write_text(MODULE)
    script = folder / "script.py"
    script.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


STUDY = """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    import meshwork as mw

    {what}

    def study(allocator):
        return mw.Study(
            machine=mw.mesh(8, 8), workload={{"name": "lublin", "jobs": 60}}, metrics=["wait"], replications=3,
            sweep={{"allocator": [allocator, "naive"]}},
        )

    if __name__ == "__main__":
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
            {act}
"""


@pytest.mark.parametrize("where", ["module", "script"])
def test_strategies_in_python_go_along(where: str, tmp_path: Path) -> None:
    here = "import strategies" if where == "module" else MODULE.replace("\n", "\n    ")
    act = """mw.sweep(study("from_the_end"), "shared", executor)
            study("from_the_end").run(out="local")"""
    in_a_process(tmp_path, STUDY.format(what=here, act=act))
    assert_same(tmp_path / "shared", tmp_path / "local")


def test_what_a_strategy_raises_elsewhere_is_raised_here(tmp_path: Path) -> None:
    act = """
            try:
                mw.sweep(study("raises"), "shared", executor)
            except mw.StrategyError as error:
                print(error)
                print(error.__cause__)"""
    said = in_a_process(tmp_path, STUDY.format(what="import strategies", act=act)).stdout
    assert said.startswith("the allocator `raises` raised when it was asked for")
    assert "in the run of allocator = raises, replication " in said
    assert ": ZeroDivisionError: by intent" in said
    assert "strategies.py" in said, "where it was raised"
    assert 'raise ZeroDivisionError("by intent")' in said


def test_another_source_elsewhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from meshwork import _strategies

    (tmp_path / "changing.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(_strategies, "_FACTS", {})
    import changing  # type: ignore[import-not-found]

    sent = _strategies.carried("allocator", "from_the_end")
    other = sent._replace(facts={**sent.facts, "digest": "0" * 16})
    _strategies._FACTS.clear()
    with pytest.raises(mw.InputError, match="has another source in this process \\(changing, digest"):
        other.arrive()
    assert changing.FromTheEnd.__module__ == "changing"


class Broken(ThreadPoolExecutor):
    """An executor that loses every second call."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if args[0].shard % 2 == 0:
            return super().submit(fn, *args, **kwargs)
        lost: Future[Any] = Future()
        lost.set_exception(OSError("the node is gone"))
        return lost


def test_what_an_executor_loses_is_said_and_made_good(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    with Broken(2) as executor, pytest.raises(mw.RunError) as raised:
        mw.sweep(study(), folder, executor, shards=4)
    assert str(raised.value) == (
        f"{folder}: the executor lost shard 1 of 4 (and 1 more): OSError: the node is gone: what had ended is kept, and "
        "the same call, with an executor that works, goes on"
    )
    assert mw.status(folder)["done"] == 10
    assert mw.collect(folder).missing == 10
    with ThreadPoolExecutor(2) as executor:
        mw.sweep(study(), folder, executor)
    study().run(out=tmp_path / "local")
    assert_same(folder, tmp_path / "local")


def test_a_table_of_jobs_goes_along(tmp_path: Path) -> None:
    day = {"submit": [0.0, 10.0, 10.0], "runtime": [60.0, 30.0, 30.0], "block": ["8x8", "16x16", "4x4"]}
    keys = {"machine": mw.mesh(16, 16), "workload": day, "sweep": {"scheduler": ["fcfs", "easy"]}, "metrics": ["wait"]}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        shared = mw.sweep(mw.Study(**keys), tmp_path / "shared", executor)  # type: ignore[arg-type]
    local = mw.Study(**keys).run()  # type: ignore[arg-type]
    assert shared.summary.to_pandas().equals(local.summary.to_pandas())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"executor": 3}, "the executor is 3, but must be one of concurrent.futures"),
        ({"shards": 0}, "`shards` is 0, but must be a whole number from 1 to 1000000"),
        ({"threads": -1}, "`threads` is -1, but must be a whole number from 0 to 1024"),
        ({"on_failure": "no"}, "`on_failure` is 'no', but must be 'raise' or 'keep'"),
        ({"out": __file__}, "this is a file, but must be a folder for results"),
    ],
)
def test_wrong_requests_are_refused_before_anything_runs(given: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(mw.InputError, match=sentence.replace("`", ".")):
        mw.sweep(study(), **{"out": tmp_path / "shared", "executor": executor, **given})
    assert not (tmp_path / "shared").exists()


def test_a_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        mw.sweep(study(), tmp_path, executor)
        with pytest.raises(mw.InputError, match="this folder holds another study, or an earlier form of this one"):
            mw.sweep(study(replications=3), tmp_path, executor)


def test_a_format_is_one_of_two(tmp_path: Path) -> None:
    with pytest.raises(mw.InputError, match="`format` is 'csv', but must be 'jsonl' or 'parquet'"):
        mw.collect(tmp_path, "csv")
    with pytest.raises(mw.InputError, match="there is no study in this folder"):
        mw.status(tmp_path)


def test_runs_as_parquet_are_what_the_store_has(tmp_path: Path) -> None:
    import pandas as pd

    with ThreadPoolExecutor(2) as executor:
        results = mw.sweep(study(), tmp_path / "shared", executor)
    assert mw.collect(tmp_path / "shared", "parquet").missing == 0
    table = pd.read_parquet(tmp_path / "shared/runs.parquet")
    assert list(table.columns[:5]) == ["scenario", "allocator", "workload.load", "replication", "key"]
    ours = results.runs.to_pandas()
    waits = ours[ours["metric"] == "wait"].reset_index(drop=True)
    for column in ("scenario", "allocator", "workload.load", "replication"):
        assert list(table[column]) == list(waits[column])
    assert list(table["wait"]) == list(waits["value"])


def longer() -> mw.Study:
    """Return a study that runs for some seconds, so that a process can be killed meanwhile."""
    return study(machine=mw.mesh(32, 32), jobs=3000, replications=12)


def test_dask_loses_a_worker_and_no_byte(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    longer().run(out=tmp_path / "local")
    quiet = {"dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster,
        distributed.Client(cluster) as client,
        ThreadPoolExecutor(1) as beside,
    ):
        going = beside.submit(mw.sweep, longer(), tmp_path / "shared", client.get_executor(), shards=6)
        victim = None
        while victim is None and not going.done():
            time.sleep(0.02)
            for part in (tmp_path / "shared/runs").glob("*.jsonl.part"):
                if part.read_bytes().count(b'"ended"') > 0:
                    victim = int(part.name.removesuffix(".jsonl.part").rsplit("-", 1)[1])
        assert victim is not None, "a worker has ended a run, and goes on"
        os.kill(victim, 9)
        going.result(timeout=120)
    assert_same(tmp_path / "shared", tmp_path / "local")


def test_how_many_shards_follows_from_the_workers() -> None:
    with ThreadPoolExecutor(3) as executor:
        assert _sweep._fitting(executor) == 12
    assert _sweep._fitting(object()) == 64  # type: ignore[arg-type]
