"""Batsim's file formats, which evalys reads too."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import InputError

if TYPE_CHECKING:
    from ._study import Results
    from ._table import Table

COLUMNS = (
    "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time", "success",
    "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch",
    "allocated_resources", "consumed_energy", "metadata",
)  # fmt: skip
"""The columns of `jobs.csv`."""


def write_jobs(results: Results, path: str | os.PathLike[str], scenario: int = 1, replication: int = 0) -> Path:
    """Write the jobs of a run as Batsim's `jobs.csv`, which evalys reads.

    A study with `output={"jobs": ["batsim"]}` writes this file for each of its runs into the folder of its results.
    Processors have the numbers of their nodes, with dimension 0 running fastest. Energy is an empty cell, because it is
    not measured per job.

    Raises
    ------
    InputError
        If the machine has several sites, whose processors have no common numbers, or if there is no such run.

    Examples
    --------
    >>> import meshwork as mw, meshwork.batsim, pathlib, tempfile
    >>> results = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}).run()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(mw.batsim.write_jobs(results, f"{folder}/jobs.csv").read_text().splitlines())
    21
    """
    jobs = results.jobs(scenario, replication)
    sites = {int(site) for site in jobs["site"]}
    if sites - {0}:
        raise InputError("a file of Batsim has one machine, and the jobs of this run lie on several sites")
    sides = results.topologies(scenario)[0].dims
    target = Path(path)
    with target.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for job in jobs:
            run = job["finish"] - job["start"]
            # A job ends before its run time only if it is killed at its estimate.
            killed = job["runtime"] > job["estimate"] and run < job["runtime"] * job["stretch"] * (1 - 1e-9)
            writer.writerow([
                job["job"], results.name, job["job"], job["submit"], job["requested"], job["estimate"], int(not killed),
                "COMPLETED_WALLTIME_REACHED" if killed else "COMPLETED_SUCCESSFULLY",
                job["start"], run, job["finish"], job["wait"], job["turnaround"],
                job["turnaround"] / run if run > 0 else 1.0, intervals(nodes_of(job["blocks"], sides)), "", "",
            ])  # fmt: skip
    return target


def nodes_of(blocks: str, sides: tuple[int, ...]) -> list[int]:
    """Return the node numbers of blocks written as in tables of jobs.

    Examples
    --------
    >>> from meshwork.batsim import nodes_of
    >>> nodes_of("3,0:2x2", (4, 3))
    [3, 0, 7, 4]
    """
    nodes: list[int] = []
    for block in blocks.split(";"):
        base, _, extent = block.partition(":")
        places = [0]
        stride = 1
        for at, side, most in zip(base.split(","), extent.split("x"), sides, strict=True):
            line = [(int(at) + step) % most * stride for step in range(int(side))]
            places = [place + step for step in line for place in places]
            stride *= most
        nodes.extend(places)
    return nodes


def intervals(nodes: list[int]) -> str:
    """Format numbers as intervals.

    Examples
    --------
    >>> from meshwork.batsim import intervals
    >>> intervals([9, 0, 1, 2, 3, 11, 12, 13])
    '0-3 9 11-13'
    """
    runs: list[tuple[int, int]] = []
    for node in sorted(nodes):
        if runs and runs[-1][1] == node - 1:
            runs[-1] = (runs[-1][0], node)
        else:
            runs.append((node, node))
    return " ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def read_workload(source: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, list[Any]]:
    """Read a workload of Batsim as a table of jobs, for `Study(workload=…)`.

    A job must have a profile that states its run time: `delay` or `DelayProfile`. The estimate of a job without
    `walltime` is its run time.

    Raises
    ------
    InputError
        If the source is not such a workload, or a job's profile does not state its run time.

    Examples
    --------
    >>> from meshwork.batsim import read_workload
    >>> read_workload({"nb_res": 4, "jobs": [{"id": "1", "subtime": 0, "res": 2, "profile": "p", "walltime": 9}],
    ...                "profiles": {"p": {"type": "delay", "delay": 5}}})
    {'job': [1], 'submit': [0.0], 'runtime': [5.0], 'estimate': [9.0], 'nodes': [2]}
    """
    what = "the workload" if isinstance(source, Mapping) else str(source)
    if isinstance(source, Mapping):
        document: Any = source
    else:
        try:
            document = json.loads(Path(source).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{what}: this is no workload of Batsim ({error})") from error
    if not isinstance(document, Mapping) or not {"jobs", "profiles"} <= set(document):
        raise InputError(f"{what}: a workload of Batsim has `jobs` and `profiles`, and this has not")
    table: dict[str, list[Any]] = {"job": [], "submit": [], "runtime": [], "estimate": [], "nodes": []}
    for number, job in enumerate(document["jobs"], start=1):
        try:
            submit, nodes, profile = float(job["subtime"]), int(job["res"]), str(job["profile"])
            walltime = float(job.get("walltime", -1))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{what}: job {number} is {job!r}, but must have `subtime`, `res` and `profile`") from error
        runtime = _runtime(document["profiles"].get(profile))
        if runtime is None:
            raise InputError(
                f"{what}: job {number} has the profile {profile!r}, but only one of type delay says how long a job runs"
            )
        name = str(job.get("id", number)).rpartition("!")[2]
        table["job"].append(int(name) if name.isdigit() else number)
        table["submit"].append(submit)
        table["runtime"].append(runtime)
        table["estimate"].append(walltime if walltime >= 0 else runtime)
        table["nodes"].append(nodes)
    return table


def _runtime(profile: Any) -> float | None:
    if not isinstance(profile, Mapping) or profile.get("type") not in ("delay", "DelayProfile"):
        return None
    delay = profile.get("delay")
    return float(delay) if isinstance(delay, (int, float)) else None


def write_workload(jobs: Table, path: str | os.PathLike[str], processors: int) -> Path:
    """Write a table of jobs, such as one of `Results.jobs`, as a workload of Batsim with a delay profile for each job.

    Examples
    --------
    >>> import meshwork as mw, meshwork.batsim, pathlib, tempfile
    >>> results = mw.Study(machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}).run()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = mw.batsim.write_workload(results.jobs(), f"{folder}/workload.json", 8)
    ...     len(mw.batsim.read_workload(path)["submit"])
    20
    """
    profiles: dict[str, dict[str, Any]] = {}
    listed = []
    for job in jobs:
        name = f"delay{job['runtime']:g}" if float(f"{job['runtime']:g}") == job["runtime"] else f"job{job['job']}"
        profiles[name] = {"type": "delay", "delay": job["runtime"]}
        listed.append({
            "id": str(job["job"]), "subtime": job["submit"], "res": job["requested"], "profile": name,
            "walltime": job["estimate"],
        })  # fmt: skip
    target = Path(path)
    target.write_text(json.dumps({"nb_res": processors, "jobs": listed, "profiles": profiles}, indent=1), encoding="utf-8")
    return target
