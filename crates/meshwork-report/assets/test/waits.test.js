// Why a job waits, at any time.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Run } from "../machine/run.js";
import { why } from "../machine/words.js";

/** Two jobs of one request on a mesh of 4 × 2, the second of which waits, for one thing after the other. */
function run(more = {}) {
  const recording = {
    from: 0, until: 9, notes: [], held_up: "reserved", answers_until: null,
    sites: [{ words: "4 × 2 mesh", wiring: "mesh", sides: [4, 2], speed: 1 }],
    asked: [{ text: "1x1", nodes: 1 }, { text: "2x2", nodes: 4 }], shapes: [[3, 2], [2, 2], [1, 1]], ...more,
  };
  return new Run(recording, {
    // A large and a small one start; 8 comes; the small one ends; the large one ends; 8 starts; it ends.
    at: Float64Array.of(0, 1, 3, 5, 7, 9), count: Uint32Array.of(4, 1, 1, 1, 1, 1),
    kind: Uint8Array.of(0, 3, 0, 3, 0, 5, 5, 3, 5), job: Uint32Array.of(0, 0, 1, 1, 2, 1, 0, 2, 2),
    number: Float64Array.of(6, 7, 8), request: Uint32Array.of(1, 0, 1), site: Uint32Array.of(0, 0, 0),
    blocks: Uint32Array.of(1, 1, 1), base: Uint32Array.of(0, 3, 0), shape: Uint32Array.of(0, 2, 1),
    answers: Uint32Array.of(0, 1, 1, 1, 0, 0), answered: Uint32Array.of(1, 1, 1), answer: Uint8Array.of(0, 1, 2),
  });
}

test("the answer that was told last is the one that counts", () => {
  const seen = run();
  const at = (time) => seen.waitsFor(2, time);
  assert.deepEqual([0.5, 1, 2.9, 3, 4.9, 5, 6.9, 7, 8].map(at), [null, "nodes", "nodes", "shape", "shape", "reserved", "reserved", null, null]);
  assert.equal(seen.waitsFor(0, 2), null, "it runs");
});

test("it is said in a sentence, with what is free", () => {
  const seen = run();
  assert.equal(why(seen, 2, 1), "At 1 it waits: too few processors are free for it: 1 is free.");
  assert.equal(why(seen, 2, 3), "At 3 it waits: enough processors are free for it (2 are free), but in no shape that it may have.");
  assert.equal(why(seen, 2, 5), "At 5 it waits: it could start, but processors are kept for jobs that come before it.");
  assert.equal(why(run({ held_up: "priority" }), 2, 5), "At 5 it waits: it could start, but others come before it.");
  assert.equal(why(seen, 2, 7), "");
});

test("nothing is said where nobody was asked", () => {
  assert.equal(why(run({ held_up: null }), 2, 3), "");
  assert.equal(why(run({ answers_until: 2 }), 2, 3), "It waits; reasons for waiting were recorded up to 2 only.");
  assert.notEqual(why(run({ answers_until: 2 }), 2, 2), "");
  const seen = run();
  const { at, count, kind, job, number, request, site, blocks, base, shape } = seen;
  const unasked = new Run(seen.recording, { at, count, kind, job, number, request, site, blocks, base, shape });
  assert.equal(why(unasked, 2, 3), "", "a recording of an older version");
});
