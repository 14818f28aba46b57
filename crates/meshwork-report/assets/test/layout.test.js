// Where processors stand on the page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { layout, layouts } from "../machine/layout.js";

/** A site as the reader of recordings makes it. */
function site(wiring, sides) {
  const strides = [];
  const nodes = sides.reduce((product, side) => (strides.push(product), product * side), 1);
  return { wiring, sides, strides, nodes };
}

/** Every node of a layout, row by row and pane by pane. */
const nodes = ({ panes }) => panes.map((pane) => Array.from({ length: pane.rows }, (_, y) =>
  Array.from({ length: pane.columns }, (_, x) => pane.node(x, y))));

test("a plane is drawn as it is", () => {
  assert.deepEqual(nodes(layout(site("mesh", [3, 2]), 10, 400)), [[[0, 1, 2], [3, 4, 5]]]);
});

test("every node of every machine stands in one place", () => {
  const machines = [["mesh", [7]], ["mesh", [4, 5]], ["torus", [3, 4, 5]], ["mesh", [2, 3, 4, 2]], ["hypercube", [2, 2, 2, 2, 2]], ["flat", [43]]];
  for (const [wiring, sides] of machines) {
    for (const room of [60, 320, 1200]) {
      const own = site(wiring, sides);
      const all = nodes(layout(own, 12, room)).flat(2).filter((node) => node >= 0).sort((a, b) => a - b);
      assert.deepEqual(all, Array.from({ length: own.nodes }, (_, node) => node), `${wiring} ${sides} in ${room}`);
    }
  }
});

test("neighbours of a Karnaugh map differ in one bit", () => {
  const [rows] = nodes(layout(site("hypercube", [2, 2, 2, 2, 2]), 12, 800));
  for (const [y, row] of rows.entries()) {
    for (const [x, node] of row.entries()) {
      for (const other of [row[x + 1], rows[y + 1]?.[x]]) {
        if (other !== undefined) assert.ok([1, 2, 4, 8, 16].includes(node ^ other));
      }
    }
  }
});

test("sites have cells of one size, and no pane lies on another", () => {
  const all = layouts([site("mesh", [16, 16]), site("torus", [8, 8, 4])], 700, 500, 44);
  assert.equal(new Set(all.map((one) => one.cell)).size, 1);
  for (const { panes, cell, width } of all) {
    assert.ok(width <= 700);
    for (const [i, a] of panes.entries()) {
      for (const b of panes.slice(i + 1)) {
        const apart = a.x + a.columns * cell <= b.x || b.x + b.columns * cell <= a.x || a.y + a.rows * cell <= b.y || b.y + b.rows * cell <= a.y;
        assert.ok(apart);
      }
    }
  }
});

test("layers stand in lines of one length", () => {
  const across = (count, room) => new Set(layout(site("torus", [16, 16, count]), 5, room).panes.map((pane) => pane.x)).size;
  const fits = (count) => count * (16 * 5 + 14) - 14;
  assert.equal(across(32, fits(10)), 8, "and not ten, ten, ten and two");
  assert.equal(across(32, fits(32)), 32);
  assert.equal(across(7, fits(4)), 4);
  assert.equal(across(5, 20), 1);
});
