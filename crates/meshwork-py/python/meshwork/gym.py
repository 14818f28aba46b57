"""Environments for agents that learn, by the interface of Gymnasium: an optional part, `pip install meshwork[gym]`.

In both an episode is so many jobs of a workload, an observation is what a scheduler could know, and the reward of a step is
minus the time that all waiting jobs together waited since the last one: the return of an episode is minus the sum of the
waits of its jobs. Seeds are replications: the same seed gives the same jobs that a study has in that replication.
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
        window: int | None,
        masks: bool,
        keys: Mapping[str, Any],
    ) -> None:
        for name, number in (("jobs", jobs), ("window", 1 if window is None else window), ("num_envs", count)):
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
            }
        )
        self.actions = spaces.Discrete(nodes + 1)
        count = len(self.free)
        # The first coordinate runs fastest in memory, and is the first index of the array.
        backwards = self.free.view(numpy.int8).reshape(count, *reversed(sides))
        self.grid = backwards.transpose(0, *range(len(sides), 0, -1))
        self.sides = self.numbers[:, :-1]
        self.waiting = self.numbers[:, -1:]

    def seen(self) -> Observation:
        return {"free": self.grid.copy(), "request": self.sides.astype(numpy.int64), "waiting": self.waiting.copy()}


class _Scheduling(_Kind):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.window = int(given[5])
        self.observation = spaces.Dict(
            {
                "jobs": spaces.Box(0, _LARGEST, (self.window, 3), dtype=numpy.float64),
                "free": spaces.Box(0, _LARGEST, (1,), dtype=numpy.float64),
                "waiting": spaces.Box(0, _LARGEST, (1,), dtype=numpy.float64),
            }
        )
        self.actions = spaces.Discrete(self.window + 1)
        self.jobs = self.numbers[:, :-2].reshape(len(self.numbers), self.window, 3)

    def seen(self) -> Observation:
        numbers = self.numbers
        return {"jobs": self.jobs.copy(), "free": numbers[:, -2:-1].copy(), "waiting": numbers[:, -1:].copy()}


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
        truncated = self._max_steps is not None and self._steps >= self._max_steps and not terminated
        return self._seen(), reward, terminated, truncated, self._info(invalid)

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
    sides of the block that the oldest waiting job asks for; and `waiting`, how many jobs wait. An action is the number of
    the node at which the block begins (dimension 0 runs fastest), and the one after the last node is to wait until
    something is given back; so is any place that is not free, of which `info["invalid"]` tells.

    Parameters
    ----------
    machine
        A mesh, a torus or a hypercube.
    workload
        As for a `Study`.
    jobs
        How many jobs are started in an episode.
    masks
        Whether `info["action_mask"]` says which places are free; it takes a search in each step.
    max_steps
        After how many steps an episode is cut off: an agent may wait for ever.
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
        max_steps: int | None = 100_000,
        render_mode: str | None = None,
        **keys: Any,
    ) -> None:
        super().__init__(_Allocation(machine, workload, 1, 1, jobs, None, masks, keys), masks, max_steps, render_mode)


class SchedulingEnv(_Env):
    """Which job next?

    An observation has `jobs`, a row for each of the oldest `window` waiting jobs with its processors, its estimate and how
    long it has waited; `free`, how many processors are free; and `waiting`, how many jobs wait. An action is the place in
    the window of the job that starts, where the allocator finds room for it; the one after the last is to wait for the next
    arrival or departure, and so is any job that has no room now.

    Parameters
    ----------
    machine, workload, jobs, masks, max_steps, render_mode
        As for `AllocationEnv`.
    allocator
        Who says where a job goes.
    window
        How many jobs the agent sees.
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
        jobs: int = 1000,
        masks: bool = False,
        max_steps: int | None = 100_000,
        render_mode: str | None = None,
        **keys: Any,
    ) -> None:
        if allocator is not None:
            keys["allocator"] = allocator
        super().__init__(_Scheduling(machine, workload, 1, 1, jobs, window, masks, keys), masks, max_steps, render_mode)


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
        """Begin an episode in each environment: with a seed *s*, replications *s*, *s* + 1, …"""
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        seeds = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
        self._kind.native.reset([0 if one is None else int(one) for one in seeds])
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
    """Environments as `SchedulingEnv`, side by side, stepped by threads without the lock of the interpreter."""

    def __init__(
        self,
        num_envs: int,
        machine: Machine | Mapping[str, Any],
        workload: object,
        *,
        allocator: object = None,
        window: int = 16,
        threads: int = 0,
        jobs: int = 1000,
        masks: bool = False,
        **keys: Any,
    ) -> None:
        if allocator is not None:
            keys["allocator"] = allocator
        super().__init__(_Scheduling(machine, workload, num_envs, threads, jobs, window, masks, keys), num_envs, masks)
