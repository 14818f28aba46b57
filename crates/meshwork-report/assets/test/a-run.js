// A run, for tests.

import { Run } from "../machine/run.js";

/** A job that is interrupted at 3, as node 1 goes out of service, and runs elsewhere from 4 to 9; node 1 is back at 6; nodes 5 and 6 sleep. */
export function broken() {
  const recording = {
    from: 0, until: 9, notes: [],
    sites: [{ words: "4 × 2 mesh", wiring: "mesh", sides: [4, 2], speed: 1 }],
    asked: [{ text: "2", nodes: 2 }], shapes: [[2, 1]],
  };
  return new Run(recording, {
    at: Float64Array.of(0, 3, 4, 6, 9), count: Uint32Array.of(2, 2, 1, 1, 1), kind: Uint8Array.of(0, 3, 6, 7, 3, 8, 5),
    job: Uint32Array.of(0, 0, 0, 1, 0, 1, 0), number: Float64Array.of(7), request: Uint32Array.of(0), site: Uint32Array.of(0, 0, 0, 0),
    blocks: Uint32Array.of(1, 1), base: Uint32Array.of(0, 2), shape: Uint32Array.of(0, 0),
    asleep_node: Uint32Array.of(5, 6), asleep_site: Uint32Array.of(0, 0), asleep_from: Float64Array.of(1, 3), asleep_until: Float64Array.of(4, Infinity),
  });
}

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

/** Two jobs that share node 0 of two, of 8 GPUs and 16 cores; the second also has 2 GPUs of node 1. */
export function shared() {
  const recording = {
    from: 0, until: 9, notes: [],
    sites: [{
      words: "flat, 2 nodes", wiring: "flat", sides: [2], speed: 1,
      shared: { types: [{ name: "eight", cpu: 16, mem: 0, gpu: 8, other: 0 }], of: [[2, 0]] },
    }],
    asked: [{ text: "gpu=4", nodes: 4 }, { text: "gpu=2", nodes: 6 }], shapes: [[1]],
  };
  return new Run(recording, {
    at: Float64Array.of(0, 1, 5, 9), count: Uint32Array.of(2, 2, 1, 1), kind: Uint8Array.of(0, 3, 0, 3, 5, 5),
    job: Uint32Array.of(0, 0, 1, 1, 0, 1), number: Float64Array.of(7, 8), request: Uint32Array.of(0, 1), site: Uint32Array.of(0, 0),
    blocks: Uint32Array.of(1, 2), base: Uint32Array.of(0, 0, 1), shape: Uint32Array.of(0, 0, 0),
    parts: Uint32Array.of(1, 2), part_node: Uint32Array.of(0, 0, 1), part_cpu: Uint32Array.of(4, 2, 4),
    part_mem: Uint32Array.of(0, 0, 0), part_gpu: Uint32Array.of(4000, 500, 2000), part_other: Uint32Array.of(0, 0, 0),
  });
}
