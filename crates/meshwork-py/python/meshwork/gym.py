"""Reinforcement learning environments with the interface of Gymnasium (`pip install meshwork[gym]`).

An episode is the first `jobs` jobs of a workload, from the first arrival until all of them have started. The reward of
a step is minus the total waiting time of all jobs since the last step, in the unit of the workload's clock (seconds,
for a log). The return of an episode is therefore minus the sum of the waits of its jobs, and minus the return over the
number of jobs is the metric `wait` of a study. No job waits forever: if no job runs and none will arrive, waiting
starts the oldest job. An episode therefore has at most three steps for each of its jobs.

A seed selects a replication: the jobs are those of that replication of the study.

Observations are neither scaled nor clipped: processors from 0 to the size of the machine, times in the unit of the
workload's clock. The end of a job is known only by its estimate.

Importing this module registers `meshwork/Allocation-v0` and `meshwork/Scheduling-v0` with Gymnasium. By default they
have a mesh of 8 × 8 nodes and 200 jobs of the model of Lublin and Feitelson.

Examples
--------
>>> import gymnasium, meshwork.gym
>>> env = gymnasium.make("meshwork/Scheduling-v0")
>>> seen, info = env.reset(seed=0)
>>> seen["jobs"].shape, seen["running"].shape
((16, 3), (16, 3))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ._errors import InputError
from ._machine import Machine
from ._study import Study

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._meshwork import Envs

Observation = dict[str, Any]

_LARGEST = 1e15


class _Kind:
    """The study of an environment, and the layout of its observations in memory."""

    observation: spaces.Dict
    actions: spaces.Discrete

    def __init__(
        self,
        machine: Machine | Mapping[str, Any],
        workload: object,
        count: int,
        threads: int,
        jobs: int,
        window: tuple[int, int] | None,
        masks: bool,
        keys: Mapping[str, Any],
    ) -> None:
        least, seen = window or (1, 1)
        for name, number in (("jobs", jobs), ("window", least), ("running", seen), ("num_envs", count)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise InputError(f"`{name}` is {number!r}, but must be a whole number from 1")
        # The run has no time limit: an episode ends with its jobs.
        self.study = Study(machine=machine, workload=workload, jobs=jobs, **keys)
        self.native: Envs = self.study._native.envs(count, threads, jobs, window, masks)
        self.free, self.numbers, self.mask, self.outcome = self.native.arrays()

    def seen(self) -> Observation:
        raise NotImplementedError


class _Allocation(_Kind):
    def __init__(self, machine: Machine | Mapping[str, Any], *rest: Any) -> None:
        super().__init__(machine, *rest)
        own = self.study.scenarios()[0]["machine"]
        self.topology = Machine(own).topology
        sides, nodes = self.topology.dims, self.topology.nodes
        high = numpy.array(sides, dtype=numpy.int64)
        self.observation = spaces.Dict(
            {
                "free": spaces.MultiBinary(sides),
                "request": spaces.Box(0, high, dtype=numpy.int64),
                "waiting": spaces.Box(0, _LARGEST, (1,), dtype=numpy.float64),
                "remaining": spaces.Box(0, _LARGEST, sides, dtype=numpy.float64),
            }
        )
        self.actions = spaces.Discrete(nodes + 1)
        count, dimensions = len(self.free), len(sides)

        def by_coordinates(each: NDArray[Any]) -> NDArray[Any]:
            # The first coordinate runs fastest in memory, and is the first index of the array.
            backwards = each.reshape(count, *reversed(sides))
            turned: NDArray[Any] = backwards.transpose(0, *range(dimensions, 0, -1))
            return turned

        self.grid = by_coordinates(self.free.view(numpy.int8))
        self.sides = self.numbers[:, :dimensions]
        self.waiting = self.numbers[:, dimensions : dimensions + 1]
        self.remaining = self.numbers[:, dimensions + 1 :]
        self.by_coordinates = by_coordinates

    def seen(self) -> Observation:
        return {
            "free": self.grid.copy(),
            "request": self.sides.astype(numpy.int64),
            "waiting": self.waiting.copy(),
            "remaining": self.by_coordinates(self.remaining.copy()),
        }


class _Scheduling(_Kind):
    def __init__(self, machine: Machine | Mapping[str, Any], *rest: Any) -> None:
        super().__init__(machine, *rest)
        self.window, self.running = rest[4]
        nodes = Machine(self.study.scenarios()[0]["machine"]).topology.nodes
        # The number of processors, and two times.
        each = numpy.array([nodes, _LARGEST, _LARGEST])
        self.observation = spaces.Dict(
            {
                "jobs": spaces.Box(0, numpy.tile(each, (self.window, 1)), dtype=numpy.float64),
                "free": spaces.Box(0, nodes, (1,), dtype=numpy.float64),
                "waiting": spaces.Box(0, _LARGEST, (1,), dtype=numpy.float64),
                "running": spaces.Box(0, numpy.tile(each, (self.running, 1)), dtype=numpy.float64),
            }
        )
        self.actions = spaces.Discrete(self.window + 1)
        self.rest = self.window * 3

    def seen(self) -> Observation:
        numbers, rest = self.numbers, self.rest
        count = len(numbers)
        return {
            "jobs": numbers[:, :rest].reshape(count, self.window, 3).copy(),
            "free": numbers[:, rest : rest + 1].copy(),
            "waiting": numbers[:, rest + 1 : rest + 2].copy(),
            "running": numbers[:, rest + 2 :].reshape(count, self.running, 3).copy(),
        }


class _Env(gymnasium.Env[Observation, Any]):
    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012  (Gymnasium's own way)

    def __init__(self, kind: _Kind, masks: bool, max_steps: int | None, render_mode: str | None) -> None:
        self._kind, self._masks, self._max_steps = kind, masks, max_steps
        self._steps = 0
        self.observation_space = kind.observation
        self.action_space = kind.actions
        self.render_mode = render_mode

    def _seen(self) -> Observation:
        return {key: value[0] for key, value in self._kind.seen().items()}

    def _info(self, invalid: bool) -> dict[str, Any]:
        info: dict[str, Any] = {"now": float(self._kind.outcome[0, 1]), "invalid": invalid}
        if self._masks:
            info["action_mask"] = self._kind.mask[0].view(numpy.int8).copy()
        return info

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begin the episode of the replication `seed`, or of a random replication."""
        super().reset(seed=seed, options=options)
        episode = int(self.np_random.integers(2**31)) if seed is None else seed
        self._kind.native.reset([episode])
        self._steps = 0
        return self._seen(), self._info(False)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action, and advance to the next decision."""
        reward, terminated, invalid = self._kind.native.step_one(int(action))
        self._steps += 1
        if self._max_steps is not None and self._steps >= self._max_steps:
            # Outstanding waits are charged too: a truncated episode must not be worth more than a complete one.
            wait = int(self._kind.actions.n) - 1
            while not terminated:
                more, terminated, _ = self._kind.native.step_one(wait)
                reward += more
        return self._seen(), reward, terminated, False, self._info(invalid)

    def action_masks(self) -> NDArray[numpy.int8]:
        """Return for each action whether it is possible; the environment must have been made with `masks=True`."""
        if not self._masks:
            raise InputError("this environment was made without masks: make it with `masks=True`")
        mask: NDArray[numpy.int8] = self._kind.mask[0].view(numpy.int8).copy()
        return mask

    def render(self) -> str:
        """Return the current time and the observation as text."""
        seen = "\n".join(f"{key}: {value!r}" for key, value in self._seen().items())
        return f"at {self._kind.outcome[0, 1]}\n{seen}"


class AllocationEnv(_Env):
    """An environment in which the agent places jobs.

    Jobs are served in order of arrival. An observation has `free`, whether each node is free, by coordinates;
    `request`, the sides of the block requested by the oldest waiting job; `waiting`, the number of waiting jobs; and
    `remaining`, by coordinates, the time until each node is expected to be released, 0 if it is free or its job is
    beyond its estimate. An action is the number of the node at which the block begins (dimension 0 runs fastest). The
    action after the last node waits for the next departure or, if no job runs, for the next arrival. An action whose
    block is not free waits too, and sets `info["invalid"]`. If no job runs and none will arrive, waiting starts the job
    at node 0.

    Parameters
    ----------
    machine
        A mesh, a torus or a hypercube.
    workload
        As for a `Study`.
    jobs
        The number of jobs of an episode: the first ones of the workload, or all if it has fewer.
    masks
        Whether `info["action_mask"]` has the possible actions; this takes a search in each step.
    max_steps
        The maximum number of steps. The episode is then truncated, and its outstanding waits are charged in the last
        reward.
    render_mode
        `"ansi"` or `None`.
    **keys
        Other keys of a study, such as `seed`.

    Examples
    --------
    >>> import meshwork as mw, meshwork.gym
    >>> env = mw.gym.AllocationEnv(mw.mesh(4, 4), {"submit": [0, 1], "runtime": [5, 5], "nodes": [4, 16]})
    >>> seen, info = env.reset(seed=0)
    >>> seen["request"].tolist(), info["now"]
    ([2, 2], 0.0)
    >>> seen, reward, terminated, truncated, info = env.step(0)
    >>> seen["request"].tolist(), info["now"], terminated
    ([4, 4], 1.0, False)
    >>> seen, reward, terminated, truncated, info = env.step(16)
    >>> reward, info["now"]
    (-4.0, 5.0)
    """

    def __init__(
        self,
        machine: Machine | Mapping[str, Any],
        workload: object,
        *,
        jobs: int = 1000,
        masks: bool = False,
        max_steps: int | None = None,
        render_mode: str | None = None,
        **keys: Any,
    ) -> None:
        super().__init__(_Allocation(machine, workload, 1, 1, jobs, None, masks, keys), masks, max_steps, render_mode)


class SchedulingEnv(_Env):
    """An environment in which the agent selects the next job.

    An observation has `jobs`, a row for each of the oldest `window` waiting jobs with its processors, its estimate and
    its waiting time; `free`, the number of free processors; `waiting`, the number of waiting jobs; and `running`, a row
    for each of the `running` jobs that are expected to end first, with its processors, expected remaining time and
    elapsed time. Unused rows are 0. An action is the position in the window of the job to start, which the allocator
    places. The action after the last position waits for the next arrival or departure, and so does an action whose job
    cannot be placed now. If there will be neither, waiting starts the oldest job.

    Parameters
    ----------
    machine, workload, jobs, masks, max_steps, render_mode
        As for `AllocationEnv`.
    allocator
        The allocator that places the jobs.
    window
        The number of waiting jobs that the agent observes.
    running
        The number of running jobs that the agent observes.
    **keys
        Other keys of a study.

    Examples
    --------
    >>> import meshwork as mw, meshwork.gym
    >>> env = mw.gym.SchedulingEnv(mw.flat(8), {"submit": [0, 0], "runtime": [5, 5], "nodes": [8, 4]}, window=2)
    >>> seen, info = env.reset(seed=0)
    >>> seen["jobs"].tolist()
    [[8.0, 5.0, 0.0], [4.0, 5.0, 0.0]]
    >>> env.step(1)[0]["free"].tolist()
    [4.0]
    """

    def __init__(
        self,
        machine: Machine | Mapping[str, Any],
        workload: object,
        *,
        allocator: object = None,
        window: int = 16,
        running: int = 16,
        jobs: int = 1000,
        masks: bool = False,
        max_steps: int | None = None,
        render_mode: str | None = None,
        **keys: Any,
    ) -> None:
        if allocator is not None:
            keys["allocator"] = allocator
        kind = _Scheduling(machine, workload, 1, 1, jobs, (window, running), masks, keys)
        super().__init__(kind, masks, max_steps, render_mode)


class _VectorEnv(VectorEnv[Observation, Any, Any]):
    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012  (Gymnasium's own way)

    def __init__(self, kind: _Kind, count: int, masks: bool) -> None:
        self._kind, self._masks = kind, masks
        self.num_envs = count
        self.single_observation_space = kind.observation
        self.single_action_space = kind.actions
        self.observation_space = batch_space(kind.observation, count)
        self.action_space = batch_space(kind.actions, count)

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"now": self._kind.outcome[:, 1].copy(), "invalid": self._kind.outcome[:, 3] == 1.0}
        if self._masks:
            info["action_mask"] = self._kind.mask.view(numpy.int8).copy()
        return info

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in each environment: with a seed *s*, those of the replications *s*, *s* + 1, …

        Without a seed, replications are drawn, from the last seed if there was one. The replication of an environment
        grows by the number of environments from one episode to the next.
        """
        super().reset(seed=seed if isinstance(seed, int) else None, options=options)
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        seeds = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
        drawn = (int(self.np_random.integers(2**31)) if one is None else int(one) for one in seeds)
        self._kind.native.reset(list(drawn))
        return self._kind.seen(), self._info()

    def step(self, actions: Any) -> tuple[Observation, Any, Any, Any, dict[str, Any]]:
        """Take an action in each environment; an environment whose episode has ended begins the next one instead."""
        self._kind.native.step(numpy.asarray(actions).tolist())
        outcome = self._kind.outcome
        truncated = numpy.zeros(self.num_envs, dtype=bool)
        return self._kind.seen(), outcome[:, 0].copy(), outcome[:, 2] == 1.0, truncated, self._info()


class AllocationVectorEnv(_VectorEnv):
    """Parallel environments like `AllocationEnv`, stepped by threads without the global interpreter lock.

    Parameters
    ----------
    num_envs
        The number of environments.
    threads
        The number of threads; 0 is one for each processor.

    Examples
    --------
    >>> import meshwork as mw, meshwork.gym
    >>> envs = mw.gym.AllocationVectorEnv(4, mw.mesh(8, 8), {"name": "lublin", "jobs": 100}, threads=2)
    >>> seen, _ = envs.reset(seed=1)
    >>> seen["free"].shape
    (4, 8, 8)
    """

    def __init__(
        self,
        num_envs: int,
        machine: Machine | Mapping[str, Any],
        workload: object,
        *,
        threads: int = 0,
        jobs: int = 1000,
        masks: bool = False,
        **keys: Any,
    ) -> None:
        super().__init__(_Allocation(machine, workload, num_envs, threads, jobs, None, masks, keys), num_envs, masks)


class SchedulingVectorEnv(_VectorEnv):
    """Parallel environments like `SchedulingEnv`, stepped by threads without the global interpreter lock.

    Examples
    --------
    >>> import meshwork as mw, meshwork.gym
    >>> envs = mw.gym.SchedulingVectorEnv(2, mw.flat(32), {"name": "lublin", "jobs": 50}, window=4, threads=1)
    >>> seen, _ = envs.reset(seed=1)
    >>> seen["jobs"].shape
    (2, 4, 3)
    """

    def __init__(
        self,
        num_envs: int,
        machine: Machine | Mapping[str, Any],
        workload: object,
        *,
        allocator: object = None,
        window: int = 16,
        running: int = 16,
        threads: int = 0,
        jobs: int = 1000,
        masks: bool = False,
        **keys: Any,
    ) -> None:
        if allocator is not None:
            keys["allocator"] = allocator
        kind = _Scheduling(machine, workload, num_envs, threads, jobs, (window, running), masks, keys)
        super().__init__(kind, num_envs, masks)


_USUAL = {
    "machine": {"topology": "mesh", "dims": [8, 8]},
    "workload": {"name": "lublin", "jobs": 200, "arrival_scale": 0.3},
}

for _name in ("Allocation", "Scheduling"):
    gymnasium.register(
        f"meshwork/{_name}-v0",
        entry_point=f"{__name__}:{_name}Env",
        vector_entry_point=f"{__name__}:{_name}VectorEnv",
        kwargs=_USUAL,
    )
