// The nearest place of a job that waits for a shape.

import assert from "node:assert/strict";
import { test } from "node:test";

import { blocksOf, nearest } from "../machine/nearest.js";

const site = (wiring, sides) => {
  const strides = [];
  const nodes = sides.reduce((stride, side) => (strides.push(stride), stride * side), 1);
  return { wiring, sides, strides, nodes };
};

/** A run in which each of some jobs holds some nodes of the one site until a time. */
function run(own, asked, held) {
  return {
    sites: [own], asked: [{ text: asked }], request: [0], where: held.map(() => 0), who: held.map((_, i) => i),
    finish: held.map(([, until]) => until), rowsOf: (s, visit) => held[s][0].forEach((node) => visit(node, 1)),
  };
}
const moment = (held, down = []) => ({ running: held.map((_, i) => i), down: down.map((node) => ({ site: 0, node })) });

test("what was asked for is a block of the machine", () => {
  assert.deepEqual(blocksOf(site("mesh", [4, 2]), "3x1"), [[3, 1]]);
  assert.deepEqual(blocksOf(site("mesh", [4, 4]), "3x2").length, 2);
  assert.deepEqual(blocksOf(site("hypercube", [2, 2, 2]), "2^2").length, 3);
  assert.deepEqual(blocksOf(site("mesh", [4, 4]), "5"), []);
  assert.deepEqual(blocksOf(site("fat_tree", [4, 4]), "2x2"), []);
});

test("the nearest place is the one that is free soonest", () => {
  const held = [[[1], 50], [[5], 10], [[6], 90]];
  const found = nearest(run(site("mesh", [4, 2]), "2x2", held), 0, moment(held));
  // 0,0: until 50; 1,0: until 90; 2,0: until 90.
  assert.deepEqual([found.corner, found.at, found.jobs.sort()], [[0, 0], 50, [0, 1]]);
});

test("what is out of service is no place, and edges are joined on a torus alone", () => {
  const held = [[[1], 50], [[2], 60]];
  const places = (wiring) => nearest(run(site(wiring, [4, 1]), "2x1", held), 0, moment(held, [0]));
  assert.notDeepEqual(places("mesh").corner, [0, 0]);
  assert.equal(places("mesh").at, 60);
  assert.equal(nearest(run(site("torus", [4, 1]), "2x1", [[[0], 5], [[1], 7], [[2], 9]]), 0, moment([0, 1, 2])).at, 5);
});
