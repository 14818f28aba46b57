// A run, for tests.

import { Run } from "../machine/run.js";

/** Two jobs on a mesh of 4 × 2: the second waits for the first. */
export function run() {
  const recording = {
    from: 0, until: 9, notes: [],
    sites: [{ words: "4 × 2 mesh", wiring: "mesh", sides: [4, 2], speed: 1 }],
    asked: [{ text: "3x2", nodes: 6 }, { text: "2x2", nodes: 4 }], shapes: [[3, 2], [2, 2]],
  };
  return new Run(recording, {
    at: Float64Array.of(0, 1, 5, 9), count: Uint32Array.of(2, 1, 2, 1), kind: Uint8Array.of(0, 3, 0, 5, 3, 5),
    job: Uint32Array.of(0, 0, 1, 0, 1, 1), number: Float64Array.of(7, 8), request: Uint32Array.of(0, 1), site: Uint32Array.of(0, 0),
    blocks: Uint32Array.of(1, 1), base: Uint32Array.of(1, 2), shape: Uint32Array.of(0, 1),
  });
}
