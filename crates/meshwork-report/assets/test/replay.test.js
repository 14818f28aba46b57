// A recording, and what it says of any instant.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lasting, upTo } from "../machine/run.js";
import { broken, run } from "./a-run.js";

test("who holds what, and who waits, at any time", () => {
  const seen = run();
  const at = (time) => {
    const { running, waiting, held, waits, runs } = seen.moment(time, 10);
    return { running: running.map((s) => seen.number[seen.who[s]]), waiting: waiting.map((job) => seen.number[job]), held, waits, runs };
  };
  assert.deepEqual(at(-1), { running: [], waiting: [], held: 0, waits: 0, runs: 0 });
  assert.deepEqual(at(0), { running: [7], waiting: [], held: 6, waits: 0, runs: 1 });
  assert.deepEqual(at(4.9), { running: [7], waiting: [8], held: 6, waits: 1, runs: 1 });
  assert.deepEqual(at(5), { running: [8], waiting: [], held: 4, waits: 0, runs: 1 }, "all that happened at a time has happened");
  assert.deepEqual(at(9), { running: [], waiting: [], held: 0, waits: 0, runs: 0 });
});

test("which nodes sleep", () => {
  const at = (time) => broken().moment(time, 10).marked.map(({ kind, first }) => `${kind} ${first}`);
  assert.deepEqual([at(0.5), at(1), at(3), at(4)], [[], ["asleep 5"], ["asleep 5", "asleep 6"], ["asleep 6"]]);
});

test("what is down, and who waits again", () => {
  const seen = broken();
  const at = (time) => {
    const { running, waiting, down, held, waits, runs } = seen.moment(time, 10);
    return { running: running.length, waiting: waiting.length, down: down.map(({ node }) => node), held, waits, runs };
  };
  assert.deepEqual(at(2), { running: 1, waiting: 0, down: [], held: 2, waits: 0, runs: 1 });
  assert.deepEqual(at(3), { running: 0, waiting: 1, down: [1], held: 0, waits: 1, runs: 0 });
  assert.deepEqual(at(4), { running: 1, waiting: 0, down: [1], held: 2, waits: 0, runs: 1 });
  assert.deepEqual(at(6), { running: 1, waiting: 0, down: [], held: 2, waits: 0, runs: 1 });
  assert.deepEqual(at(9), { running: 0, waiting: 0, down: [], held: 0, waits: 0, runs: 0 });
  assert.deepEqual(seen.staysOf(0).map((s) => [seen.from[s], seen.to[s], seen.placeOf(s)[0]]), [[0, 3, "0,0:2x1"], [4, 9, "2,0:2x1"]]);
});

test("rows of nodes are those of the block", () => {
  const seen = run();
  const rows = [];
  seen.rowsOf(0, (first, count) => rows.push([first, count]));
  assert.deepEqual(rows, [[1, 3], [5, 3]]);
  assert.deepEqual(seen.placeOf(1), ["2,0:2x2"]);
});

test("the index passes nobody by", () => {
  // Against looking at all of them.
  const ends = Array.from({ length: 1500 }, (_, i) => (i * 7919) % 1000);
  const last = [];
  for (let i = 0; i < ends.length; i += 256) last.push(Math.max(...ends.slice(i, i + 256)));
  for (const time of [-1, 0, 500, 998, 999]) {
    const found = [];
    lasting(ends, last, 1400, time, (i) => { found.push(i); return false; });
    assert.deepEqual(found, ends.slice(0, 1400).flatMap((end, i) => (end > time ? [i] : [])));
  }
  assert.equal(upTo([1, 2, 2, 5], 2, 4), 3);
});

test("from any time the instants before and behind are found", () => {
  const seen = run();
  assert.deepEqual([0, 0.5, 1, 8, 9].map((time) => seen.neighbour(time, 1)), [1, 1, 5, 9, 9]);
  assert.deepEqual([0, 0.5, 1, 8, 9].map((time) => seen.neighbour(time, -1)), [0, 0, 0, 5, 5]);
});
