"""A sweep on two nodes of Ray, one of which is killed: see .ci/ray."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import meshwork as mw
from meshwork.ray import RayExecutor

sys.path.insert(0, str(Path(__file__).parent))
from common import assert_same, has_ended, study

ray = pytest.importorskip("ray")

# Ray takes two loopback addresses for two nodes. The port is below those that Ray gives to workers.
HEAD, OTHER, PORT = "127.0.0.2", "127.0.0.3", 6399
ALL = ["--num-cpus=1", "--object-store-memory=200000000", "--disable-usage-stats", "--block"]


def node(*words: str) -> subprocess.Popen[bytes]:
    """Start a node; with `--block`, all its processes are in the group of one process of this test."""
    script = Path(sys.executable).with_name("ray")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [script, "start", *words, *ALL], stdout=quiet, stderr=quiet, start_new_session=True, env=environment
    )


def kill(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """End a node, with all processes that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how)
    process.wait(timeout=60)


def test_ray_loses_a_node_and_no_byte(tmp_path: Path) -> None:
    study().run(out=tmp_path / "local")
    began = time.monotonic()
    head = node(
        "--head", f"--node-ip-address={HEAD}", f"--port={PORT}", "--include-dashboard=false",
        "--min-worker-port=21000", "--max-worker-port=21999",
    )  # fmt: skip
    other = None
    try:
        time.sleep(5)
        other = node(
            f"--address={HEAD}:{PORT}", f"--node-ip-address={OTHER}", "--min-worker-port=22000", "--max-worker-port=22999"
        )
        ray.init(address=f"{HEAD}:{PORT}", _node_ip_address=HEAD, log_to_driver=False)
        while len([one for one in ray.nodes() if one["Alive"]]) < 2:
            assert time.monotonic() - began < 180, "two nodes"
            time.sleep(0.2)
        print(f"two nodes after {time.monotonic() - began:.1f} s")
        shared = tmp_path / "shared"
        with ThreadPoolExecutor(1) as beside:
            began = time.monotonic()
            going = beside.submit(mw.sweep, study(), shared, RayExecutor(num_cpus=1), shards=6)
            while not going.done() and len(has_ended(shared)) < 2:
                time.sleep(0.05)
            assert not going.done(), "both nodes work"
            kill(other, signal.SIGKILL)
            going.result(timeout=300)
            print(f"swept in {time.monotonic() - began:.1f} s")
        assert_same(shared, tmp_path / "local")
    finally:
        ray.shutdown()
        for process in (other, head):
            if process is not None:
                kill(process, signal.SIGTERM)
