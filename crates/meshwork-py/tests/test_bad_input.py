"""Bad input raises one sentence that says what was given, what would be right, and where."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import meshwork as mw
from meshwork import _frame

GOOD = {"submit": [0.0], "runtime": [1.0], "nodes": [1]}
MESH = mw.mesh(4, 4)


class Anything:
    """An object that has every attribute; each is a function that returns such an object."""

    def __getattr__(self, name: str) -> Callable[..., Anything]:
        return lambda *given: Anything()


class EndlessList(Sequence):  # type: ignore[type-arg]
    """A list whose length exceeds any memory."""

    def __len__(self) -> int:
        return 2**60

    def __getitem__(self, index: Any) -> Any:
        return 1


class EndlessMapping(Mapping):  # type: ignore[type-arg]
    """A mapping whose items never end."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, key: str) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return (str(one) for one in itertools.count())

    def items(self) -> Any:
        return ((str(one), one) for one in itertools.count())


def of_itself() -> dict[str, Any]:
    mapping: dict[str, Any] = {"name": "lublin"}
    mapping["estimates"] = mapping
    return mapping


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def study(**keys: Any) -> mw.Study:
    return mw.Study(**{"machine": MESH, "workload": GOOD, **keys})


CASES: list[tuple[str, Callable[[], object], str]] = [
    ("an unknown key", lambda: study(schedular="easy"), "unknown key `schedular` (did you mean `scheduler`?"),
    ("an unknown name", lambda: study(scheduler="eazy").run(), "unknown scheduler `eazy` (did you mean `easy`?"),
    ("a type", lambda: study(seed=object()), "`seed` is <object object at"),
    ("a key that is no text", lambda: study(scheduler={1: 2}), "`scheduler` has the key 1, but keys are texts"),
    ("a number too large", lambda: study(seed=2**64), f"`seed` is {2**64}, but must be a whole number below 2^63"),
    ("a machine", lambda: study(machine=mw.mesh(0)).run(), "`machine.dims` is [0]"),
    ("a measure", lambda: study(measure=3), "`measure` is 3, but must be a mapping"),
    ("threads", lambda: study().run(threads=-1), "`threads` is -1, but must be a whole number from 0 to 1024"),
    ("on_failure", lambda: study().run(on_failure="no"), "`on_failure` is 'no', but must be 'raise' or 'keep'"),
    ("a sweep", lambda: study(sweep={"seed": 3}), "`sweep.seed` is 3, but must be a list of at least one value"),
    ("a mapping that contains itself", lambda: study(workload=of_itself()), "lies too deep: lists and mappings may lie in"),
    ("a deep list", lambda: study(compare=nested(100_000)), "lies too deep: lists and mappings may lie in one another 64"),
    ("a deep sweep", lambda: study(sweep={"seed": nested(100_000)}), "lies too deep"),
    ("a deep setting", lambda: study().set("seed", nested(100_000)), "lies too deep"),
    ("a deep machine", lambda: mw.Pool(nested(100_000)), "lies too deep"),  # type: ignore[arg-type]
    ("a machine of itself", lambda: mw.Pool(of_itself()), "lies too deep"),
    ("an object with every attribute", lambda: study(seed=Anything()), "lies too deep"),
    ("a machine with every attribute", lambda: mw.Pool(Anything()), "lies too deep"),  # type: ignore[arg-type]
    ("a list without an end", lambda: study(compare=EndlessList()), "is too much: there may be 1048576 values in all"),
    ("a range", lambda: study(sweep={"seed": range(10**12)}), "is too much: there may be 1048576 values in all"),
    ("a mapping without an end", lambda: study(compare=EndlessMapping()), "is too much: there may be 1048576 values"),
    ("a request without an end", lambda: mw.Pool(MESH).allocate(range(10**12)), "but must be a number of processors"),
    ("a request of anything", lambda: mw.Pool(MESH).allocate(Anything()), "but must be a number"),  # type: ignore[arg-type]
    ("nodes without an end", lambda: mw.Pool(MESH).adopt(range(10**12)), "range(0, 1000000000000) is no placement"),
    ("an endless list of nodes", lambda: mw.Pool(MESH).adopt(EndlessList()), "is no placement"),
    ("a placement of anything", lambda: mw.Pool(MESH).adopt(Anything()), "is no placement"),  # type: ignore[arg-type]
    (
        "a snapshot that contains itself",
        lambda: mw.Pool(MESH).restore(of_itself()),
        "this is no snapshot of a pool (Circular reference detected)",
    ),
    ("a deep snapshot", lambda: mw.Pool(MESH).restore({"a": nested(100_000)}), "this is no snapshot of a pool"),
    (
        "a placement of another machine",
        lambda: mw.Pool(MESH).adopt(mw.Pool(mw.mesh(8, 2)).allocate(3)),  # type: ignore[arg-type]
        "0,0:3x1 is a placement on an 8 × 2 mesh, but must be one on this 4 × 4 mesh",
    ),
    (
        "a release of another machine",
        lambda: mw.Pool(MESH).release(mw.Pool(mw.torus(4, 4)).allocate(3)),  # type: ignore[arg-type]
        "0,0:3x1 is a placement on a 4 × 4 torus, but must be one on this 4 × 4 mesh",
    ),
    ("a file", lambda: mw.Study.from_toml("none.toml"), "none.toml: there is no such file"),
    ("a log", lambda: study(workload="none.swf").run(), "none.swf: there is no such file"),
    (
        "a table without submit",
        lambda: study(workload=pd.DataFrame({"runtime": [1.0], "nodes": [1]})),
        "`workload`: a table of jobs has the columns submit, runtime and one of nodes, block, subcube and pieces, and "
        "perhaps job, estimate, user, group, application, queue, priority, deadline, after, think, wait, nodes_max, "
        "segment, spread_segments, consolidate_segments, switches, contiguous, exclusive, require, exclude, partition, "
        "mem, other, per_node, inside, type; this one has runtime, nodes",
    ),
    (
        "a misspelt column",
        lambda: study(workload={**GOOD, "segmant": [4]}),
        "`workload`: unknown column `segmant` (did you mean `segment`? known: segment, ",
    ),
    (
        "a misspelt column of a frame",
        lambda: study(workload=pl.DataFrame({**GOOD, "Priority": [0.5]})),
        "`workload`: unknown column `Priority` (did you mean `priority`? known: priority, ",
    ),
    (
        "a row of a frame",
        lambda: study(workload=pd.DataFrame({"submit": [0, 1, 2], "runtime": [1.0, 1.0, -3.0], "nodes": [1, 1, 1]})),
        "`workload`, row 2 (from 0): runtime is -3, but must be a number from 0 to 1e15",
    ),
    (
        "a cell of a frame",
        lambda: study(workload=pd.DataFrame({"submit": [0, 1], "runtime": [1, 1], "nodes": [1, "four"]}, dtype=object)),
        "`workload`, row 1 (from 0): `nodes` is `four`, but must be a number",
    ),
    (
        "a flag that is none",
        lambda: study(workload={**GOOD, "contiguous": ["maybe"]}),
        "`workload`, row 0 (from 0): contiguous is `maybe`, but must be true or false",
    ),
    (
        "a column of the wrong kind",
        lambda: study(workload=pd.DataFrame({"submit": [0.0], "runtime": [1.0], "nodes": [[1, 2]]})),
        "`workload`: the column `nodes` holds List(",
    ),
    (
        "a column that is no number",
        lambda: study(workload={**GOOD, "nodes": ["many"]}),
        "`workload`, row 0 (from 0): `nodes` is `many`, but must be a number",
    ),
    (
        "an array of the wrong shape",
        lambda: study(workload={**GOOD, "nodes": np.ones((2, 2))}),
        "`workload`: the column `nodes` has 2 dimensions, but a column has one: shape (2, 2)",
    ),
    (
        "an array of the wrong dtype",
        lambda: study(workload={**GOOD, "nodes": np.array([1j])}),
        "`workload`: the column `nodes` holds complex128, but must hold numbers, dates, lengths of time, flags or text",
    ),
    (
        "columns of different lengths",
        lambda: study(workload={**GOOD, "nodes": [1, 2]}),
        "`workload`: its columns are of different lengths: submit 1, runtime 1, nodes 2",
    ),
    (
        "a row that is no job",
        lambda: study(workload={**GOOD, "runtime": [-1.0]}),
        "runtime is -1, but must be a number from 0 to 1e15",
    ),
    ("a scenario", lambda: study().run().jobs(2), "the scenario is 2, but this study has scenarios 1 to 1"),
    ("a replication", lambda: study().run().jobs(1, 7), "the replication is 7, but scenario 1 has replications 0 to 0"),
    ("a request", lambda: mw.Pool(MESH).allocate("many"), "the request is 'many', but must be a number of processors"),
    ("a request below 0", lambda: mw.Pool(MESH).allocate(-1), "the request is -1, but must be a number of processors"),
    ("no request", lambda: mw.Pool(MESH).allocate(()), "the request is (), but must be a number of processors"),
    ("a float", lambda: mw.Pool(MESH).allocate(2.5), "the request is 2.5, but must be"),  # type: ignore[arg-type]
    ("a release", lambda: mw.Pool(MESH).release([0, 1]), "this placement is not held, so it cannot be released"),
    ("a node", lambda: mw.Pool(MESH).adopt([16]), "16 is no node of a 4 × 4 mesh, whose nodes are 0 to 15"),
    ("a node below 0", lambda: mw.Pool(MESH).adopt([-1]), "-1 is no node of a 4 × 4 mesh"),
    (
        "a block",
        lambda: mw.Pool(MESH).adopt(((3, 3), (2, 2))),
        "a block with base [3, 3] and dims [2, 2] does not lie on",
    ),
    ("no placement", lambda: mw.Pool(MESH).adopt([]), "a placement has at least one node, and this one has none"),
    ("no placement at all", lambda: mw.Pool(MESH).adopt("x"), "'x' is no placement"),  # type: ignore[arg-type]
    ("an array of numbers", lambda: mw.Pool(MESH).adopt(np.array([0.5])), "array([0.5]) is no placement"),
    ("a node twice", lambda: mw.Pool(MESH).adopt([3, 3]), "is not free"),
    ("time", lambda: mw.Pool(MESH).advance(float("nan")), "the time is NaN, but must be a number from 0 to 1e15"),
    ("a ratio", lambda: mw.Pool(MESH).largest((1,)), "the ratio is [1], but must have a whole number above 0 for each"),
    ("a snapshot", lambda: mw.Pool(MESH).restore({"a": 1}), "this is no snapshot of a pool (unknown field `a`"),
    ("a kind", lambda: mw.list("allocater"), "unknown kind `allocater` (did you mean `allocator`?"),
    ("a load", lambda: mw.traffic(MESH, [2.0]), "invalid value '2.0' for '--loads <X,…>': must be a number above 0"),
    (
        "a machine of traffic",
        lambda: mw.traffic(mw.flat(4)),
        "the machine of traffic is one site with links, such as mw.torus(8, 8), and this is",
    ),
    ("a folder", lambda: mw.check("none"), "there are no stored runs in this folder"),
    ("a paper", lambda: mw.reproduce("nobody", out="x"), "nobody"),
    ("a strategy", lambda: mw.register(3), "a strategy is a class, and 3 is none"),  # type: ignore[call-overload]
    (
        "a class",
        lambda: mw.register(dict),
        "the class `dict` is no strategy: one has the method choose, schedule, sizes",
    ),
]


@pytest.mark.parametrize(("act", "sentence"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_it_is_an_exception_with_a_sentence(act: Callable[[], object], sentence: str) -> None:
    with pytest.raises(mw.MeshworkError) as raised:
        act()
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("\nreplications = 0\n")
    with pytest.raises(mw.InputError) as raised:
        mw.Study.from_toml(path)
    assert str(raised.value) == f"{path}:2: `replications` is 0, but must be a whole number from 1 to 1000000"


def test_errors_are_those_that_python_knows() -> None:
    assert issubclass(mw.InputError, ValueError)
    assert issubclass(mw.RunError, RuntimeError)
    assert issubclass(mw.StrategyError, mw.RunError)
    with pytest.raises(KeyError, match="there is no column `x`; there are kind, name"):
        mw.list("metric")["x"]
    with pytest.raises(IndexError, match="there is no row 1000"):
        mw.list("metric").row(1000)


def test_a_failed_run_has_the_results_of_the_others(tmp_path: Path) -> None:
    # The second scenario reads a table in which one row is no valid job.
    bad = tmp_path / "bad.csv"
    bad.write_text("submit,runtime,nodes\n0,-1,1\n")
    keys = study(sweep={"workload": [GOOD, str(bad)]}, metrics=["wait"])
    with pytest.raises(mw.RunError) as raised:
        keys.run()
    assert raised.value.results is not None
    assert raised.value.results.summary.row(0)["mean"] == 0.0
    assert len(keys.run(on_failure="keep").failures) == 1


def test_a_table_is_told_from_a_workload() -> None:
    assert _frame.is_table(GOOD)
    assert not _frame.is_table({"name": "lublin", "jobs": 3})
    assert not _frame.is_table("lublin")


def test_a_bad_state_is_named_as_what_it_is(tmp_path: Path) -> None:
    study = tmp_path / "policy.toml"
    study.write_text(mw.Study(machine=MESH, workload={"name": "lublin", "jobs": 9}).toml)
    with pytest.raises(mw.InputError, match=r"^state: waiting job \"b\": it has no estimate"):
        mw.plan({"now": 5, "waiting": [{"id": "b", "nodes": 4}]}, study)
