"""Other packages read what the package writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import meshwork as mw
from meshwork import batsim

LUBLIN = {"name": "lublin", "jobs": 80, "arrival_scale": 0.3}


def test_evalys_reads_the_jobs(tmp_path: Path) -> None:
    evalys = pytest.importorskip("evalys.jobset")
    results = mw.Study(machine=mw.mesh(8, 8), workload=LUBLIN, scheduler="easy", name="day").run()
    path = batsim.write_jobs(results, tmp_path / "jobs.csv")
    jobs = results.jobs()
    read = evalys.JobSet.from_csv(str(path))
    frame = read.df
    assert len(frame) == len(jobs) == 80
    assert np.allclose(np.sort(frame["waiting_time"]), np.sort(jobs["wait"]), atol=1e-6), "evalys keeps six digits"
    # evalys finds the same number of held processors for each job.
    held = {int(row["jobID"]): len(row["allocated_resources"]) for _, row in frame.iterrows()}
    assert held == {int(job["job"]): job["held"] for job in jobs}
    for _, row in frame.iterrows():
        assert max(row["allocated_resources"]) < 64
    utilisation = read.utilisation
    area = sum(job["held"] * (job["finish"] - job["start"]) for job in jobs)
    steps = utilisation.sort_index() if hasattr(utilisation, "sort_index") else utilisation
    load = steps["load"].to_numpy(dtype=float)
    time = (steps["time"] if "time" in steps else steps.index.to_series()).to_numpy(dtype=float)
    assert np.isclose((load[:-1] * np.diff(time)).sum(), area, rtol=1e-6)


def test_a_study_writes_the_same_for_all_its_runs(tmp_path: Path) -> None:
    keys: dict[str, Any] = {"workload": LUBLIN, "scheduler": {"name": "easy", "kill_at_estimate": True}, "name": "w0"}
    results = mw.Study(machine=mw.torus(8, 8), output={"jobs": ["batsim"]}, **keys).run(out=tmp_path)
    (written,) = (tmp_path / "jobs").glob("*.batsim.csv")
    assert written.name in (tmp_path / "jobs/index.csv").read_text()
    ours = batsim.write_jobs(results, tmp_path / "ours.csv").read_text().splitlines()
    theirs = written.read_text().splitlines()
    assert ours[0] == theirs[0]
    assert len(ours) == len(theirs) == 81
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        for a, b in zip(one.split(","), other.split(","), strict=True):
            assert a == b or float(a) == float(b)


def test_a_workload_of_batsim_goes_round(tmp_path: Path) -> None:
    first = mw.Study(machine=mw.flat(64), workload=LUBLIN).run().jobs()
    path = batsim.write_workload(first, tmp_path / "workload.json", 64)
    table = batsim.read_workload(path)
    again = mw.Study(machine=mw.flat(64), workload=table).run().jobs()
    for column in ("job", "submit", "start", "finish", "estimate", "requested"):
        assert again[column].tolist() == first[column].tolist()


def test_both_spellings_of_a_delay_are_read() -> None:
    job = {"id": "w!7", "subtime": 1, "res": 2, "profile": "a", "walltime": -1}
    for kind in ("delay", "DelayProfile"):
        table = batsim.read_workload({"jobs": [job], "profiles": {"a": {"type": kind, "delay": 3}}})
        assert table == {"job": [7], "submit": [1.0], "runtime": [3.0], "estimate": [3.0], "nodes": [2]}


def test_what_is_no_workload_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text("[")
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "a"}
    cases: list[tuple[Any, str]] = [
        (path, "this is no workload of Batsim"),
        ({}, "the workload: a workload of Batsim has `jobs` and `profiles`, and this has not"),
        ({"jobs": [{}], "profiles": {}}, "job 1 is {}, but must have `subtime`, `res` and `profile`"),
        ({"jobs": [job], "profiles": {}}, "job 1 has the profile 'a', but only one of type delay says how long a job runs"),
        ({"jobs": [job], "profiles": {"a": {"type": "smpi"}}}, "only one of type delay says how long a job runs"),
    ]
    for source, sentence in cases:
        with pytest.raises(mw.InputError) as raised:
            batsim.read_workload(source)
        assert sentence in str(raised.value)
    grid = mw.sites([mw.mesh(4, 4), mw.mesh(4, 4)])
    table = {"submit": [0, 0], "runtime": [1, 1], "nodes": [16, 16]}
    with pytest.raises(mw.InputError, match="the jobs of this run lie on several sites"):
        batsim.write_jobs(mw.Study(machine=grid, workload=table).run(), path)
