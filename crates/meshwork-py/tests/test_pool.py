"""Pools agree with a model of the machine that is an array."""

from __future__ import annotations

import json
import pickle
import random
import threading
import time

import numpy as np
import pytest

import meshwork as mw


@pytest.mark.parametrize(
    ("machine", "allocator"),
    [
        (mw.mesh(8, 6), "first_fit"),
        (mw.torus(4, 4, 4), "best_fit"),
        (mw.hypercube(6), "buddy"),
        (mw.flat(40), "naive"),
        (mw.mesh(8, 8), "paging"),
        (mw.mesh(8, 8), "random"),
    ],
)
def test_a_pool_is_an_array_of_who_holds_what(machine: mw.Machine, allocator: str) -> None:
    pool = mw.Pool(machine, allocator=allocator)
    free = pool.free
    draw = random.Random(1)
    nodes = pool.topology.nodes
    held: list[mw.Placement] = []
    taken = np.zeros(nodes, dtype=bool)
    for _ in range(400):
        if held and draw.random() < 0.45:
            block = held.pop(draw.randrange(len(held)))
            taken[block.nodes] = False
            pool.release(block)
        else:
            wanted = draw.randint(1, nodes // 3)
            can = pool.can(wanted)
            got = pool.allocate(wanted)
            assert can == got
            if got is None:
                continue
            assert len(got) >= wanted
            assert not taken[got.nodes].any()
            assert len(set(got.nodes.tolist())) == len(got)
            assert [pool.topology.node(at) for at in got.coordinates.tolist()] == got.nodes.tolist()
            taken[got.nodes] = True
            held.append(got)
        # The array obtained at the beginning follows every change; dimension 0 is its first index.
        assert (~free.ravel(order="F") == taken).all()
        assert pool.free_nodes == nodes - taken.sum()
        assert ((pool.holder.ravel(order="F") >= 0) == taken).all()
        assert len(pool.held) == len(held)


def test_the_array_cannot_be_written_and_outlives_the_pool() -> None:
    pool = mw.Pool(mw.mesh(4, 2))
    pool.allocate((2, 1))
    free = pool.free
    assert free.shape == (4, 2)
    assert free.dtype == bool
    assert free.tolist() == [[False, True], [False, True], [True, True], [True, True]]
    with pytest.raises(ValueError, match="read-only"):
        free[0, 0] = True
    del pool
    assert free.sum() == 6


def test_a_snapshot_goes_through_json_and_answers_alike() -> None:
    one = mw.Pool(mw.torus(8, 8), allocator="random", seed=7)
    blocks = [one.allocate(5) for _ in range(6)]
    assert blocks[2] is not None
    one.release(blocks[2])
    state = json.loads(json.dumps(one.snapshot()))
    other = mw.Pool(mw.torus(8, 8), allocator="random", seed=7)
    other.restore(state)
    assert (other.free == one.free).all()
    for _ in range(5):
        assert other.allocate(3) == one.allocate(3)
    with pytest.raises(mw.InputError):
        mw.Pool(mw.torus(4, 4)).restore(state)


def test_requests_in_every_form() -> None:
    pool = mw.Pool(mw.hypercube(5), allocator="buddy")
    for wanted, nodes in [("2^3", 8), (8, 8), (np.int64(5), 8)]:
        got = pool.allocate(wanted)
        assert got is not None
        assert len(got) == nodes
    mesh = mw.Pool(mw.mesh(8, 8))
    assert mesh.allocate("3x5") == mw.Pool(mw.mesh(8, 8)).allocate((3, 5))
    assert mesh.could_hold((8, 8))
    assert not mesh.could_hold((9, 1))


def test_adopted_placements_of_any_form() -> None:
    pool = mw.Pool(mw.mesh(4, 4))
    block = pool.adopt(((1, 0), (2, 2)))
    assert block.blocks == [((1, 0), (2, 2))]
    several = pool.adopt([((0, 0), (1, 1)), ((3, 3), (1, 1))])
    nodes = pool.adopt(np.array([8, 9, 12]))
    assert nodes.blocks == [((0, 2), (2, 1)), ((0, 3), (1, 1))]
    assert pool.free_nodes == 16 - 4 - 2 - 3
    with pytest.raises(mw.InputError, match="is not free"):
        pool.adopt([8])
    for held in (block, several, nodes):
        pool.release(held)
    assert pool.free.all()


def test_time_and_what_is_free() -> None:
    pool = mw.Pool(mw.mesh(8, 4))
    pool.advance(2.5)
    assert pool.now == 2.5
    with pytest.raises(mw.InputError, match="time does not go back"):
        pool.advance(1.0)
    assert pool.largest((2, 1)) == {"free": 32, "nodes": 32, "largest": ((0, 0), (8, 4))}
    assert pool.drawing() == "........\n" * 4


@mw.register
class Slow:
    """The free nodes with the lowest numbers, after a pause in which other threads may run."""

    asks, finds, stateless = "nodes", "any_nodes", True

    def choose(self, ask: mw.Ask) -> object:
        time.sleep(0.002)
        return ask.site.free_numbers[: ask.nodes]


@pytest.mark.parametrize("allocator", ["slow", "first_fit"])
def test_threads_take_turns(allocator: str) -> None:
    pool = mw.Pool(mw.mesh(16, 16), allocator)
    held: list[mw.Placement] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                first, second = pool.allocate(2), pool.allocate(3)
                assert first is not None
                assert second is not None
                assert pool.free_nodes <= 256 - 5
                assert pool.can(1) is not None
                pool.release(first)
                held.append(second)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised
    nodes = [node for placement in held for node in placement.nodes.tolist()]
    assert len(nodes) == len(set(nodes)) == 180
    assert pool.free_nodes == 256 - 180 == pool.free.sum()


def test_the_numbers_of_free_nodes() -> None:
    for machine in (mw.mesh(5, 3), mw.torus(4, 3, 2), mw.flat(70)):
        pool = mw.Pool(machine)
        for _ in range(3):
            pool.allocate(3)
            assert pool.site.free_numbers.tolist() == pool.free.ravel(order="F").nonzero()[0].tolist()
            corner = pool.topology.coordinates(int(pool.site.free_numbers[0]))
            assert pool.free[corner]


def test_a_graph_for_networkx() -> None:
    import networkx as nx

    for machine, links in [(mw.mesh(4, 3), 17), (mw.torus(4, 4), 32), (mw.hypercube(4), 32), (mw.flat(5), 0)]:
        graph = machine.graph()
        topology = machine.topology
        assert (graph.number_of_nodes(), graph.number_of_edges()) == (topology.nodes, links)
        if links:
            ways = dict(nx.all_pairs_shortest_path_length(graph))
            assert all(ways[a][b] == topology.distance(a, b) for a in range(topology.nodes) for b in range(topology.nodes))


SHARED = {"topology": "flat", "processors": 2, "nodes": [{"type": "dgx"}]}


def test_a_pool_gives_pieces_of_shared_nodes() -> None:
    pool = mw.Pool(SHARED, order="least_allocated")
    two = pool.allocate({"pieces": 2, "gpu": 1, "cpu": 8, "inside": "node"})
    assert two is not None
    assert two.parts is not None
    assert [(part["node"], part["pieces"], part["gpus"]) for part in two.parts] == [(0, 2, [(0, 1000), (1, 1000)])]
    half = pool.allocate({"gpu": 0.5, "mem": 1000})
    assert half is not None
    assert half.parts is not None
    assert half.parts[0]["gpus"] == [(0, 500)]
    assert half.parts[0]["mem"] == 1000
    assert pool.site.free.tolist() == [False, False]
    room = pool.largest()
    assert (room["free"], room["gpu"], room["cpu"]) == (224 - 17, 13, 224 - 17)
    assert pool.can({"gpu": 8}) is None
    assert pool.could_hold({"gpu": 8})
    again = pickle.loads(pickle.dumps(two))
    assert again == two
    pool.release(again)
    assert pool.site.free.tolist() == [True, False]
    copy = mw.Pool(SHARED, order="least_allocated")
    copy.restore(pool.snapshot())
    assert copy.allocate({"gpu": 7}) == pool.allocate({"gpu": 7})


def test_pieces_that_cannot_be_are_refused_in_one_sentence() -> None:
    with pytest.raises(mw.InputError, match="can never start: no node has 1 core and 9 GPUs"):
        mw.Pool(SHARED).allocate({"gpu": 9})
    with pytest.raises(mw.InputError, match=r"give `machine\.nodes`"):
        mw.Pool(mw.mesh(4, 4)).allocate({"gpu": 1})
