"""Workloads, metrics and observers in Python agree with built-in ones, and wrong ones are refused."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import meshwork as mw

from .conftest import SYNTHETIC

TABLE: dict[str, Any] = {
    "submit": [0.0, 1.0, 1.0, 4.0, 9.0],
    "runtime": [5.0, 9.0, 3.0, 2.0, 1.0],
    "estimate": [6.0, 9.0, 4.0, 2.0, 3.0],
    "nodes": [4, 3, 6, 2, 8],
    "user": ["ann", "bob", "ann", None, "bob"],
    "group": ["a", "b", "a", None, None],
    "queue": ["day", None, "night", None, None],
    "application": ["cfd", None, None, None, None],
    "priority": [0.5, None, 1.0, None, 0.0],
    "deadline": [20.0, None, None, 50.0, None],
}


def rows() -> list[dict[str, Any]]:
    return [dict(zip(TABLE, cells, strict=True)) for cells in zip(*TABLE.values(), strict=True)]


@mw.register
class Listed:
    """The jobs of a table, row by row."""

    def jobs(self, rng: mw.Rng) -> Iterator[dict[str, Any]]:
        yield from rows()


class Pair(NamedTuple):
    submit: float
    runtime: float
    nodes: int


@dataclasses.dataclass
class Block:
    submit: float
    runtime: float
    block: tuple[int, int]


@mw.register
class Mixed:
    """Jobs in every form that a workload may give."""

    def jobs(self, rng: mw.Rng) -> list[object]:
        return [
            Pair(0.0, 2.0, 3),
            Block(1.0, 2.0, (2, 3)),
            {"submit": np.float64(2.0), "runtime": np.int32(2), "nodes": np.int64(5)},
            {"submit": 3, "runtime": 2, "block": "4x1", "subcube": None},
        ]


@mw.register
class Poisson:
    """An endless sequence of jobs, with sizes up to that of the machine."""

    ends = False

    def __init__(self, machine: tuple[mw.Topology, ...], mean: float = 3.0) -> None:
        self.nodes, self.mean = machine[0].nodes, mean

    def jobs(self, rng: mw.Rng) -> Iterator[dict[str, Any]]:
        now = 0.0
        while True:
            now -= self.mean * math.log(rng.random())
            yield {"submit": now, "runtime": 1.0 + rng.below(9), "nodes": 1 + rng.below(self.nodes)}


@mw.register
class WaitAgain:
    """The wait, once more."""

    unit = "time"

    def value(self, run: mw.Run, now: float) -> float:
        return run.wait


@mw.register
class TurnaroundOfLarge:
    """The turnaround of jobs on more than 16 processors."""

    unit = "time"

    def value(self, run: mw.Run, now: float) -> float | None:
        return now - run.job.submit if run.asked > 16 else None


@mw.register
class HeldOverTime(mw.Observer):
    """The utilization from the first arrival on, computed in Python."""

    unit = "ratio"

    def __init__(self, machine: tuple[mw.Topology, ...]) -> None:
        self.nodes = sum(one.nodes for one in machine)
        self.held = self.span = 0.0
        self.begins = math.inf

    def arrived(self, id: int, job: mw.Job, now: float) -> None:
        self.begins = min(self.begins, now)

    def elapsed(self, state: mw.State, begin: float, end: float) -> None:
        assert state.nodes == self.nodes
        if begin < self.begins:
            return
        self.held += state.held * (end - begin)
        self.span += state.nodes * (end - begin)

    def result(self) -> float | None:
        return self.held / self.span if self.span else None


def test_a_workload_in_python_is_the_table_of_its_rows() -> None:
    keys: dict[str, Any] = {"machine": mw.flat(8), "scheduler": "easy", "measure": {"by_user": True}}
    for more in ({}, {"arrival_scale": 0.5, "runtime_scale": 2.0}, {"first_jobs": 3}):
        one = mw.Study(workload={"name": "listed", **more}, **keys).run()
        table = mw.Study(workload=TABLE, **keys)
        for key, value in more.items():
            table.set(f"workload.{key}", value)
        assert repr(one.jobs().to_dicts()) == repr(table.run().jobs().to_dicts())
        assert one.by_user is not None


def test_jobs_in_every_form() -> None:
    jobs = mw.Study(machine=mw.mesh(4, 4), workload="mixed").run().jobs()
    assert jobs["job"].tolist() == [1, 2, 3, 4]
    assert jobs["block"].tolist() == [None, "2x3", None, "4x1"]
    assert jobs["requested"].tolist() == [3, 6, 5, 4]


def test_a_workload_that_never_ends_is_that_of_its_seed(small: dict[str, Any]) -> None:
    def starts(**keys: Any) -> list[float]:
        study = mw.Study(**{**small, "workload": {"name": "poisson", "mean": 5.0}, "replications": 2, **keys})
        results = study.run()
        assert results.jobs(1, 0)["start"].tolist() != results.jobs(1, 1)["start"].tolist()
        out: list[float] = results.jobs(1, 1)["start"].tolist()
        return out

    assert starts() == starts()
    assert starts() != starts(seed=9)
    with pytest.raises(mw.InputError, match="jobs"):
        mw.Study(machine=mw.mesh(4, 4), workload="poisson").run()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_metric_in_python_is_that_of_the_program(threads: int) -> None:
    study = mw.Study(
        machine=mw.mesh(8, 8),
        workload={**SYNTHETIC, "load": 0.6},
        jobs=400,
        warmup_jobs=50,
        metrics=["wait", "wait_again", "turnaround_of_large"],
        replications=3,
        measure={"by_size": "power_of_two"},
        sweep={"scheduler": ["fcfs", "easy"]},
    )
    results = study.run(threads=threads)
    summary = results.summary.to_dicts()
    for scheduler in ("fcfs", "easy"):
        found = {row["metric"]: row for row in summary if row["scheduler"] == scheduler}
        assert found["wait_again"]["mean"] == found["wait"]["mean"] > 0
        assert found["wait_again"]["half_width"] == found["wait"]["half_width"]
        assert found["turnaround_of_large"]["mean"] > 0
    by_size = results.by_size
    assert by_size is not None
    sizes = {(row["scenario"], row["size"], row["metric"]): row["mean"] for row in by_size}
    assert all(value == sizes[at[0], at[1], "wait"] for at, value in sizes.items() if at[2] == "wait_again")


def test_a_metric_that_watches_gives_one_number(small: dict[str, Any]) -> None:
    study = mw.Study(**{**small, "metrics": ["utilization", "held_over_time"], "replications": 2})
    runs = study.run().runs.to_dicts()
    for replication in range(2):
        found = {row["metric"]: row["value"] for row in runs if row["replication"] == replication}
        assert found["held_over_time"] == pytest.approx(found["utilization"], rel=1e-9)


def test_metrics_in_python_are_measured_where_they_are_named(small: dict[str, Any]) -> None:
    del small["metrics"]
    names = {row["metric"] for row in mw.Study(**small).run().summary}
    assert "wait" in names
    assert not names & {"wait_again", "held_over_time"}


def test_a_run_and_a_job_say_all_of_themselves() -> None:
    seen: dict[int, Any] = {}

    class Keeps:
        def arrived(self, id: int, job: mw.Job, now: float) -> None:
            seen[id] = [job, now]

        def finished(self, run: mw.Run, now: float) -> None:
            seen[run.id] += [run, now]

    study = mw.Study(machine=mw.flat(8), workload=TABLE, measure={"by_user": True})
    results = study.run(observer=lambda swept, replication: Keeps())
    table = results.jobs()
    for at, row in enumerate(table):
        job, arrived, run, ended = seen[at]
        assert arrived == job.submit == row["submit"]
        assert (job.number, job.estimate, job.nodes) == (row["job"], row["estimate"], row["requested"])
        assert (job.user, job.group, job.queue, job.application) == tuple(
            TABLE[column][at] for column in ("user", "group", "queue", "application")
        )
        assert job.priority == (TABLE["priority"][at] or 0.0)
        assert job.deadline == TABLE["deadline"][at]
        assert (run.start, ended, run.held, run.site) == (row["start"], row["finish"], row["held"], row["site"])
        assert run.wait == row["wait"]
        assert len(run.placement) == row["held"]
        assert run.expected_end == row["start"] + row["estimate"]


def test_a_scheduler_in_python_sees_whose_jobs_are() -> None:
    seen: dict[int, tuple[object, ...]] = {}

    @mw.register
    class Looks:
        """First come, first served, recording what the scheduler sees of each job."""

        serves_all = True

        def schedule(self, cluster: mw.Cluster) -> None:
            for job in cluster.arrivals:
                one = cluster.job(job)
                terms = (one.user, one.group, one.application, one.queue, one.priority, one.deadline)
                seen[job] = terms
            while (head := cluster.head) is not None and cluster.start(head):
                assert cluster.job(head).number == head + 1, "it runs, and is still known"

    wants = {"nodes_max": 6, "segment": 2, "exclude": "n[0-1]", "partition": "batch"}
    mw.Study(machine=mw.flat(8), workload=TABLE, scheduler="looks").run()
    assert seen[0] == ("ann", "a", "cfd", "day", 0.5, 20.0)
    assert seen[3] == (None, None, None, None, 0.0, 50.0)

    @mw.register
    class Wants:
        """One job with many constraints."""

        def jobs(self, rng: mw.Rng) -> Iterator[dict[str, Any]]:
            yield {
                "submit": 0,
                "runtime": 1,
                "nodes": 4,
                "contiguous": True,
                "exclusive": "topo",
                "after": 7,
                "think": 2.0,
                **wants,
            }

    found: list[mw.Job] = []

    class Keeps:
        def arrived(self, id: int, job: mw.Job, now: float) -> None:
            found.append(job)

    mw.Study(machine=mw.flat(8), workload="wants").run(observer=lambda *_: Keeps())
    assert found[0].partition == "batch"
    asked = {"nodes_max": 6, "segment": 2, "contiguous": True, "exclusive": "topo", "exclude": "n[0-1]"}
    assert found[0].constraints == asked
    assert (found[0].after, found[0].think) == (7, 2.0)


def test_observers_are_told_what_happens_and_change_nothing(small: dict[str, Any]) -> None:
    counts: dict[tuple[str, int], dict[str, int]] = {}

    class Counts(mw.Observer):
        def __init__(self, swept: dict[str, Any], replication: int) -> None:
            self.own = counts.setdefault((swept["scheduler"], replication), {})
            self.last = 0.0

        def count(self, what: str, now: float) -> None:
            assert now >= self.last
            self.last = now
            self.own[what] = self.own.get(what, 0) + 1

        def arrived(self, id: int, job: mw.Job, now: float) -> None:
            self.count("arrived", now)

        def started(self, run: mw.Run, now: float) -> None:
            self.count("started", now)

        def finished(self, run: mw.Run, now: float) -> None:
            self.count("finished", now)

        def promised(self, id: int, by: float, now: float) -> None:
            assert by >= now
            self.count("promised", now)

        def down(self, site: int, node: int, now: float) -> None:
            self.count("down", now)

        def interrupted(self, run: mw.Run, now: float) -> None:
            assert run.interruptions > 0
            self.count("interrupted", now)

        def waited(self, id: int, cause: str, begin: float, end: float) -> None:
            assert cause in ("nodes", "shape", "priority", "reserved")
            self.count("waited", begin)

    failures = {"mtbf": 2000.0, "repair": 5.0}
    keys = {**small, "workload": {**SYNTHETIC, "load": 0.8}, "sweep": {"scheduler": ["fcfs", "easy"]}}
    study = mw.Study(**keys, replications=2, failures=failures)
    alone = study.run().runs.to_dicts()
    assert study.run(observer=Counts, threads=2).runs.to_dicts() == alone
    assert set(counts) == {(scheduler, one) for scheduler in ("fcfs", "easy") for one in (0, 1)}
    for (scheduler, _), own in counts.items():
        assert own["arrived"] >= own["started"] >= own["finished"] == 200
        assert own["waited"] > 0
        assert own["down"] > 0
        assert own["interrupted"] > 0
        assert ("promised" in own) == (scheduler == "easy")


def test_runs_from_a_folder_are_not_observed(small: dict[str, Any], tmp_path: Path) -> None:
    made: list[int] = []

    def make(swept: dict[str, Any], replication: int) -> None:
        made.append(replication)

    study = mw.Study(**small, replications=3)
    study.run(observer=make, out=tmp_path)
    assert sorted(made) == [0, 1, 2]
    study.run(observer=make, out=tmp_path)
    assert len(made) == 3


BAD: list[tuple[object, str]] = [
    ({"submit": 0, "runtime": 1}, "the row asks for nothing: one of nodes, block, subcube and pieces says what"),
    ({"submit": 0, "runtime": -1, "nodes": 1}, "runtime is -1, but must be a number from 0 to 1e15"),
    ({"submit": 0, "runtime": math.inf, "nodes": 1}, "runtime is inf, but must be a number from 0 to 1e15"),
    ({"submit": 0, "runtime": 1, "node": 1}, "there is no column `node` (did you mean `nodes`?"),
    ({"submit": 0, "runtime": 1, "nodes": "many"}, "`nodes` is `many`, but must be a number"),
    ({"submit": 0, "runtime": 1, "nodes": object}, "`nodes` is <class 'object'>, but must be a number, a text or a truth"),
    (3, "it is 3, but must be a mapping of the columns of a table of jobs, or have them as attributes"),
]


@pytest.mark.parametrize(("job", "sentence"), BAD, ids=[case[1][:30] for case in BAD])
def test_a_job_that_is_none_is_named(job: object, sentence: str) -> None:
    @mw.register
    class Bad:
        """A valid job and an invalid one."""

        def jobs(self, rng: mw.Rng) -> list[object]:
            return [{"submit": 0, "runtime": 1, "nodes": 1}, job]

    with pytest.raises(mw.RunError) as raised:
        mw.Study(machine=mw.flat(8), workload="bad", metrics=["wait"]).run()
    assert f"the workload `bad`, job 2: {sentence}" in str(raised.value)


def test_times_that_go_backwards_are_refused() -> None:
    @mw.register
    class Backwards:
        """Jobs whose submission times decrease."""

        def jobs(self, rng: mw.Rng) -> list[object]:
            return [{"submit": at, "runtime": 1, "nodes": 1} for at in (5.0, 4.0)]

    with pytest.raises(mw.RunError) as raised:
        mw.Study(machine=mw.flat(8), workload="backwards", metrics=["wait"]).run()
    wanted = (
        "the workload `backwards`, job 2: submit is 4, but the job before it has 5: jobs come in the order of submission"
    )
    assert wanted in str(raised.value)


def test_what_they_raise_is_the_cause(small: dict[str, Any]) -> None:
    @mw.register
    class RaisesJobs:
        """One job, and then an exception."""

        def jobs(self, rng: mw.Rng) -> Iterator[dict[str, Any]]:
            yield {"submit": 0, "runtime": 1, "nodes": 1}
            raise ZeroDivisionError("no more")

    @mw.register
    class RaisesValue:
        """An exception instead of a value."""

        def value(self, run: mw.Run, now: float) -> float:
            raise ZeroDivisionError("no value")

    @mw.register
    class RaisesResult:
        """An exception instead of a result."""

        def result(self) -> float:
            raise ZeroDivisionError("no result")

    class RaisesEvent:
        def started(self, run: mw.Run, now: float) -> None:
            raise ZeroDivisionError("no event")

    def never(swept: dict[str, Any], replication: int) -> object:
        raise ZeroDivisionError("no observer")

    def run(observer: Any = None, **keys: Any) -> None:
        mw.Study(**{**small, **keys}).run(observer=observer)

    cases: list[tuple[dict[str, Any], str]] = [
        ({"workload": "raises_jobs", "jobs": None}, "the workload `raises_jobs` raised when it was asked for its job 2, in"),
        ({"metrics": ["raises_value"]}, "the metric `raises_value` raised when it was asked for the value of job 0, in"),
        ({"metrics": ["raises_result"]}, "the metric `raises_result` raised when it was asked for its result, in"),
        ({"observer": lambda *_: RaisesEvent()}, "the observer `RaisesEvent` raised when it was told `started`, in"),
        ({"observer": never}, "no observer could be made, in"),
    ]
    for keys, sentence in cases:
        with pytest.raises(mw.StrategyError) as raised:
            run(**keys)
        assert sentence in str(raised.value)
        assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_what_cannot_be_registered() -> None:
    class Tuned:
        """A metric with a parameter."""

        def __init__(self, threshold: float = 1.0) -> None: ...

        def value(self, run: mw.Run, now: float) -> float:
            return 0.0

    with pytest.raises(mw.InputError, match="the metric `tuned` has the parameter `threshold`, but metrics have none"):
        mw.register(Tuned)
    with pytest.raises(mw.InputError, match="the metric `wait` cannot be added: `wait` is a name of the metric `wait`"):
        mw.register("wait")(WaitAgain)


def test_they_are_listed_described_and_kept(small: dict[str, Any], tmp_path: Path) -> None:
    assert {("workload", "listed"), ("metric", "wait_again"), ("metric", "held_over_time")} <= set(mw.registered())
    assert mw.describe("metric", "wait_again")["summary"] == "the wait, once more"
    assert mw.describe("workload", "poisson")["parameters"][0]["name"] == "mean"
    study = mw.Study(**{**small, "metrics": ["wait", "wait_again"]})
    one = study.run(out=tmp_path / "kept")
    again = study.run(out=tmp_path / "kept")
    assert one.summary.to_dicts() == again.summary.to_dicts()


SENT = """
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import meshwork as mw
import parts

study = mw.Study(
    machine=mw.mesh(8, 8), workload={"name": "sent_jobs", "count": 30}, metrics=["wait", "sent_wait"], replications=2
)

def of(packed):
    return pickle.loads(packed).run().summary.to_dicts()

if __name__ == "__main__":
    here = study.run().summary.to_dicts()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert mw.sweep(study, "sent", executor).summary.to_dicts() == here
        assert executor.submit(of, pickle.dumps(study)).result() == here
    print(here[0]["mean"] == here[1]["mean"] > 0)
"""

PARTS = """
import meshwork as mw

@mw.register
class SentJobs:
    "Jobs in another process."
    def __init__(self, count: int = 10):
        self.count = count
    def jobs(self, rng):
        return [{"submit": at, "runtime": 20, "nodes": 1 + rng.below(60)} for at in range(self.count)]

@mw.register
class SentWait:
    "The wait, in another process."
    def value(self, run, now):
        return run.wait
"""


def test_they_go_to_other_processes(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "script.py").write_text(SENT)
    said = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "True"


def test_an_environment_has_a_workload_in_python() -> None:
    from meshwork import gym

    env = gym.SchedulingEnv(mw.flat(8), "poisson", jobs=5)
    env.reset(seed=1)
    steps = 0
    while not env.step(0)[2]:
        steps += 1
    assert 4 <= steps <= 15
