// Where bars lie, and many lanes in few rows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Cells, pack, pop, push } from "../machine/lanes.js";

/** Numbers that look drawn, the same every time. */
function* draws(seed) {
  for (let next = seed; ;) yield (next = (next * 48271) % 2147483647) / 2147483647;
}

test("a heap gives the lowest first", () => {
  const numbers = draws(3);
  const heap = [], all = [];
  for (let i = 0; i < 200; i += 1) {
    const number = Math.floor(numbers.next().value * 50);
    push(heap, number);
    all.push(number);
  }
  all.sort((a, b) => a - b);
  assert.deepEqual(Array.from({ length: 200 }, () => pop(heap)), all);
});

test("no two jobs share a lane at one time, and a lane that is free below is taken", () => {
  const numbers = draws(7);
  const stays = 300, from = [], to = [];
  let time = 0;
  for (let s = 0; s < stays; s += 1) {
    time += numbers.next().value;
    from.push(time);
    to.push(time + numbers.next().value * 9);
  }
  const who = from.map((_, s) => s);
  const { lane, bands } = pack({ sites: [{ sides: [4, 4], nodes: 16 }], stays, from, to, who, where: who.map(() => 0), finish: to });
  for (let s = 0; s < stays; s += 1) {
    const taken = new Set();
    for (let other = 0; other < s; other += 1) if (to[other] > from[s]) taken.add(lane[other]);
    let lowest = 0;
    while (taken.has(lowest)) lowest += 1;
    assert.equal(lane[s], lowest);
  }
  assert.equal(bands[0].lanes, 1 + Math.max(...lane));
});

test("cells are as full as the lanes that they stand for", () => {
  const numbers = draws(11);
  const [lanes, rows, columns] = [37, 5, 40];
  const cells = new Cells(lanes, rows, columns);
  // The obvious twin: every lane on its own, a hundredth of a column at a time.
  const held = Array.from({ length: lanes }, () => new Int32Array(columns * 100).fill(-1));
  for (let stay = 0; stay < 60; stay += 1) {
    const first = Math.floor(numbers.next().value * lanes);
    const count = 1 + Math.floor(numbers.next().value * (lanes - first));
    const left = Math.floor(numbers.next().value * 4000) / 100;
    const right = left + Math.floor(numbers.next().value * 800) / 100;
    const steps = [Math.round(left * 100), Math.min(4000, Math.round(right * 100))];
    const isFree = () => { for (let l = first; l < first + count; l += 1) for (let x = steps[0]; x < steps[1]; x += 1) if (held[l][x] >= 0) return false; return true; };
    if (!isFree()) continue;
    for (let l = first; l < first + count; l += 1) held[l].fill(stay, ...steps);
    cells.add(stay, first, count, left, right);
  }
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      let [full, area] = [0, 0];
      for (let l = cells.lane(row); l < cells.lane(row + 1); l += 1) {
        assert.equal(cells.row(l), row);
        for (let x = column * 100; x < column * 100 + 100; x += 1) {
          area += 1;
          full += Number(held[l][x] >= 0);
        }
      }
      assert.ok(Math.abs(cells.held[row * columns + column] - full / area) < 1e-3);
    }
  }
  // What is visited covers every cell once.
  const seen = new Uint8Array(rows * columns);
  cells.visit((row, column, count) => { for (let c = column; c < column + count; c += 1) seen[row * columns + c] += 1; });
  assert.ok(seen.every((times) => times === 1));
});

test("who holds most of a cell has it, and nobody has what several share", () => {
  const cells = new Cells(8, 2, 3);
  cells.add(5, 0, 3, 0, 2);
  cells.add(6, 3, 1, 0, 2);
  cells.add(7, 4, 2, 0, 3);
  const seen = [];
  cells.visit((...one) => seen.push(one));
  assert.deepEqual(seen, [[0, 0, 2, 5, 1], [0, 2, 1, -1, 0], [1, 0, 3, -1, 0.5]]);
});
