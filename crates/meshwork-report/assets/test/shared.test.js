// Nodes that jobs share: who holds which share of each, on the map and in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { layouts } from "../machine/layout.js";
import { orders } from "../machine/lanes.js";
import { SiteMap } from "../machine/map.js";
import { Sheet } from "../machine/sheet.js";
import { asks, asksBriefly, facts, legend, nodeInWords, summary } from "../machine/words.js";
import { shared } from "./a-run.js";

test("cores are counted, and each kind fills nodes by its own shares", () => {
  const run = shared();
  assert.equal(run.processors, 32);
  assert.deepEqual([...run.held], [4, 10, 6, 0]);
  const map = new SiteMap(run, 0, /** @type {any} */ (null));
  assert.equal(map.kind, "gpu");
  map.hold(run.moment(1, 9));
  assert.deepEqual(map.shares, [[{ s: 0, share: 0.5 }, { s: 1, share: 0.0625 }], [{ s: 1, share: 0.25 }]]);
  map.kind = "cpu";
  map.hold(run.moment(1, 9));
  assert.deepEqual(map.shares.map((node) => node.map(({ share }) => share)), [[0.25, 0.125], [0.25]]);
});

test("a point of a node is of the job that fills it there", () => {
  const run = shared();
  const map = new SiteMap(run, 0, /** @type {any} */ (null));
  map.hold(run.moment(1, 9));
  map.layout = layouts(run.sites, 400, 400, 0)[0];
  const { cell, panes: [{ x, y }] } = map.layout;
  const at = (column, share) => map.at(x + (column + 0.5) * cell, y + (1 - share) * cell);
  assert.deepEqual([0.1, 0.49, 0.55, 0.6].map((share) => at(0, share).job), [0, 0, 1, -1]);
  assert.deepEqual([at(1, 0.1), at(1, 0.5)], [{ node: 1, job: 1, isOut: false }, { node: 1, job: -1, isOut: false }]);
});

test("failed GPUs are drawn at the top of their node", () => {
  const run = shared();
  const map = new SiteMap(run, 0, /** @type {any} */ (null));
  const [layout] = layouts(run.sites, 400, 400, 0);
  const theme = { free: "free", down: "down", edge: "edge", soft: "soft", label: "label", jobs: ["zero", "one"], tiles: new Map() };
  const moment = { ...run.moment(9, 9), marked: ["0", "1"].map((name) => ({ kind: "gpu", name, site: 0, first: 1, count: 1 })) };
  const drawn = () => {
    const sheet = new Sheet();
    map.paint(sheet, layout, moment, -1, theme);
    return sheet.parts.filter((part) => part.startsWith("<rect") && part.includes('fill="down"')).map((part) => Number(/height="([\d.]+)"/.exec(part)?.[1]));
  };
  const side = layout.cell - 3;
  assert.deepEqual(drawn().map((height) => Math.round((height / side) * 8)), [2], "two of eight GPUs");
  map.kind = "cpu";
  assert.deepEqual(drawn(), []);
});

test("words count cores and name what is free", () => {
  const run = shared();
  const moment = run.moment(1, 9);
  assert.match(summary(run, moment), /10 of 32 cores are held \(31.%\), 22 are free; 2 jobs run, 0 wait/);
  assert.match(facts(run, 1), /with 6 cores: 0.5 GPUs, 2 cores of node 0; 2 GPUs, 4 cores of node 1\./);
  assert.equal(nodeInWords(run, moment, 0, 0), "node 0 (eight), 3.5 GPUs, 10 cores free, held by job 7 and job 8");
  assert.equal(nodeInWords(run, moment, 0, 1), "node 1 (eight), 6 GPUs, 12 cores free, held by job 8");
  const broken = { ...moment, marked: ["1", "4"].map((name) => ({ kind: "gpu", name, site: 0, first: 1, count: 1 })) };
  assert.equal(nodeInWords(run, broken, 0, 1), "node 1 (eight), 4 GPUs, 12 cores free, 2 GPUs out of service, held by job 8");
  const brief = (text) => {
    run.asked[0].text = text;
    return asksBriefly(run, 0);
  };
  assert.deepEqual(["pieces=3 cpu=30 gpu=4", "pieces=1 cpu=8 gpu=1", "pieces=2 cpu=8 mem=5", "roles=1*cpu=4+4*cpu=8,gpu=2"].map(brief),
    ["3×4 GPUs", "1 GPU", "2×8 cores", "2 roles"]);
  assert.match(legend(run.sites[0]), /^Each square is a node; .* chosen\.$/);
  assert.match(legend({ ...run.sites[0], wiring: "fat_tree" }), /chosen\. A row is a leaf switch, the bar at its left, with its nodes\.$/);
  const mixed = { ...run.sites[0], shared: { types: [{ gpu: 8, cpu: 16 }, { gpu: 0, cpu: 16 }] } };
  assert.match(legend(mixed), /chosen\. An empty outline is a node that has none of it\.$/);
  assert.match(legend({ ...mixed, kinds: ["cpu"] }), /by its share of the cores\.$/, "nothing to choose");
  run.asked[0].text = "pieces=4 cpu=96 mem=1000000 gpu=8 inside=leaf";
  assert.match(asks(run, 0), /^4 pieces, each of 8 GPUs, 96 cores, 1,000,000 MiB, inside a leaf \(/);
  run.asked[0] = { text: "pieces=1 cpu=24", nodes: 24 };
  assert.equal(asks(run, 0), "24 cores");
  assert.deepEqual(orders(run), ["job"], "a node has no holder of its own");
});
