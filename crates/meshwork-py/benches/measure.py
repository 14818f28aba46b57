"""Measures the cost of the package in CPU seconds of this process or of processes that it starts.

Run it with a wheel that was built for release: ``python crates/meshwork-py/benches/measure.py``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import meshwork as mw
from meshwork import gym


def best(act: Callable[[], object], times: int = 5) -> float:
    """Return the least CPU seconds of several calls."""
    spent = []
    for _ in range(times):
        began = time.process_time()
        act()
        spent.append(time.process_time() - began)
    return min(spent)


def children(words: list[str], times: int = 3) -> float:
    """Return the least CPU seconds of several runs of a process."""
    spent = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def imports() -> None:
    """Measure the import, compared with an interpreter that imports nothing."""
    nothing, ours = children([sys.executable, "-c", ""], 10), children([sys.executable, "-c", "import meshwork"], 10)
    print(f"import meshwork: {1000 * (ours - nothing):.0f} ms, beside {1000 * nothing:.0f} ms of the interpreter")


def study() -> None:
    """Measure a study, compared with the command."""
    text = """
        machine = { topology = "torus", dims = [16, 16, 16] }
        scheduler = "easy"
        replications = 2
        [workload]
        name = "lublin"
        jobs = 20000
        [measure]
        metrics = ["wait"]
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(text)
        code = f"import meshwork as mw; mw.Study.from_toml({str(path)!r}).run(threads=1)"
        ours = children([sys.executable, "-c", code])
        theirs = children([sys.executable, "-m", "meshwork", "run", str(path), "--threads=1", "--quiet"])
    print(f"a study: {ours:.2f} s, by the command {theirs:.2f} s: {100 * (ours / theirs - 1):+.1f} %")


def rows() -> None:
    """Measure the conversion of a million jobs to a data frame."""
    count = 1_000_000
    jobs = {"submit": np.arange(count, dtype=float), "runtime": np.ones(count), "nodes": np.ones(count, dtype=int)}
    table = mw.Study(machine=mw.flat(4), workload=jobs, metrics=["wait"]).run().jobs()
    table.to_pandas()
    print(f"{len(table)} jobs into pandas, {len(table.column_names)} columns: {best(table.to_pandas):.3f} s")
    print(f"the same into polars: {best(table.to_polars):.3f} s")


def decisions() -> None:
    """Measure the cost of calling an allocator in Python, without its own code."""

    @mw.register
    class Fixed:
        """An allocator that always gives one block, in no time."""

        stateless = True

        def choose(self, ask: Any) -> object:
            return answer

    answer = ((0, 0, 0), (4, 4, 2))
    pool = mw.Pool(mw.torus(8, 8, 8), "fixed")
    times = 200_000

    def ask() -> None:
        can, wanted = pool.can, (4, 4, 2)
        for _ in range(times):
            can(wanted)

    print(f"decisions of an allocator in Python on 8 x 8 x 8: {times / best(ask):,.0f} per second")
    native = mw.Pool(mw.torus(8, 8, 8), "first_fit")

    def place() -> None:
        for _ in range(times):
            native.release(native.allocate((4, 4, 2)))  # type: ignore[arg-type]

    print(f"allocate and release, first_fit of the program: {times / best(place):,.0f} pairs per second")


def steps() -> None:
    """Measure the steps of environments."""
    workload = {"name": "synthetic", "load": 0.7, "sizes": "uniform", "runtimes": {"name": "exponential", "mean": 5.0}}
    times = 50_000
    for machine in (mw.mesh(8, 8), mw.torus(8, 8, 8)):
        env = gym.AllocationEnv(machine, workload, jobs=10**9, max_steps=None)
        env.reset(seed=0)
        nodes = machine.topology.nodes
        actions = np.random.default_rng(0).integers(nodes + 1, size=times).tolist()

        def walk(env: gym.AllocationEnv = env, actions: list[int] = actions) -> None:
            step = env.step
            for action in actions:
                step(action)

        print(f"AllocationEnv, {machine.topology!r}: {times / best(walk):,.0f} steps per second")
        envs = gym.AllocationVectorEnv(64, machine, workload, jobs=10**9, threads=1)
        envs.reset(seed=0)
        batches = np.random.default_rng(0).integers(nodes + 1, size=(times // 64, 64))

        def walk_all(envs: gym.AllocationVectorEnv = envs, batches: Any = batches) -> None:
            for actions in batches:
                envs.step(actions)

        print(f"64 of them, one thread: {64 * len(batches) / best(walk_all):,.0f} steps per second")
    scheduling = gym.SchedulingEnv(mw.flat(128), workload, jobs=10**9, max_steps=None)
    scheduling.reset(seed=0)

    def schedule() -> None:
        for at in range(times):
            scheduling.step(at % 17)

    print(f"SchedulingEnv, 128 processors, a window of 16: {times / best(schedule):,.0f} steps per second")


if __name__ == "__main__":
    imports()
    study()
    rows()
    decisions()
    steps()
