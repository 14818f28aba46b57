"""Environments for agents that learn, by the interface of Gymnasium: an optional part, `pip install meshwork[gym]`.

In both an episode is the first so many jobs of a workload, from the first arrival until all of them have started. The reward
of a step is minus the time that all waiting jobs together waited since the last one, in the unit of the workload's clock
(seconds, for a log): the return of an episode is minus the sum of the waits of its jobs, whatever the agent does, so that
minus the return over the number of jobs is the metric `wait` of a study. Nobody may wait for ever: where no job runs and
none will arrive, waiting starts the oldest job. An episode has therefore at most three steps for each of its jobs.

Seeds are replications: the same seed gives the same jobs that a study has in that replication.

All numbers of an observation are as they are, neither scaled nor cut: processors from 0 to those of the machine, times in
the unit of the workload's clock. Where a job ends is seen by its estimate alone.

Importing this module registers `meshwork/Allocation-v0` and `meshwork/Scheduling-v0` with Gymnasium; without other words
they are a mesh of 8 × 8 nodes with 200 jobs of the model of Lublin and Feitelson.

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
    """What an environment is made of, and what its memory means."""

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
        # Time is that of the agent: nothing ends a run but its jobs.
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
        # Processors, and two times.
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
        """Begin an episode: with a seed, the jobs of that replication, and else of one that is drawn."""
        super().reset(seed=seed, options=options)
        episode = int(self.np_random.integers(2**31)) if seed is None else seed
        self._kind.native.reset([episode])
        self._steps = 0
        return self._seen(), self._info(False)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do what is wanted, and let time pass until the next decision."""
        reward, terminated, invalid = self._kind.native.step_one(int(action))
        self._steps += 1
        if self._max_steps is not None and self._steps >= self._max_steps:
            # What has not started yet counts too: an episode that is cut off must not be worth more than a whole one.
            wait = int(self._kind.actions.n) - 1
            while not terminated:
                more, terminated, _ = self._kind.native.step_one(wait)
                reward += more
        return self._seen(), reward, terminated, False, self._info(invalid)

    def action_masks(self) -> NDArray[numpy.int8]:
        """Give which actions are possible now, where `masks` is on."""
        if not self._masks:
            raise InputError("this environment was made without masks: make it with `masks=True`")
        mask: NDArray[numpy.int8] = self._kind.mask[0].view(numpy.int8).copy()
        return mask

    def render(self) -> str:
        """Give the instant and the observation as text."""
        seen = "\n".join(f"{key}: {value!r}" for key, value in self._seen().items())
        return f"at {self._kind.outcome[0, 1]}\n{seen}"


class AllocationEnv(_Env):
    """Where does the next job go?

    Jobs are served in order of arrival. An observation has `free`, which nodes are free, by coordinates; `request`, the
    sides of the block that the oldest waiting job asks for; `waiting`, how many jobs wait; and `remaining`, by coordinates,
    for how long each node is expected to be held, 0 where it is free or held for longer than was said. An action is the
    number of the node at which the block begins (dimension 0 runs fastest), and the one after the last node is to wait until
    something is given back, or where nothing is held, until a job arrives; so is any place that is not free, of which
    `info["invalid"]` tells. Where nothing is held and no job will arrive, waiting starts the job at node 0.

    Parameters
    ----------
    machine
        A mesh, a torus or a hypercube.
    workload
        As for a `Study`.
    jobs
        How many jobs an episode has: the first of the workload, or all of them if it has fewer.
    masks
        Whether `info["action_mask"]` says which places are free; it takes a search in each step.
    max_steps
        After how many steps the agent is asked no more: the rest of the episode is waited through, and counts in the last
        reward.
    render_mode
        `"ansi"`, or nothing.
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
    """Which job next?

    An observation has `jobs`, a row for each of the oldest `window` waiting jobs with its processors, its estimate and how
    long it has waited; `free`, how many processors are free; `waiting`, how many jobs wait; and `running`, a row for each of
    the `running` jobs that are expected to end first, with the processors that it holds, for how long it is expected to go
    on and for how long it has run. Rows of nobody are 0. An action is the place in the window of the job that starts, where
    the allocator finds room for it; the one after the last is to wait for the next arrival or departure, and so is any job
    that has no room now. Where there will be neither, waiting starts the oldest job.

    Parameters
    ----------
    machine, workload, jobs, masks, max_steps, render_mode
        As for `AllocationEnv`.
    allocator
        Who says where a job goes.
    window
        How many waiting jobs the agent sees.
    running
        How many running jobs it sees.
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
        """Begin an episode in each environment: with a seed *s*, replications *s*, *s* + 1, …

        Without one, replications are drawn: from the seed that was given last, if one was. The next episode of each
        environment is that many replications later as there are environments.
        """
        super().reset(seed=seed if isinstance(seed, int) else None, options=options)
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        seeds = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
        drawn = (int(self.np_random.integers(2**31)) if one is None else int(one) for one in seeds)
        self._kind.native.reset(list(drawn))
        return self._kind.seen(), self._info()

    def step(self, actions: Any) -> tuple[Observation, Any, Any, Any, dict[str, Any]]:
        """Do an action in each environment; where an episode has ended, the next one begins instead."""
        self._kind.native.step(numpy.asarray(actions).tolist())
        outcome = self._kind.outcome
        truncated = numpy.zeros(self.num_envs, dtype=bool)
        return self._kind.seen(), outcome[:, 0].copy(), outcome[:, 2] == 1.0, truncated, self._info()


class AllocationVectorEnv(_VectorEnv):
    """Environments as `AllocationEnv`, side by side, stepped by threads without the lock of the interpreter.

    Parameters
    ----------
    num_envs
        How many.
    threads
        How many step them; 0 is one for each processor.

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
    """Environments as `SchedulingEnv`, side by side, stepped by threads without the lock of the interpreter.

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
