"""A sweep on the workers that dask-jobqueue starts on a Slurm of this computer: see .ci/dask-slurm."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import meshwork as mw

sys.path.insert(0, str(Path(__file__).parent))
from common import assert_same, has_ended, study

jobqueue = pytest.importorskip("dask_jobqueue")
distributed = pytest.importorskip("distributed")

CONF = """
ClusterName=gate
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool/%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
KillWait=2
{nodes}
PartitionName=main Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP
"""


def quiet(*words: str) -> bool:
    return subprocess.run(words, capture_output=True).returncode == 0


def wait(what: str, is_so: object, seconds: float = 60) -> None:
    assert callable(is_so)
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < seconds, what
        time.sleep(0.1)


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Slurm of three nodes; all its processes are ended after the test."""
    for program in ("slurmctld", "slurmd", "sbatch", "munge"):
        if shutil.which(program) is None or os.getuid() != 0:
            pytest.skip(f"there is no {program}, or this is not root: A SWEEP ON DASK ON A SLURM IS NOT TESTED")
    started: list[subprocess.Popen[bytes]] = []

    def daemon(*words: str) -> None:
        started.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    if not quiet("munge", "-n"):
        assert quiet("install", "-d", "-o", "munge", "-g", "munge", "-m", "755", "/run/munge")
        daemon("setpriv", "--reuid=munge", "--regid=munge", "--init-groups", "/usr/sbin/munged", "--foreground")
        wait("munge answers", lambda: quiet("munge", "-n"))
    home = tmp_path / "slurm"
    for name in ("state", "spool"):
        (home / name).mkdir(parents=True)
    free = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
    ports = [one.getsockname()[1] for one in free]
    for one in free:
        one.close()
    host = socket.gethostname().split(".")[0]
    nodes = "\n".join(
        f"NodeName=n{at} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[at]} CPUs=2 RealMemory=4000" for at in (1, 2, 3)
    )
    (home / "slurm.conf").write_text(CONF.format(host=host, ports=ports, home=home, nodes=nodes))
    monkeypatch.setenv("SLURM_CONF", str(home / "slurm.conf"))
    try:
        daemon("slurmctld", "-D")
        for at in (1, 2, 3):
            daemon("slurmd", "-D", "-N", f"n{at}")

        def is_up() -> bool:
            said = subprocess.run(["sinfo", "--noheader", "-N", "-o", "%T"], capture_output=True, text=True).stdout
            return said.split().count("idle") == 3

        wait("three nodes", is_up)
        yield
    finally:
        quiet("scancel", "--user=root")
        time.sleep(2)
        # End the controller first, and munge, which all others need, last.
        for process in sorted(started, key=lambda one: "munged" in str(one.args)):
            process.terminate()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def test_dask_on_slurm_loses_a_worker_and_no_byte(tmp_path: Path, slurm: None) -> None:
    study().run(out=tmp_path / "local")
    cluster = jobqueue.SLURMCluster(
        cores=1, memory="600MB", queue="main", walltime="00:10:00", interface=None, log_directory=str(tmp_path / "log"),
        scheduler_options={"host": "127.0.0.1", "dashboard": False}, worker_extra_args=["--host", "127.0.0.1"],
        job_extra_directives=[f"--chdir={tmp_path}"],
    )  # fmt: skip
    with cluster, distributed.Client(cluster) as client, ThreadPoolExecutor(1) as beside:
        began = time.monotonic()
        cluster.adapt(minimum_jobs=3, maximum_jobs=3)
        client.wait_for_workers(3, timeout=120)
        print(f"three workers after {time.monotonic() - began:.1f} s")
        shared = tmp_path / "shared"
        began = time.monotonic()
        going = beside.submit(mw.sweep, study(), shared, client.get_executor(), shards=9)
        while not going.done() and not has_ended(shared):
            time.sleep(0.05)
        assert not going.done(), "a worker has ended a run, and goes on"
        os.kill(int(has_ended(shared)[0].name.removesuffix(".jsonl.part").rsplit("-", 1)[1]), 9)
        going.result(timeout=300)
        print(f"swept in {time.monotonic() - began:.1f} s")
    assert_same(shared, tmp_path / "local")
