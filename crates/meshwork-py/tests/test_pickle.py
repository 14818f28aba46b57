"""Objects that can be copied and sent to another process are equal there."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import meshwork as mw

MACHINES = [
    mw.mesh(4, 3),
    mw.torus(4, 4, wrap=(True, False)),
    mw.hypercube(4),
    mw.flat(9),
    mw.fat_tree(4, 4),
    mw.dragonfly(2, 4, 2),
    mw.twisted_torus(4, 8),
    mw.tofu(2, 2, 2),
    mw.Machine({"topology": "mesh", "dims": [4, 4], "processors_per_node": 2}),
    mw.named("tpu_v4"),
]

JOBS = {"submit": [0.0, 1.0, 2.0, 3.0], "runtime": [9.0, 5.0, 3.0, 2.0], "nodes": [3, 4, 1, 2]}


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_a_topology_is_the_same(machine: mw.Machine) -> None:
    topology = machine.topology
    again = pickle.loads(pickle.dumps(topology))
    assert again == topology
    assert again.nodes == topology.nodes
    assert again.links() == topology.links()
    assert copy.copy(topology) == copy.deepcopy(topology) == topology


@pytest.mark.parametrize(
    ("machine", "allocator", "wanted"),
    [(mw.torus(4, 4, 4), "first_fit", (2, 3, 2)), (mw.mesh(8, 8), "paging", 7), (mw.fat_tree(4, 4), "naive", 5)],
)
def test_a_placement_is_the_same(machine: mw.Machine, allocator: str, wanted: Any) -> None:
    pool = mw.Pool(machine, allocator)
    pool.allocate(3)
    placement = pool.allocate(wanted)
    assert placement is not None
    again = pickle.loads(pickle.dumps(placement))
    assert again == placement
    assert again.blocks == placement.blocks
    assert again.nodes.tolist() == placement.nodes.tolist()
    assert hash(again) == hash(placement)
    pool.release(again)
    assert copy.copy(placement) == copy.deepcopy(placement) == placement


def test_a_topology_of_a_strategy_and_of_results(small: dict[str, Any]) -> None:
    results = mw.Study(**{**small, "machine": mw.sites([mw.mesh(4, 4), mw.flat(6, speed=2.0)])}).run()
    for topology in results.topologies():
        assert pickle.loads(pickle.dumps(topology)) == topology


def test_a_table_is_the_same() -> None:
    results = mw.Study(machine=mw.flat(4), workload=JOBS, sweep={"scheduler": ["fcfs", "easy"]}).run()
    for one in (results.summary, results.runs, results.jobs(2)):
        for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert again.column_names == one.column_names
            assert repr(again.to_dicts()) == repr(one.to_dicts())
            for name in one.column_names:
                assert again[name].dtype == one[name].dtype


def test_a_study_is_the_same_with_its_tables_and_settings() -> None:
    study = mw.Study(machine=mw.flat(4), workload=JOBS, sweep={"scheduler": ["fcfs", "easy"]}, name="sent")
    study.set("seed", 3)
    packed = pickle.dumps(study)
    want = study.run().summary.to_dicts()
    for again in (pickle.loads(packed), copy.copy(study), copy.deepcopy(study)):
        assert again.name == "sent"
        assert again.scenarios() == study.scenarios()
        assert again.run().summary.to_dicts() == want
    other = copy.deepcopy(study).set("seed", 4)
    assert study.scenarios()[0]["seed"] == 3 != other.scenarios()[0]["seed"]


def test_a_study_of_a_file_keeps_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('machine = { topology = "flat", processors = 4 }\nworkload = { name = "lublin", jobs = 20 }\n')
    study = mw.Study.from_toml(path, set={"seed": 2})
    again = pickle.loads(pickle.dumps(study))
    assert again.run().summary.to_dicts() == study.run().summary.to_dicts()
    with pytest.raises(mw.InputError) as raised:
        again.set("replications", 0)
    assert "replications" in str(raised.value)


def test_results_are_the_same(small: dict[str, Any], tmp_path: Path) -> None:
    study = mw.Study(**small, replications=20, sweep={"scheduler": ["fcfs", "easy"]}, compare={"scheduler": "fcfs"})
    results = study.run()
    again = pickle.loads(pickle.dumps(results))
    for of in ("summary", "runs", "comparison"):
        assert repr(getattr(again, of).to_dicts()) == repr(getattr(results, of).to_dicts()), of
    assert again.warnings == results.warnings
    assert again.scenarios == results.scenarios
    assert again.jobs(2, 1).to_dicts() == results.jobs(2, 1).to_dicts()
    results.save(tmp_path / "one")
    again.save(tmp_path / "other")
    for name in ("runs.jsonl", "summary.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes(), name
    assert copy.copy(results) is results
    assert copy.deepcopy(results) is results


def test_results_of_a_log_that_is_run_once_are_the_same() -> None:
    results = mw.Study(machine=mw.flat(4), workload=JOBS, replications=3).run()
    again = pickle.loads(pickle.dumps(results))
    assert again.summary.to_dicts() == results.summary.to_dicts()


def test_failed_runs_stay_failed(tmp_path: Path) -> None:
    line = "1 0 -1 5 1 -1 -1 1 5 -1 1 1 -1 -1 -1 -1 -1 -1\n"
    good, bad = tmp_path / "good.swf", tmp_path / "bad.swf"
    good.write_text(line)
    bad.write_text(line + "2 x\n")
    study = mw.Study(
        machine=mw.flat(4),
        workload={"name": "swf", "path": str(good)},
        sweep={"workload.path": [str(good), str(bad)]},
        metrics=["wait"],
    )
    results = study.run(on_failure="keep")
    again = pickle.loads(pickle.dumps(results))
    assert len(results.failures) == 1
    assert again.failures == results.failures
    assert again.summary.row(0) == results.summary.row(0)


def test_another_process_gets_all_of_it(tmp_path: Path) -> None:
    study = mw.Study(machine=mw.mesh(4, 4), workload=JOBS)
    results = study.run()
    held = mw.Pool(mw.mesh(4, 4)).allocate((2, 2))
    packed = tmp_path / "packed"
    packed.write_bytes(pickle.dumps((study, results, held, results.summary)))
    code = f"""
import pickle
study, results, held, summary = pickle.loads(open({str(packed)!r}, "rb").read())
print(study.run().summary.to_dicts() == results.summary.to_dicts() == summary.to_dicts(), held)
"""
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "True 0,0:2x2"


def test_arrays_of_a_copy_are_its_own() -> None:
    held = mw.Pool(mw.mesh(4, 4)).allocate((2, 2))
    assert held is not None
    assert np.array_equal(pickle.loads(pickle.dumps(held)).coordinates, held.coordinates)
