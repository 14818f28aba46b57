"""Environments pass Gymnasium's own check and agree with simulations of the same jobs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import meshwork as mw
from meshwork import gym

from .conftest import SYNTHETIC

LUBLIN = {"name": "lublin", "jobs": 120, "arrival_scale": 0.2}


@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("machine", [mw.mesh(6, 5), mw.torus(4, 3, 2), mw.hypercube(4)])
def test_gymnasium_has_nothing_against_them(machine: mw.Machine, masks: bool) -> None:
    with warnings.catch_warnings():
        # Other render modes need an environment that was made by its name: see below.
        warnings.filterwarnings("error")
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(gym.AllocationEnv(machine, LUBLIN, masks=masks, render_mode="ansi"), skip_render_check=False)
        check_env(gym.SchedulingEnv(machine, LUBLIN, masks=masks, window=4, render_mode="ansi"))


@pytest.mark.parametrize("machine", [mw.mesh(8, 6), mw.torus(4, 4, 3)])
def test_an_agent_that_does_first_fit_waits_as_first_fit(machine: mw.Machine) -> None:
    env = gym.AllocationEnv(machine, LUBLIN, masks=True)
    study = mw.Study(machine=machine, workload=LUBLIN, allocator={"name": "first_fit", "rotation": "never"}, replications=3)
    results = study.run()
    for replication in range(3):
        _, info = env.reset(seed=replication)
        total, over, places = 0.0, False, []
        while not over:
            action = int(np.flatnonzero(info["action_mask"])[0])
            if action < machine.topology.nodes:
                places.append(machine.topology.coordinates(action))
            _, reward, over, truncated, info = env.step(action)
            assert not truncated
            assert not info["invalid"]
            total += float(reward)
        jobs = results.jobs(1, replication)
        assert np.isclose(-total, jobs["wait"].sum(), rtol=1e-9)
        axes = ["x", "y", "z"][: len(places[0])]
        assert [list(place) for place in places] == [
            [int(jobs[axis][row]) for axis in axes] for row in np.argsort(jobs["start"], kind="stable")
        ]


@pytest.mark.parametrize(("machine", "allocator"), [(mw.mesh(8, 8), "best_fit"), (mw.flat(64), "naive")])
def test_an_agent_that_starts_the_oldest_waits_as_first_come_first_served(machine: mw.Machine, allocator: str) -> None:
    env = gym.SchedulingEnv(machine, LUBLIN, allocator=allocator, window=4)
    results = mw.Study(machine=machine, workload=LUBLIN, allocator=allocator, replications=2).run()
    for replication in range(2):
        env.reset(seed=replication)
        total, over = 0.0, False
        while not over:
            _, reward, over, _, _ = env.step(0)
            total += float(reward)
        assert np.isclose(-total, results.jobs(1, replication)["wait"].sum(), rtol=1e-9)


@mw.register
class OneAtATime:
    """The oldest job, alone on an empty machine."""

    serves_all = True

    def schedule(self, cluster: mw.Cluster) -> None:
        head = cluster.head
        if head is not None and not len(cluster.running):
            cluster.start(head)


@mw.register
class WindowGreedy:
    """The first of the oldest eight jobs that can be placed."""

    serves_all = True

    def schedule(self, cluster: mw.Cluster) -> None:
        while any(cluster.start(job) for job in cluster.waiting[:8].tolist()):
            pass


@mw.register
class AtLast:
    """No job before all jobs have arrived, and then one job at a time."""

    serves_all = True

    def __init__(self, jobs: int = 120) -> None:
        self.jobs, self.arrived = jobs, 0

    def schedule(self, cluster: mw.Cluster) -> None:
        self.arrived += len(cluster.arrivals)
        head = cluster.head
        if head is not None and self.arrived == self.jobs and not len(cluster.running):
            cluster.start(head)


Agent = Callable[[dict[str, Any], dict[str, Any], np.random.Generator], int]


def greedy(seen: dict[str, Any], info: dict[str, Any], draw: np.random.Generator) -> int:
    return int(np.flatnonzero(info["action_mask"])[0])


def drawn(seen: dict[str, Any], info: dict[str, Any], draw: np.random.Generator) -> int:
    return int(draw.choice(np.flatnonzero(info["action_mask"])))


def lazy(seen: dict[str, Any], info: dict[str, Any], draw: np.random.Generator) -> int:
    """An agent that starts a job only if none runs."""
    busy = seen["running"][:, 0].any() if "running" in seen else not seen["free"].all()
    return len(info["action_mask"]) - 1 if busy else greedy(seen, info, draw)


def idle(seen: dict[str, Any], info: dict[str, Any], draw: np.random.Generator) -> int:
    return len(info["action_mask"]) - 1


def mean_wait(env: Any, agent: Agent, seed: int, jobs: int) -> float:
    """Return minus the return of an episode over its number of jobs; the episode must end."""
    seen, info = env.reset(seed=seed)
    draw, total = np.random.default_rng(seed), 0.0
    for _ in range(3 * jobs):
        seen, reward, over, truncated, info = env.step(agent(seen, info, draw))
        assert not truncated
        total += float(reward)
        if over:
            return -total / jobs
    raise AssertionError("the episode does not end")


def test_returns_are_in_the_order_of_mean_waits() -> None:
    """An agent that does nothing has the worst return, and each agent has that of a scheduler like it."""
    keys: dict[str, Any] = {"machine": mw.flat(64), "workload": LUBLIN}
    schedulers = {"greedy": "window_greedy", "lazy": "one_at_a_time", "idle": "at_last"}
    agents: dict[str, Agent] = {"greedy": greedy, "random": drawn, "lazy": lazy, "idle": idle}
    env = gym.SchedulingEnv(**keys, window=8, masks=True)
    for seed in range(3):
        waits = {name: mean_wait(env, agent, seed, 120) for name, agent in agents.items()}
        for name, scheduler in schedulers.items():
            study = mw.Study(**keys, scheduler=scheduler, metrics=["wait"], replications=3)
            runs = study.run().runs.to_dicts()
            want = next(row["value"] for row in runs if row["replication"] == seed)
            assert np.isclose(waits[name], want, rtol=1e-9), (name, seed)
        assert waits["greedy"] < waits["random"] < waits["lazy"] < waits["idle"], (seed, waits)


@pytest.mark.parametrize("workload", [LUBLIN, SYNTHETIC])
def test_doing_nothing_pays_least_where_jobs_are_placed(workload: dict[str, Any]) -> None:
    """The agent that does nothing has the worst return, also with an endless workload."""
    env = gym.AllocationEnv(mw.mesh(6, 6), workload, jobs=100, masks=True)
    for seed in range(3):
        first, anywhere, late, last = (mean_wait(env, agent, seed, 100) for agent in (greedy, drawn, lazy, idle))
        # An agent that tries places at random is sometimes luckier than first fit.
        assert max(first, anywhere) < late < last


def test_more_may_wait_than_a_scheduler_may_leave_waiting() -> None:
    """A run ends if 10,000 jobs wait beside an idle machine, but an episode goes on."""
    jobs = {"name": "lublin", "jobs": 10_050, "arrival_scale": 0.2}
    env = gym.SchedulingEnv(mw.flat(64), jobs, jobs=10_050, window=1, masks=True)
    assert mean_wait(env, idle, 0, 10_050) > 0


def test_an_episode_that_is_cut_off_is_worth_no_more() -> None:
    keys: dict[str, Any] = {"machine": mw.flat(64), "workload": LUBLIN, "window": 8, "masks": True}
    whole = mean_wait(gym.SchedulingEnv(**keys), idle, 1, 120)
    assert mean_wait(gym.SchedulingEnv(**keys, max_steps=5), idle, 1, 120) == pytest.approx(whole)


def test_observations_have_the_running_jobs() -> None:
    jobs = {"submit": [0.0, 0.0, 1.0], "runtime": [5.0, 9.0, 2.0], "estimate": [8.0, 20.0, 2.0], "nodes": [4, 2, 4]}
    env = gym.SchedulingEnv(mw.flat(8, speed=2.0), jobs, window=2, running=3)
    env.reset(seed=0)
    env.step(0)
    seen, _, _, _, info = env.step(0)
    # Jobs of 4 and 2 processors that are expected to run for 4 and 10 at twice the speed, seen at time 1.
    assert info["now"] == 1.0
    assert seen["running"].tolist() == [[4.0, 3.0, 1.0], [2.0, 9.0, 1.0], [0.0, 0.0, 0.0]]
    grid = gym.AllocationEnv(mw.mesh(4, 4), {**jobs, "nodes": [4, 4, 16]})
    grid.reset(seed=0)
    grid.step(0)
    seen = grid.step(2)[0]
    assert seen["remaining"][0, 0] == 7.0
    assert seen["remaining"][2, 1] == 19.0
    assert seen["remaining"][0, 2] == 0.0
    seen = grid.step(16)[0]
    assert seen["remaining"][0, 0] == 0.0, "it ended before its estimate"


@pytest.mark.parametrize("name", ["Allocation", "Scheduling"])
def test_they_have_names(name: str) -> None:
    env = gymnasium.make(f"meshwork/{name}-v0", masks=True, render_mode="ansi", max_steps=50)
    seen, _ = env.reset(seed=3)
    assert env.observation_space.contains(seen)
    with warnings.catch_warnings():
        warnings.filterwarnings("error")
        check_env(gymnasium.make(f"meshwork/{name}-v0", machine=mw.mesh(4, 4), workload=LUBLIN).unwrapped)
    many = gymnasium.make_vec(f"meshwork/{name}-v0", num_envs=3, threads=1, vectorization_mode="vector_entry_point")
    seen, _ = many.reset(seed=3)
    assert many.observation_space.contains(seen)


@pytest.mark.parametrize("kind", [gym.AllocationVectorEnv, gym.SchedulingVectorEnv])
def test_a_vector_is_the_same_for_the_same_seed(kind: Any) -> None:
    def history(threads: int) -> list[Any]:
        envs = kind(3, mw.mesh(4, 4), LUBLIN, jobs=10, threads=threads)
        envs.action_space.seed(5)
        said: list[Any] = []
        for seed in (7, None, [4, None, 6], None):
            seen, info = envs.reset(seed=seed)
            for _ in range(40):
                said += [value.tolist() for value in seen.values()]
                seen, reward, over, _, info = envs.step(envs.action_space.sample())
                said += [reward.tolist(), over.tolist(), info["now"].tolist()]
        return said

    assert history(1) == history(2) == history(3)


def test_a_vector_is_its_environments_side_by_side() -> None:
    keys: dict[str, Any] = {"machine": mw.mesh(6, 6), "workload": LUBLIN, "jobs": 20, "masks": True}
    for threads in (1, 2):
        envs = gym.AllocationVectorEnv(3, threads=threads, **keys)
        singles = [gym.AllocationEnv(**keys) for _ in range(3)]
        seen, info = envs.reset(seed=5)
        alone = [env.reset(seed=5 + at) for at, env in enumerate(singles)]
        episodes, over = [5, 6, 7], [False] * 3
        draw = np.random.default_rng(1)
        for _ in range(300):
            for at in range(3):
                for key, value in alone[at][0].items():
                    assert (seen[key][at] == value).all()
                assert (info["action_mask"][at] == alone[at][1]["action_mask"]).all()
                assert info["now"][at] == alone[at][1]["now"]
            actions = [int(draw.choice(np.flatnonzero(mask))) for mask in info["action_mask"]]
            seen, reward, terminated, _, info = envs.step(np.array(actions))
            for at, env in enumerate(singles):
                if over[at]:
                    episodes[at] += 3
                    alone[at] = env.reset(seed=episodes[at])
                    assert (reward[at], terminated[at]) == (0.0, False)
                    over[at] = False
                    continue
                one, alone_reward, over[at], _, alone_info = env.step(actions[at])
                alone[at] = one, alone_info
                assert (reward[at], bool(terminated[at])) == (alone_reward, over[at])
        assert max(episodes) > 7, "episodes have ended"


def test_a_vector_of_scheduling() -> None:
    envs = gym.SchedulingVectorEnv(4, mw.flat(32), LUBLIN, window=3, threads=2)
    seen, _ = envs.reset(seed=1)
    assert isinstance(envs.observation_space, gymnasium.spaces.Dict)
    assert envs.observation_space.contains(seen)
    seen, reward, terminated, truncated, _ = envs.step(envs.action_space.sample())
    assert seen["jobs"].shape == (4, 3, 3)
    assert reward.shape == terminated.shape == truncated.shape == (4,)


def test_what_was_seen_does_not_change() -> None:
    env = gym.AllocationEnv(mw.mesh(4, 4), LUBLIN, masks=True)
    seen, info = env.reset(seed=0)
    before = {key: value.copy() for key, value in seen.items()}
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert all((seen[key] == before[key]).all() for key in seen)


def test_an_allocator_in_python_serves_an_environment() -> None:
    @mw.register
    class Lowest:
        """The free nodes with the lowest numbers."""

        asks, finds, stateless = "nodes", "any_nodes", True

        def choose(self, ask: Any) -> object:
            return ask.site.free.ravel(order="F").nonzero()[0][: ask.nodes]

    keys: dict[str, Any] = {"workload": LUBLIN, "jobs": 30, "window": 2}
    for machine in (mw.mesh(6, 6),):
        envs = gym.SchedulingVectorEnv(4, machine, allocator="lowest", threads=2, **keys)
        envs.reset(seed=1)
        total = sum(envs.step([0] * 4)[1].sum() for _ in range(40))
        twin = gym.SchedulingVectorEnv(4, machine, allocator="naive", threads=1, **keys)
        twin.reset(seed=1)
        assert total == sum(twin.step([0] * 4)[1].sum() for _ in range(40))


def test_what_is_wrong_is_a_sentence() -> None:
    env = gym.AllocationEnv(mw.mesh(4, 4), LUBLIN)
    env.reset(seed=0)
    cases: list[tuple[Any, str]] = [
        (lambda: env.step(17), "the action is 17, but must be from 0 to 16"),
        (env.action_masks, "this environment was made without masks: make it with `masks=True`"),
        (lambda: gym.AllocationEnv(mw.flat(4), LUBLIN), "on a flat machine any processors will do"),
        (
            lambda: gym.AllocationEnv(mw.sites([mw.mesh(4, 4)] * 2), LUBLIN),
            "an environment has one site, and this machine has 2",
        ),
        (lambda: gym.SchedulingEnv(mw.flat(4), LUBLIN, window=0), "`window` is 0, but must be a whole number from 1"),
        (
            lambda: gym.SchedulingEnv(mw.flat(4), LUBLIN, sweep={"seed": [1, 2]}),
            "an environment is one scenario, and this study has 2",
        ),
        (lambda: gym.AllocationVectorEnv(2, mw.mesh(4, 4), LUBLIN).step([0]), "there are 2 environments, and 1 actions"),
    ]
    for act, sentence in cases:
        with pytest.raises(mw.MeshworkError) as raised:
            act()
        assert sentence in str(raised.value)
    over = gym.SchedulingEnv(mw.flat(4), {"submit": [0], "runtime": [1], "nodes": [1]})
    over.reset(seed=0)
    assert over.step(0)[2]
    with pytest.raises(mw.RunError, match="the episode has ended: reset the environment"):
        over.step(0)
