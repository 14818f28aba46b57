"""Studies and their results agree with the command."""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import meshwork as mw
from meshwork._frame import csv_of
from meshwork._meshwork import text_cell

TEXT = """
name = "two"
replications = 3
[machine]
topology = "mesh"
dims = [8, 8]
[workload]
name = "synthetic"
load = 0.5
sizes = "uniform"
runtimes = { name = "exponential", mean = 5.0 }
[measure]
jobs = 200
metrics = ["wait", "utilization"]
[sweep]
scheduler = ["fcfs", "easy"]
"workload.load" = [0.3, 0.5]
[compare]
scheduler = "fcfs"
"""


def command(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "meshwork", *words], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TEXT)
    return path


def test_the_summary_is_that_of_the_command(two: Path, tmp_path: Path) -> None:
    results = mw.Study.from_toml(two).run(threads=2)
    done = command("run", str(two), "--out", str(tmp_path / "out"), "--quiet")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out/summary.csv").read_text())))
    ours = results.summary.to_dicts()
    assert len(rows) == len(ours) == 8
    for row, our in zip(rows, ours, strict=True):
        assert (row["scheduler"], float(row["workload.load"]), row["metric"]) == (
            our["scheduler"],
            our["workload.load"],
            our["metric"],
        )
        assert float(row["mean"]) == our["mean"]
        assert float(row["half_width"]) == our["half_width"]
        assert (int(row["replications"]), row["method"]) == (our["replications"], our["method"])


def test_the_folder_of_another_study_is_replaced_only_where_that_is_asked_for(tmp_path: Path) -> None:
    one, other = (
        mw.Study(name=name, machine=mw.flat(8), workload={"name": "lublin", "jobs": 20}) for name in ("one", "other")
    )
    one.run(out=tmp_path)
    before = (tmp_path / "asked.toml").read_text()
    assert '"one"' in before
    with pytest.raises(mw.InputError, match=r"holds the study `one`, and this one is `other`.*replace=True"):
        other.run(out=tmp_path)
    assert (tmp_path / "asked.toml").read_text() == before
    other.run(out=tmp_path, replace=True)
    assert '"other"' in (tmp_path / "asked.toml").read_text()


def test_a_study_of_keywords_is_that_of_the_text(two: Path) -> None:
    study = mw.Study(
        name="two",
        replications=3,
        machine=mw.mesh(8, 8),
        workload={"name": "synthetic", "load": 0.5, "sizes": "uniform", "runtimes": {"name": "exponential", "mean": 5}},
        jobs=200,
        metrics=["wait", "utilization"],
        sweep={"scheduler": ["fcfs", "easy"], "workload.load": [0.3, 0.5]},
        compare={"scheduler": "fcfs"},
    )
    other = mw.Study.from_toml(two)
    assert study.scenarios() == other.scenarios()
    assert len(study) == 4
    a, b = study.run(threads=1), other.run(threads=2)
    assert a.summary.to_dicts() == b.summary.to_dicts()
    comparison = a.comparison
    assert comparison is not None
    assert {row["compared"] for row in comparison} == {"scheduler"}


def test_a_table_goes_to_all_who_read_arrow(small: dict[str, Any]) -> None:
    results = mw.Study(**small, replications=2, sweep={"scheduler": ["fcfs", "easy"], "seed": [1, 2]}).run()
    table = results.summary
    arrow = pa.table(table)
    assert arrow.column_names == table.column_names
    assert arrow.schema.field("mean").type == pa.float64()
    assert arrow.schema.field("seed").type == pa.int64()
    frame, polars = table.to_pandas(), table.to_polars()
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert frame["mean"].tolist() == polars["mean"].to_list() == table["mean"].tolist() == arrow["mean"].to_pylist()
    assert pd.DataFrame({name: table[name] for name in table.column_names})["metric"].tolist() == frame["metric"].tolist()
    # A table can be converted several times, and the result stays valid without the table.
    again = pa.table(table)
    del table, results
    assert again.equals(arrow)
    html = mw.list("metric")._repr_html_()
    assert html.startswith("<table>")
    assert "<script" not in html


def test_jobs_are_those_of_the_file(small: dict[str, Any], tmp_path: Path) -> None:
    study = mw.Study(**small, output={"jobs": ["csv"]}, sweep={"scheduler": ["fcfs", "easy"]})
    results = study.run(out=tmp_path)
    with open(tmp_path / "jobs/index.csv") as file:
        index = {int(row["scenario"]): row["file"] for row in csv.DictReader(file)}
    for scenario in (1, 2):
        with open(tmp_path / "jobs" / index[scenario]) as file:
            rows = list(csv.DictReader(file))
        jobs = results.jobs(scenario)
        assert len(jobs) == len(rows)
        for key in ("submit", "start", "finish", "runtime", "estimate"):
            assert jobs[key].tolist() == [float(row[key]) for row in rows]
        assert jobs["blocks"].tolist() == [row["blocks"] for row in rows]
        corners = [row["blocks"].split(":")[0].split(",") for row in rows]
        assert [[x, y] for x, y in zip(jobs["x"].tolist(), jobs["y"].tolist(), strict=True)] == [
            [int(x), int(y)] for x, y in corners
        ]
        assert np.allclose(jobs["wait"], jobs["start"] - jobs["submit"], rtol=0, atol=0)


def test_what_was_saved_is_what_the_command_would_have_left(two: Path, tmp_path: Path) -> None:
    study = mw.Study.from_toml(two)
    study.run().save(tmp_path / "saved")
    study.run(out=tmp_path / "out")
    for name in ("summary.csv", "comparison.csv", "experiment.toml"):
        assert (tmp_path / "saved" / name).read_text() == (tmp_path / "out" / name).read_text()
    keys = [
        {json.loads(line)["key"] for line in (tmp_path / folder / "runs.jsonl").read_text().splitlines()}
        for folder in ("saved", "out")
    ]
    assert keys[0] == keys[1]
    assert len(keys[0]) == 12
    assert {run["verdict"] for run in mw.check(tmp_path / "saved")} == {"same"}


def test_the_page_and_its_figures(two: Path, tmp_path: Path) -> None:
    results = mw.Study.from_toml(two).run()
    page = results.report(tmp_path / "page.html")
    assert "<svg" in page.read_text() or "figures" in page.read_text()
    figures = results.figures()
    assert any("wait" in name for name in figures)
    assert results.figure()._repr_svg_().lstrip().startswith("<svg")
    with pytest.raises(mw.InputError, match="there is no figure 'x'"):
        results.figure("x")


def test_a_plot_has_a_point_and_an_interval_for_each_scenario(two: Path) -> None:
    results = mw.Study.from_toml(two).run()
    axes = results.plot("wait")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("workload.load", "wait")
    lines = list(axes.containers)
    assert [container.get_label() for container in lines] == ["fcfs", "easy"]
    summary = results.summary.to_dicts()
    for container in lines:
        drawn = container[0].get_ydata()
        wanted = [row["mean"] for row in summary if row["metric"] == "wait" and row["scheduler"] == container.get_label()]
        assert list(drawn) == wanted
    one = results.plot("wait", where={"scheduler": "easy"})
    assert len(one.containers) == 1
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: results.plot("wat"), "there is no metric 'wat'; there are wait, utilization"),
        (lambda: results.plot("wait", x="load"), "`load` is not swept; what is swept is scheduler, workload.load"),
        (lambda: results.plot("wait", where={"scheduler": "sjf"}), "there is no scenario where {'scheduler': 'sjf'}"),
    ]
    for wrong, sentence in cases:
        with pytest.raises(mw.InputError) as raised:
            wrong()
        assert str(raised.value) == sentence


COLUMNS = {"submit": [0.0, 1.0, 2.5], "runtime": [5.0, 4.0, 3.0], "nodes": [3, 4, 64], "note": ["a", "b", "c"]}


@pytest.mark.parametrize(
    "table",
    [
        COLUMNS,
        {key: np.array(values) for key, values in COLUMNS.items()},
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        pd.DataFrame(COLUMNS).astype({"nodes": "category", "submit": "float32"}),
    ],
    ids=["mapping", "numpy", "pandas", "polars", "arrow", "categories"],
)
def test_a_workload_may_be_any_table(table: Any, tmp_path: Path) -> None:
    results = mw.Study(machine=mw.mesh(8, 8), workload=table).run(out=tmp_path)
    jobs = results.jobs()
    assert jobs["submit"].tolist() == [0.0, 1.0, 2.5]
    assert jobs["start"].tolist() == [0.0, 1.0, 5.0]
    assert jobs["blocks"].tolist() == ["0,0:3x1", "3,0:2x2", "0,0:8x8"]
    # A copy of the table is in the results folder, so that the runs can be checked by another process.
    assert [run["verdict"] for run in mw.check(tmp_path)] == ["same"]


@pytest.mark.parametrize("workload", [{"name": "lublin", "jobs": 200, "arrival_scale": 0.1}, COLUMNS])
def test_jobs_go_round(workload: Any) -> None:
    first = mw.Study(machine=mw.mesh(8, 8), workload=workload).run().jobs()
    again = mw.Study(machine=mw.mesh(8, 8), workload=first).run().jobs()
    assert again["start"].tolist() == first["start"].tolist()
    assert again["blocks"].tolist() == first["blocks"].tolist()


def test_jobs_of_a_table_are_told_apart_by_whatever_is_known_of_their_owners() -> None:
    owners: dict[str, Any] = {
        "user": ["ann", "bob"],
        "group": ["a", "a"],
        "application": ["x", "y"],
        "queue": ["q", "r"],
        "partition": ["p", "p"],
    }
    measure = {"metrics": ["wait"], **{f"by_{owner}": True for owner in owners}}
    table = {"submit": [0, 0], "runtime": [3, 5], "nodes": [4, 4], **owners}
    results = mw.Study(machine=mw.flat(4), workload=table, measure=measure).run()
    for owner, names in owners.items():
        summary = getattr(results, f"by_{owner}")
        assert summary[owner].tolist() == sorted(set(names))
        assert sum(summary["jobs"].tolist()) == 2
        assert results.jobs()[owner].tolist() == names


ALL_COLUMNS: dict[str, str] = {column["name"]: column["holds"] for column in mw.describe("workload", "table")["columns"]}
CELLS: dict[str, list[Any]] = {
    "submit": [0.5, 2.0],
    "nodes": [4, 2],
    "block": ["2x2", "1x3"],
    "subcube": [1, 2],
    "priority": [0.25, 1.0],
    "segment": [2, 1],
    "exclusive": ["topo", None],
    "require": ["n[0-1,4]", "n2"],
    "exclude": ["n7", "n[8-9]"],
    "pieces": [2, 1],
    "cpu": [4, 2],
    "gpu": [1, 2],
    "per_node": ["1", "2"],
    "inside": ["node", "island"],
    "type": ["a", "a"],
    "roles": ["1*cpu=4+2*cpu=2,gpu=1", "2*cpu=1+1*cpu=2"],
}
# Columns of jobs on nodes that jobs share, and a machine with such nodes.
OF_PIECES = ("pieces", "cpu", "mem", "gpu", "other", "per_node", "inside", "type", "roles")
SHARED = {"type": "a", "cpu": 16, "mem": 64, "gpu": 4, "other": 64, "islands": 2}
CELLS_OF_A_KIND: dict[str, list[Any]] = {
    "whole number": [7, 9],
    "number": [12.5, 3.0],
    "instant, or date": [99.5, 1000.0],
    "true or false": [True, None],
    "text": ['ada, "of" physics', "'=#2"],
}


def cells_of(column: str) -> list[Any]:
    return CELLS.get(column, CELLS_OF_A_KIND[ALL_COLUMNS[column]])


@pytest.mark.parametrize("column", ALL_COLUMNS)
def test_no_column_of_a_frame_is_lost(column: str) -> None:
    sizes = [] if column in ("block", "subcube", "roles") else ["pieces", "cpu"] if column in OF_PIECES else ["nodes"]
    names = ["submit", "runtime", *sizes, *([] if column in sizes else [column])]
    if column == "think":
        names.append("after")
    columns = {name: cells_of(name) for name in names}
    measure = {"metrics": ["wait"], "by_user": True}
    machine: Any = mw.hypercube(3) if column == "subcube" else mw.mesh(4, 4)
    if column in OF_PIECES:
        machine = {"topology": "flat", "processors": 16, "nodes": [SHARED]}
    arrays = {name: np.array(cells) for name, cells in columns.items()}
    for table in (columns, arrays, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        rows = list(csv.DictReader(io.StringIO(csv_of(table, "jobs"))))
        for cell, row in zip(columns[column], rows, strict=True):
            if isinstance(cell, str):
                assert row[column] == text_cell(cell)
            elif cell is None or isinstance(cell, bool):
                assert row[column] == ("" if cell is None else "true")
            else:
                assert float(row[column]) == cell
        jobs = mw.Study(machine=machine, workload=table, measure=measure).run().jobs()
        if column == "wait":
            # The wait is a result of the run, not an input.
            assert list(jobs["wait"]) == list(jobs["start"] - jobs["submit"])
            continue
        assert list(jobs[column]) == columns[column]
        again = mw.Study(machine=machine, workload=jobs, measure=measure).run().jobs()
        assert list(again[column]) == columns[column]


def test_lengths_of_time_are_seconds() -> None:
    runtimes = pd.to_timedelta(["00:01:00", "00:00:01.5"])
    estimates = [datetime.timedelta(minutes=2), datetime.timedelta(seconds=3)]
    frame = pd.DataFrame({"submit": [0, 1], "runtime": runtimes, "estimate": estimates, "nodes": [1, 1]})
    arrays = {**{name: frame[name].to_numpy() for name in frame}, "estimate": estimates}
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), arrays):
        jobs = mw.Study(machine=mw.flat(4), workload=table).run().jobs()
        assert jobs["runtime"].tolist() == [60.0, 1.5]
        assert jobs["estimate"].tolist() == [120.0, 3.0]


def test_columns_that_are_not_read_are_named() -> None:
    with pytest.warns(UserWarning, match="`workload`: these columns are not read: note"):
        mw.Study(machine=mw.flat(4), workload=COLUMNS)


def test_dates_of_a_frame_are_read(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "submit": pd.to_datetime(["2003-05-01T12:30:00.0", "2003-05-01T12:30:01.5", "2003-05-02T00:00:00.0"]),
            "runtime": [1.0, 1.0, 1.0],
            "nodes": [1, 1, 1],
        }
    )
    for table in (frame, pl.from_pandas(frame), {key: frame[key].to_numpy() for key in frame}):
        jobs = mw.Study(machine=mw.flat(4), workload=table).run().jobs()
        assert jobs["submit"].tolist() == [0.0, 1.5, 41400.0]


def test_several_tables_can_be_swept() -> None:
    other = {**COLUMNS, "nodes": [1, 1, 1]}
    study = mw.Study(machine=mw.mesh(8, 8), workload=COLUMNS, sweep={"workload": [COLUMNS, other]}, metrics=["wait"])
    means = study.run().summary["mean"].tolist()
    assert means == [2.5 / 3, 0.0]


def test_progress_is_told_and_ends_with_all(small: dict[str, Any]) -> None:
    told: list[mw.Progress] = []
    mw.Study(**small, replications=4).run(progress=told.append)
    assert (told[-1].done, told[-1].total, told[-1].failed, told[-1].share) == (4, 4, 0, 1.0)


def test_what_a_progress_raises_ends_the_study(small: dict[str, Any]) -> None:
    def stop(_: mw.Progress) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        mw.Study(**{**small, "jobs": 10**9}).run(progress=stop)


def test_ctrl_c_ends_a_study_and_keeps_what_has_run(tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text(
        "import sys, meshwork as mw\n"
        "study = mw.Study(machine=mw.mesh(8, 8), workload={'name': 'synthetic', 'load': 0.5, 'sizes': 'uniform',\n"
        "    'runtimes': {'name': 'exponential', 'mean': 5.0}}, sweep={'measure.jobs': [10, 10**9]})\n"
        "try:\n"
        "    study.run(threads=2, out=sys.argv[1], progress=lambda p: print(p.done, flush=True))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    out = tmp_path / "out"
    process = subprocess.Popen([sys.executable, str(script), str(out)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while process.stdout.readline().strip() != "1":
        pass
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest.split()[-1] == "interrupted"
    assert process.returncode == 0
    assert len((out / "runs.jsonl").read_text().splitlines()) == 1


def test_the_interpreter_is_free_while_a_study_runs(small: dict[str, Any]) -> None:
    # If the run held the interpreter lock, no other thread would count.
    study = mw.Study(**{**small, "jobs": 10**9})
    stop = threading.Event()

    def watch(_: mw.Progress) -> None:
        if stop.is_set():
            raise StopIteration

    def run() -> None:
        with pytest.raises(StopIteration):
            study.run(threads=1, progress=watch)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        for _ in range(1000):
            if study_is_running(study):
                break
            time.sleep(0.01)
        with pytest.raises(mw.RunError, match="the study runs, so `seed` cannot be set now"):
            study.set("seed", 3)
        other = study.copy().set("measure.jobs", 50)
        assert len(other.run().jobs()) == 50
    finally:
        stop.set()
        thread.join()
    study.set("seed", 3)
    assert study.scenarios()[0]["seed"] == 3


def study_is_running(study: mw.Study) -> bool:
    try:
        study.set("measure.warmup_jobs", 0)
    except mw.RunError:
        return True
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_beside_a_study_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "fork.py"
    script.write_text(
        "import os, sys, threading, warnings\n"
        "import meshwork as mw\n"
        "warnings.simplefilter('ignore')\n"
        "keys = dict(machine=mw.mesh(8, 8), workload={'name': 'synthetic', 'load': 0.5, 'sizes': 'uniform',\n"
        "    'runtimes': {'name': 'exponential', 'mean': 5.0}})\n"
        "began, stop = threading.Event(), threading.Event()\n"
        "def watch(p):\n"
        "    began.set()\n"
        "    if stop.is_set(): raise StopIteration\n"
        "def run():\n"
        "    try: mw.Study(**keys, jobs=10**9).run(progress=watch)\n"
        "    except StopIteration: pass\n"
        "thread = threading.Thread(target=run); thread.start(); began.wait()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        mw.Study(**keys, jobs=10).run()\n"
        "    except mw.RunError as error:\n"
        "        print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0); stop.set(); thread.join()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    print(len(mw.Study(**keys, jobs=10).run().jobs()), flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("this process was forked while a study ran in threads of its parent"), done
    assert lines[1:] == ["10"], "and where none runs, a fork may"


def test_the_command_is_there() -> None:
    done = command("--version")
    assert (done.returncode, done.stdout) == (0, f"meshwork {mw.__version__}\n")
    wrong = command("run", "none.toml")
    assert (wrong.returncode, wrong.stderr) == (2, "error: none.toml: there is no such file\n")
