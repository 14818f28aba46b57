"""Ctrl-C ends any run and raises `KeyboardInterrupt`."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

HEAD = """
import os, signal, sys, threading, time
import meshwork as mw

def soon(after=0.3):
    threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()

@mw.register
class Loops:
    "It never comes back."
    asks, finds, stateless = "nodes", "any_nodes", True
    def choose(self, ask):
        soon()
        while True:
            pass

@mw.register
class Swallows:
    "It takes every exception for its own."
    asks, finds, stateless = "nodes", "any_nodes", True
    def choose(self, ask):
        soon()
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                pass

@mw.register
class Endless:
    "Jobs without an end, of which none comes."
    def jobs(self, rng):
        soon()
        while True:
            pass
        yield {}

LONG = {"name": "synthetic", "load": 0.7, "sizes": "uniform", "runtimes": {"name": "exponential", "mean": 5.0}}
"""


def interrupted(body: str, within: float = 20.0) -> str:
    """Return the output of a program that is interrupted, and check that it ends soon after."""
    code = HEAD + "try:\n" + textwrap.indent(body, "    ") + "\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    begun = time.monotonic()
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert time.monotonic() - begun < within, "it came to an end at once"
    return said.stdout.strip() + said.stderr.strip()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("allocator", ["loops", "swallows"])
def test_a_loop_in_a_strategy_is_interrupted(allocator: str, threads: int) -> None:
    body = f"mw.Study(machine=mw.mesh(4, 4), workload=LONG, jobs=100, allocator={allocator!r}).run(threads={threads})"
    assert interrupted(body) == "interrupted"


def test_a_loop_in_a_workload_is_interrupted() -> None:
    assert interrupted("mw.Study(machine=mw.mesh(4, 4), workload='endless').run()") == "interrupted"


def test_a_loop_in_a_pool_is_interrupted() -> None:
    assert interrupted("mw.Pool(mw.mesh(4, 4), 'loops').allocate(3)") == "interrupted"


def test_jobs_that_are_made_again_are_interrupted() -> None:
    body = """
@mw.register
class Loops:
    "It never comes back."
    asks, finds, stateless = "nodes", "any_nodes", True
    def choose(self, ask):
        return ask.site.free_numbers[: ask.nodes]
results = mw.Study(machine=mw.mesh(4, 4), workload=LONG, jobs=20, allocator="loops").run()
@mw.register
class Loops:
    "It never comes back."
    asks, finds, stateless = "nodes", "any_nodes", True
    def choose(self, ask):
        soon()
        while True:
            pass
results.jobs()
"""
    assert interrupted(body) == "interrupted"


def test_a_long_run_is_interrupted() -> None:
    body = "soon()\nmw.Study(machine=mw.flat(64), workload=LONG, jobs=1_000_000_000).run()"
    assert interrupted(body) == "interrupted"


def test_the_second_interrupt_ends_a_shard() -> None:
    body = """
from concurrent.futures import Future
import tempfile
@mw.register
class Loops:
    "It never comes back."
    asks, finds, stateless = "nodes", "any_nodes", True
    def choose(self, ask):
        soon(); soon(1.0)
        while True:
            pass
study = mw.Study(machine=mw.mesh(4, 4), workload=LONG, jobs=20, allocator="loops")
class Here:
    def submit(self, act, *given):
        done = Future()
        try:
            done.set_result(act(*given))
        except Exception as error:
            done.set_exception(error)
        return done
with tempfile.TemporaryDirectory() as folder:
    mw.sweep(study, folder, Here())
"""
    assert interrupted(body) == "interrupted"
