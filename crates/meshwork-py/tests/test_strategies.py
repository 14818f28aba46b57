"""Strategies in Python agree with built-in ones, and wrong ones are refused."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import meshwork as mw
import meshwork.testing
from meshwork._meshwork import Ask, Cluster, Demand, Job, Offers, Rng, Site

from .conftest import SYNTHETIC


def bases(free: np.ndarray[Any, Any], sides: tuple[int, ...], wraps: bool) -> Iterator[tuple[int, ...]]:
    """Every free base of a block, the first coordinate running fastest."""
    for base in itertools.product(*(range(side) for side in reversed(free.shape))):
        corner = base[::-1]
        if not wraps and any(at + side > most for at, side, most in zip(corner, sides, free.shape, strict=True)):
            continue
        block = np.ix_(*((np.arange(side) + at) % most for at, side, most in zip(corner, sides, free.shape, strict=True)))
        if free[block].all():
            yield corner


class PythonFirstFit:
    """The first free block in the order of its base.

    Written the obvious way, as its twin.
    """

    finds, contiguous, stateless, goes_by_free_nodes = "every_block", True, True, True
    serves = ("mesh", "torus")

    def __init__(self, machine: mw.Topology) -> None:
        self.wraps = machine.kind == "torus"

    def choose(self, ask: Ask) -> object:
        sides = ask.request
        assert isinstance(sides, tuple)
        base = next(bases(ask.site.free, sides, self.wraps), None)
        return None if base is None else (base, sides)


class Line(PythonFirstFit):
    """First fit on a line, where brute force is quick."""

    serves, dimensions = ("mesh",), 1  # type: ignore[assignment]


class PythonFcfs:
    """First come, first served."""

    serves_all = True

    def schedule(self, cluster: Cluster) -> None:
        while (head := cluster.head) is not None and cluster.start(head):
            pass


class PythonEasy:
    """EASY backfilling, with the methods of a cluster."""

    plans, serves_all = True, True

    def schedule(self, cluster: Cluster) -> None:
        for job in cluster.waiting.tolist():
            if not cluster.start(job):
                break
        head = cluster.head
        if head is None:
            return
        guard = cluster.reserve(head)
        if guard is None:
            return
        cluster.promise(head, guard.at)
        for job in cluster.waiting.tolist()[1:]:
            cluster.start(job, beside=guard)


class PythonExact:
    """The requested size."""

    stateless = True

    def sizes(self, demand: Demand) -> list[tuple[object, float]]:
        return [(demand.request, 1.0)]

    def fewest(self, demand: Demand) -> int:
        return demand.wanted


class PythonFirstSite:
    """The first site on which the job can be placed."""

    stateless = True

    def select(self, job: Job, offers: Offers, rng: Rng) -> int | None:
        return next((site for site in range(offers.sites) if offers.at(site) is not None), None)


class Drawn:
    """Random free nodes."""

    asks, finds, stateless = "nodes", "any_nodes", True

    def choose(self, ask: Ask) -> object:
        free = ask.site.free.ravel(order="F").nonzero()[0].tolist()
        return [free.pop(ask.rng.below(len(free))) for _ in range(ask.nodes)]


class Remembers:
    """The nodes behind the last allocated ones, cyclically."""

    asks, finds = "nodes", "any_nodes"

    def __init__(self) -> None:
        self.last = 0

    def choose(self, ask: Ask) -> object:
        free = ask.site.free.ravel(order="F")
        order = np.roll(np.arange(free.size), -self.last)
        return order[free[order]][: ask.nodes]

    def claimed(self, placement: mw.Placement, site: Site, now: float) -> None:
        self.last = int(placement.nodes[-1])

    def released(self, placement: mw.Placement, site: Site) -> None:
        if site.free_nodes == site.nodes:
            self.last = 0

    def memory(self) -> list[int]:
        return [self.last]

    def recall(self, memory: list[int], site: Site) -> None:
        (self.last,) = memory


for _cls in (Line, PythonFirstFit, PythonFcfs, PythonEasy, PythonExact, PythonFirstSite, Drawn, Remembers):
    mw.register(_cls)


@pytest.mark.parametrize(
    ("key", "ours", "theirs", "machine"),
    [
        ("allocator", "python_first_fit", {"name": "first_fit", "rotation": "never"}, mw.mesh(8, 6)),
        ("allocator", "python_first_fit", {"name": "first_fit", "rotation": "never"}, mw.torus(4, 4, 3)),
        ("scheduler", "python_fcfs", "fcfs", mw.mesh(8, 8)),
        ("scheduler", "python_easy", "easy", mw.mesh(8, 8)),
        ("scheduler", "python_easy", "easy", mw.flat(64)),
        ("sizing", "python_exact", "exact", mw.mesh(8, 8)),
        ("selector", "python_first_site", "first_fit", mw.sites([mw.mesh(6, 6), mw.flat(20, speed=2.0)])),
    ],
)
@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "conservative"])
def test_a_twin_in_python_gives_the_same_jobs(
    key: str, ours: object, theirs: object, machine: mw.Machine, scheduler: str
) -> None:
    keys: dict[str, Any] = {"scheduler": scheduler, "machine": machine, "workload": {**SYNTHETIC, "load": 0.9}}
    if key == "scheduler" and scheduler != "fcfs":
        pytest.skip("one scheduler is enough")
    tables = [
        mw.Study(**{**keys, key: name}, jobs=150, metrics=["wait"], replications=2).run(threads=2).jobs(1, 1)
        for name in (ours, theirs)
    ]
    assert tables[0]["start"].tolist() == tables[1]["start"].tolist()
    assert tables[0]["blocks"].tolist() == tables[1]["blocks"].tolist()
    assert tables[0]["wait"].sum() > 0, "the machine is busy"


def test_they_are_listed_and_described() -> None:
    assert ("allocator", "python_first_fit") in mw.registered()
    about = mw.describe("allocator", "python_first_fit")
    assert about["summary"] == "the first free block in the order of its base"
    assert about["definition"] == "Written the obvious way, as its twin."


def test_drawn_numbers_are_those_of_the_seed() -> None:
    keys: dict[str, Any] = {"machine": mw.mesh(6, 6), "workload": SYNTHETIC, "jobs": 60, "allocator": "drawn"}
    one, two = (mw.Study(**keys, seed=seed, replications=2).run() for seed in (1, 1))
    assert one.jobs(1, 1)["blocks"].tolist() == two.jobs(1, 1)["blocks"].tolist()
    assert one.jobs(1, 0)["blocks"].tolist() != one.jobs(1, 1)["blocks"].tolist()


def test_a_pool_whose_allocator_remembers_is_restored() -> None:
    one, other = (mw.Pool(mw.mesh(6, 6), "remembers") for _ in range(2))
    for count in (5, 9, 3):
        one.allocate(count)
    other.restore(one.snapshot())
    assert one.allocate(4) == other.allocate(4)


@pytest.mark.parametrize("cls", [Line, Drawn, Remembers])
def test_allocators_keep_the_rules(cls: type) -> None:
    assert meshwork.testing.check_allocator(cls).questions >= 400


def test_others_keep_the_rules() -> None:
    assert meshwork.testing.check_sizing(PythonExact).questions > 100
    assert meshwork.testing.check_selector(PythonFirstSite).jobs > 100


def test_a_broken_rule_is_found() -> None:
    class Misses:
        """First fit that ignores the last column."""

        finds, contiguous, stateless, serves, dimensions = "every_block", True, True, ("mesh",), 2

        def choose(self, ask: Ask) -> object:
            sides = ask.request
            assert isinstance(sides, tuple)
            width = ask.site.dims[0]
            for base in bases(ask.site.free, sides, False):
                if base[0] + sides[0] < width or sides[0] == width:
                    return base, sides
            return None

    with pytest.raises(meshwork.testing.ContractError, match="the allocator `misses`"):
        meshwork.testing.check_allocator(Misses)
    with pytest.raises(meshwork.testing.ContractError, match="is a strategy of another kind: a scheduler"):
        meshwork.testing.check_allocator(PythonFcfs)


def test_parameters_have_ranges_words_and_help() -> None:
    @mw.register
    class Tuned:
        """An allocator with parameters of every kind."""

        asks, finds, stateless = "nodes", "any_nodes", True

        def __init__(
            self,
            machine: mw.Topology,
            share: Annotated[float, "share", "how much of it"] = 0.5,
            count: Annotated[int, range(1, 10)] = 3,
            side: Literal["left", "right"] = "left",
            loud: bool = False,
        ) -> None:
            self.given = (machine.nodes, share, count, side, loud)

        def choose(self, ask: Ask) -> object:
            raise RuntimeError(repr(self.given))

    params = {one["name"]: one for one in mw.describe("allocator", "tuned")["parameters"]}
    assert params["share"]["may_be"] == "a number from 0 to 1"
    assert params["share"]["help"] == "how much of it"
    assert params["count"]["may_be"] == "a whole number from 1 to 9"
    assert params["side"]["may_be"] == "one of left, right"
    assert params["loud"]["default"] is False
    with pytest.raises(mw.InputError, match=r"`allocator.share` is 2(\.0)?, but must be a number from 0 to 1"):
        mw.Pool(mw.mesh(4, 4), {"name": "tuned", "share": 2})
    with pytest.raises(mw.StrategyError, match=r"RuntimeError: \(16, 0.25, 3, 'right', True\)"):
        mw.Pool(mw.mesh(4, 4), {"name": "tuned", "share": 0.25, "side": "right", "loud": True}).allocate(1)


def test_what_a_strategy_raises_is_the_cause_and_says_where(small: dict[str, Any]) -> None:
    @mw.register
    class Fails:
        """An allocator that raises when the machine fills."""

        asks, finds = "nodes", "any_nodes"

        def choose(self, ask: Ask) -> object:
            if ask.site.free_nodes < 30:
                raise ZeroDivisionError("the third line")
            return ask.site.free.ravel(order="F").nonzero()[0][: ask.nodes]

    study = mw.Study(**small, sweep={"allocator": ["first_fit", "fails"]})
    for threads in (1, 2):
        with pytest.raises(mw.StrategyError) as raised:
            study.run(threads=threads)
        cause = raised.value.__cause__
        assert isinstance(cause, ZeroDivisionError)
        assert cause.__traceback__ is not None
        assert cause.__traceback__.tb_frame.f_code.co_name == "choose"
        sentence = str(raised.value)
        assert sentence.startswith("the allocator `fails` raised when it was asked for ")
        assert "in the run of allocator = fails, replication 1: ZeroDivisionError: the third line" in sentence
    pool = mw.Pool(mw.mesh(8, 8), "fails")
    held = pool.allocate(40)
    with pytest.raises(mw.StrategyError):
        pool.allocate(1)
    assert pool.free_nodes == 24, "nothing is changed"
    assert held is not None
    pool.release(held)
    assert pool.allocate(3) is not None


BAD: list[tuple[object, str]] = [
    (((0, 0), (1, 1)), "which is 1 nodes instead of 4"),
    ([0, 1, 2, 2], "which has the node [2, 0] twice"),
    ([0, 1, 2, 16], "16 is no node of a 4 × 4 mesh"),
    (((3, 3), (2, 2)), "does not lie on a 4 × 4 mesh"),
    ("first", "'first' is no placement"),
    ([[0.5]], "[[0.5]] is no placement"),
    (np.zeros((2, 2)), "is no placement"),
    (np.zeros(4, dtype=complex), "is no placement"),
]


@pytest.mark.parametrize(("answer", "sentence"), BAD, ids=[case[1] for case in BAD])
def test_an_answer_that_cannot_be_is_told(answer: object, sentence: str) -> None:
    @mw.register
    class Answers:
        """An allocator that always gives the same answer."""

        def choose(self, ask: Ask) -> object:
            return answer

    with pytest.raises(mw.StrategyError) as raised:
        mw.Pool(mw.mesh(4, 4), "answers").allocate((2, 2))
    assert sentence in str(raised.value)


def test_a_scheduler_is_woken_when_it_wants() -> None:
    @mw.register
    class EveryTen:
        """First come, first served, at every tenth instant."""

        serves_all = True

        def schedule(self, cluster: mw.Cluster) -> None:
            while cluster.now % 10 == 0 and cluster.head is not None and cluster.start(cluster.head):
                pass

        def wake_at(self, now: float) -> float | None:
            return now // 10 * 10 + 10

    jobs = {"submit": [1, 2, 9], "runtime": [4, 25, 1], "nodes": [3, 1, 2]}
    study = mw.Study(machine=mw.flat(4), workload=jobs, scheduler="every_ten")
    assert study.run().jobs()["start"].tolist() == [10, 10, 20]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (1.0, "it wants to be woken at 1, but must name a finite instant after 1"),
        (float("inf"), "it wants to be woken at inf, but must name"),
        (float("nan"), "the scheduler `sleeper` wants to be woken at NaN, at 1"),
        ("soon", "the scheduler `sleeper` raised at 1, when it was asked when to wake it"),
    ],
)
def test_a_timer_that_cannot_be_is_told(answer: Any, sentence: str) -> None:
    @mw.register
    class Sleeper:
        """A scheduler that starts no job."""

        def schedule(self, cluster: mw.Cluster) -> None:
            pass

        def wake_at(self, now: float) -> Any:
            return answer

    jobs = {"submit": [1], "runtime": [4], "nodes": [3]}
    with pytest.raises(mw.RunError, match=sentence):
        mw.Study(machine=mw.flat(4), workload=jobs, scheduler="sleeper").run()


def test_strategies_in_python_decide_for_a_state(tmp_path: Path) -> None:
    for strategy in (PythonFirstFit, PythonEasy, PythonFcfs, Remembers):
        mw.register(strategy)
    study = tmp_path / "policy.toml"
    study.write_text(mw.Study(machine=mw.mesh(4, 4), workload={"name": "lublin", "jobs": 9}).toml)
    state: dict[str, Any] = {
        "now": 1000,
        "running": [{"id": "a", "nodes": list(range(8)), "since": 400, "until": 1600}],
        "waiting": [
            {"id": "b", "block": [4, 3], "estimate": 3600},
            {"id": "c", "block": [2, 2], "estimate": 600},
            {"id": "d", "block": [2, 2], "estimate": 900},
        ],
    }

    def decided(state: dict[str, Any], scheduler: str, allocator: str) -> dict[str, Any]:
        return mw.plan(state, study, {"scheduler": scheduler, "allocator": allocator})

    for scheduler, twin in (("python_easy", "easy"), ("python_fcfs", "fcfs")):
        ours, theirs = decided(state, scheduler, "python_first_fit"), decided(state, twin, "first_fit")
        assert ours["starts"] == theirs["starts"]
        assert [own["id"] for own in ours["reserved"]] == [own["id"] for own in theirs["reserved"]]
    assert [own["id"] for own in decided(state, "python_easy", "python_first_fit")["starts"]] == ["c"]
    # What an allocator remembers goes from state to state.
    first = decided({"now": 1, "waiting": [{"id": "x", "nodes": 3, "estimate": 50}]}, "python_fcfs", "remembers")
    assert first["starts"][0]["nodes"] == [0, 1, 2]
    second: dict[str, Any] = {"now": 60, "waiting": [{"id": "y", "nodes": 2, "estimate": 50}]}
    assert decided(second, "python_fcfs", "remembers")["starts"][0]["nodes"] == [0, 1]
    second["memory"] = first["memory"]
    assert len(decided(second, "python_fcfs", "remembers")["starts"][0]["nodes"]) == 2
    with pytest.raises(mw.InputError, match="state: the memory is not one of this policy"):
        decided({**second, "memory": {**first["memory"], "scheduler": "1"}}, "python_fcfs", "remembers")


def test_a_scheduler_in_python_continues_an_earlier_plan(tmp_path: Path) -> None:
    arrived: list[list[int]] = []

    @mw.register
    class EverySecondPass:
        """Starts in every second pass the job that was at the head of the queue in the pass before."""

        def __init__(self) -> None:
            self.passes = 0
            self.head: int | None = None

        def schedule(self, cluster: mw.Cluster) -> None:
            arrived.append([cluster.job(job).number for job in cluster.arrivals])
            numbers = {cluster.job(job).number: job for job in cluster.waiting.tolist()}
            self.passes += 1
            if self.passes % 2 == 0 and self.head in numbers:
                cluster.start(numbers[self.head])
            self.head = min(numbers) if numbers else None

        def memory(self) -> str:
            return json.dumps([self.passes, self.head])

        def recall(self, memory: str) -> None:
            self.passes, self.head = json.loads(memory)

    study = tmp_path / "policy.toml"
    study.write_text(mw.Study(machine=mw.mesh(4, 4), workload={"name": "lublin", "jobs": 9}).toml)
    policy = {"scheduler": "every_second_pass", "allocator": "naive"}
    waiting = [{"id": name, "nodes": 3, "estimate": 50} for name in "xyz"]

    first = mw.plan({"now": 1, "waiting": waiting[:2]}, study, policy)
    assert first["starts"] == []
    # y left, z is new: it arrives, and x, which is known, does not arrive again.
    second = mw.plan({"now": 2, "waiting": [waiting[0], waiting[2]], "memory": first["memory"]}, study, policy)
    assert [start["id"] for start in second["starts"]] == ["x"]
    running = [{"id": "x", "nodes": second["starts"][0]["nodes"], "since": 2, "until": 52}]
    third = mw.plan({"now": 3, "running": running, "waiting": waiting[2:], "memory": second["memory"]}, study, policy)
    assert third["starts"] == []
    fourth = mw.plan({"now": 4, "running": running, "waiting": waiting[2:], "memory": third["memory"]}, study, policy)
    assert [start["id"] for start in fourth["starts"]] == ["z"]
    assert [len(jobs) for jobs in arrived] == [2, 1, 0, 0]
    assert mw.plan({"now": 4, "running": running, "waiting": waiting[2:]}, study, policy)["starts"] == []


def test_held_nodes_are_refused() -> None:
    @mw.register
    class Blind:
        """The first nodes, whether free or held."""

        asks, finds, serves = "nodes", "any_nodes", ("mesh",)

        def choose(self, ask: Ask) -> object:
            return list(range(ask.nodes))

    pool = mw.Pool(mw.mesh(4, 4), "blind")
    pool.allocate(2)
    with pytest.raises(mw.StrategyError) as raised:
        pool.allocate(3)
    assert str(raised.value) == ("the allocator `blind` proposed 0,0:3x1 for 3 at 0, of which the node [0, 0] is held")
    assert pool.free_nodes == 14


def test_a_pool_whose_allocator_raises_when_told_stays_whole() -> None:
    @mw.register
    class Deaf:
        """An allocator that raises when it is told of a claim."""

        asks, finds = "nodes", "any_nodes"

        def choose(self, ask: Ask) -> object:
            return ask.site.free.ravel(order="F").nonzero()[0][: ask.nodes]

        def claimed(self, placement: mw.Placement, site: Site, now: float) -> None:
            if len(placement) == 3:
                raise ValueError("no")

    pool = mw.Pool(mw.mesh(4, 4), "deaf")
    pool.allocate(2)
    with pytest.raises(mw.StrategyError, match="raised when it was told what was claimed"):
        pool.allocate(3)
    assert pool.free_nodes == 14
    assert pool.free.sum() == 14
    assert str(pool.allocate(2)) == "2,0:2x1"


def test_what_was_lent_cannot_be_kept(small: dict[str, Any]) -> None:
    kept: list[Cluster] = []

    @mw.register
    class Keeps:
        """A scheduler that keeps its cluster after the call."""

        def schedule(self, cluster: Cluster) -> None:
            kept.append(cluster)
            while (head := cluster.head) is not None and cluster.start(head):
                pass

    mw.Study(**small, scheduler="keeps").run()
    with pytest.raises(mw.RunError, match="the cluster can be asked only during the call that it was given to"):
        kept[0].now  # noqa: B018


def test_a_cluster_cannot_be_asked_while_it_asks(small: dict[str, Any]) -> None:
    asked: list[Cluster] = []

    @mw.register
    class Passes:
        """A scheduler that passes its cluster to the allocator."""

        def schedule(self, cluster: Cluster) -> None:
            asked[:] = [cluster]
            while (head := cluster.head) is not None and cluster.start(head):
                pass

    @mw.register
    class Peeks:
        """An allocator that calls the cluster that called it."""

        asks, finds, stateless = "nodes", "any_nodes", True

        def choose(self, ask: Ask) -> object:
            if asked:
                asked[0].now  # noqa: B018
            return ask.site.free.ravel(order="F").nonzero()[0][: ask.nodes]

    with pytest.raises(mw.StrategyError, match="the cluster is in use"):
        mw.Study(**small, scheduler="passes", allocator="peeks").run()


def test_a_job_that_does_not_wait_is_told(small: dict[str, Any]) -> None:
    @mw.register
    class Wrong:
        """A scheduler that starts a job that does not exist."""

        def schedule(self, cluster: Cluster) -> None:
            cluster.start(10**9)

    with pytest.raises(mw.StrategyError, match="the job 1000000000 does not wait"):
        mw.Study(**small, scheduler="wrong").run()


def test_sizes_that_cannot_be_are_told(small: dict[str, Any]) -> None:
    @mw.register
    class Vast:
        """A size that exceeds the machine."""

        def sizes(self, demand: Demand) -> object:
            return [((100, 100), 1.0)]

        def fewest(self, demand: Demand) -> int:
            return 1

    with pytest.raises(mw.StrategyError, match="gave the size 100x100 with stretch 1 for"):
        mw.Study(**small, sizing="vast").run()


def test_names_and_classes_that_cannot_be() -> None:
    class Taken:
        name = "first_fit"

        def choose(self, ask: Ask) -> object:
            return None

    class Odd:
        def __init__(self, what: list[int]) -> None: ...

        def choose(self, ask: Ask) -> object:
            return None

    class Two:
        def choose(self, ask: Ask) -> object:
            return None

        def schedule(self, cluster: Cluster) -> None: ...

    class Half:
        def sizes(self, demand: Demand) -> object:
            return None

    cases: list[tuple[type, str]] = [
        (Taken, "the allocator `first_fit` cannot be added: `first_fit` is a name of the allocator `first_fit`"),
        (
            Odd,
            "the parameter `what` of `Odd` is a list[int], but must be a float, an int, a bool, a str or a Literal of texts",
        ),
        (Two, "the class `Two` is no strategy: one has the method choose, schedule, sizes or select, and it has 2 of them"),
        (Half, "the class `Half` is no sizing: it has `sizes`, but no method `fewest`"),
        (type("É", (Taken,), {"name": "É"}), "the strategy is called 'É', but a name is small letters, digits and _"),
        (type("Asks", (Taken,), {"name": "x", "asks": "all"}), "`asks` is 'all', but must be one of nodes, block,"),
        (
            type("Serves", (Taken,), {"name": "x", "serves": ["ring"]}),
            '`serves` has "ring", but must be a list of some of mesh,',
        ),
    ]
    for cls, sentence in cases:
        with pytest.raises(mw.InputError) as raised:
            mw.register(cls)
        assert sentence.replace("'all'", '"all"') in str(raised.value)


def test_stored_runs_of_another_source_are_not_taken(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    text = (
        "import sys, meshwork as mw\n"
        "@mw.register\n"
        "class Own:\n"
        "    asks, finds, stateless = 'nodes', 'any_nodes', True\n"
        "    def choose(self, ask):\n"
        "        return ask.site.free.ravel(order='F').nonzero()[0][ORDER][: ask.nodes]\n"
        "study = mw.Study(machine=mw.mesh(4, 4), workload={'submit': [0, 0], 'runtime': [1, 1], 'nodes': [3, 3]},\n"
        "    sweep={'allocator': ['own', 'naive']}, metrics=['wait'])\n"
        "told = []\n"
        "study.run(out=sys.argv[1], progress=told.append)\n"
        "print(told[-1].reused)\n"
    )
    reused = []
    for order in ("::1", "::1", "::-1"):
        script.write_text(text.replace("ORDER", order))
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(script), str(tmp_path / "out")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        reused.append(int(done.stdout))
    assert reused == [0, 2, 0], "stored runs are taken where the source of every strategy is the same"


def test_strategies_may_run_beside_threads_of_python(small: dict[str, Any]) -> None:
    stop, count = threading.Event(), itertools.count()

    def spin() -> None:
        while not stop.is_set():
            next(count)

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        study = mw.Study(**small, scheduler="python_fcfs", allocator="drawn", replications=4)
        assert study.run(threads=2).summary["replications"].tolist() == [4, 4]
    finally:
        stop.set()
        thread.join()


def test_the_command_knows_what_a_script_registers(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(
        "import sys, meshwork as mw\n"
        "@mw.register\n"
        "class Last:\n"
        "    'The free nodes with the highest numbers.'\n"
        "    asks, finds, stateless = 'nodes', 'any_nodes', True\n"
        "    def choose(self, ask):\n"
        "        return ask.site.free.ravel(order='F').nonzero()[0][-ask.nodes:]\n"
        "sys.exit(mw.main(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), "place", "--machine", "mesh:4x4", "--allocator", "last"],
        input='{"op":"allocate","id":1,"nodes":2}\n', capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"base":[2,3],"dims":[2,1]' in done.stdout
