"""Machines made in Python equal those of studies."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import meshwork as mw

MACHINES: list[tuple[mw.Machine, dict[str, Any]]] = [
    (mw.mesh(4, 3), {"topology": "mesh", "dims": [4, 3]}),
    (mw.mesh((4, 3), wrap=True), {"topology": "mesh", "dims": [4, 3], "wrap": [True]}),
    (mw.torus(4, 3, wrap=(True, False)), {"topology": "torus", "dims": [4, 3], "wrap": [True, False]}),
    (mw.torus(4, 3, processors_per_node=2), {"topology": "torus", "dims": [4, 3], "processors_per_node": 2}),
    (mw.hypercube(4), {"topology": "hypercube", "dimension": 4}),
    (mw.flat(12), {"topology": "flat", "processors": 12}),
    (mw.fat_tree(3), {"topology": "fat_tree", "arity": 3}),
    (mw.fat_tree([4, 2], taper=2.0), {"topology": "fat_tree", "arity": [4, 2], "taper": 2.0}),
    (mw.fat_tree(2, 4), {"topology": "fat_tree", "arity": 2, "levels": 4}),
    (mw.dragonfly(2), {"topology": "dragonfly", "p": 2}),
    (mw.dragonfly(2, a=3, h=1), {"topology": "dragonfly", "p": 2, "a": 3, "h": 1}),
    (mw.twisted_torus(4, 8), {"topology": "twisted_torus", "dims": [4, 8]}),
    (mw.tofu(2, 3), {"topology": "tofu", "dims": [2, 3]}),
]


@pytest.mark.parametrize(("machine", "table"), MACHINES, ids=[str(table) for _, table in MACHINES])
def test_a_machine_is_its_table(machine: mw.Machine, table: dict[str, Any]) -> None:
    assert machine.as_table() == table
    scenario = mw.Study(machine=machine, workload={"name": "lublin", "jobs": 20}, metrics=["wait"]).scenarios()[0]
    assert scenario["machine"]["topology"] == table["topology"]


@pytest.mark.parametrize(("machine", "table"), MACHINES, ids=[str(table) for _, table in MACHINES])
def test_distances_are_those_of_the_links(machine: mw.Machine, table: dict[str, Any]) -> None:
    import networkx

    topology = machine.topology
    graph = machine.graph()
    assert len([node for node in graph if isinstance(node, int)]) == topology.nodes
    if table["topology"] == "flat":
        assert graph.number_of_edges() == 0
        return
    # Between processors that are no routers, a path has two more links: from each processor to its router.
    beside = 0 if topology.router(topology.nodes - 1) == topology.nodes - 1 else 2
    for a, b in itertools.combinations(range(0, topology.nodes, 3), 2):
        shortest = networkx.shortest_path_length(graph, a, b) - beside
        if table["topology"] == "dragonfly":
            # The direct path, by the only link between two groups, may be longer than a path through other groups.
            assert shortest <= topology.distance(a, b) <= 3, (a, b)
        else:
            assert topology.distance(a, b) == shortest, (a, b)


def test_machines_have_names() -> None:
    names = [row["name"] for row in mw.list("machine")]
    assert "tpu_v4" in names
    for name in names:
        assert mw.named(name).topology.nodes > 0
    pool = mw.Pool(mw.named("tpu_v4"))
    assert pool.allocate((4, 4, 8)) is not None
    assert mw.Study(machine=mw.named("tpu_v5e"), workload={"name": "lublin", "jobs": 20}).scenarios()
    with pytest.raises(mw.InputError, match="unknown machine `tpu_v99`"):
        mw.named("tpu_v99")


def test_traffic_runs_on_every_machine_that_has_links() -> None:
    for machine, table in MACHINES:
        if table["topology"] == "flat":
            with pytest.raises(mw.InputError, match="one site with links"):
                mw.traffic(machine)
            continue
        if table["topology"] == "twisted_torus":
            with pytest.raises(mw.InputError, match="no virtual channels are known here"):
                mw.traffic(machine)
            continue
        assert len(mw.traffic(machine, [0.05, 0.1], cycles=500)) == 2, table


def test_operators_ask_too(tmp_path: Any) -> None:
    good, bad = tmp_path / "topology.conf", tmp_path / "bad.yaml"
    good.write_text("SwitchName=leaf Nodes=n[0-3]\n")
    bad.write_text("SwitchName=leaf Nodes=n[0-3\n")
    checked = mw.ops.check(good)
    assert checked["starts"] is True
    # Every subcommand is a method with its name, also one that a later version adds.
    assert mw.ops.__getattr__("check")(good) == [checked]
    assert mw.ops.check(bad)["starts"] is False
    with pytest.raises(mw.InputError, match="unknown command `no-such-thing`"):
        mw.ops.no_such_thing()
    with pytest.raises(AttributeError):
        _ = mw.ops._private
