// The machine as SVG: drawn by what draws it for the eye.

import assert from "node:assert/strict";
import { test } from "node:test";

import { layout } from "../machine/layout.js";
import { mapSvg, momentCsv } from "../machine/save.js";
import { SvgCanvas } from "../plot/canvas.js";
import { run } from "./a-run.js";

const theme = {
  jobs: Array.from({ length: 8 }, (_, i) => `#00000${i}`), tiles: new Map(),
  free: "#eee", edge: "#111", ink: "#222", soft: "#333", label: "#444", ground: "#fff", held: "#555", waits: "#666", chosen: "#777",
};

test("what is drawn on it is SVG", () => {
  const canvas = new SvgCanvas();
  canvas.fillStyle = "red";
  canvas.fillRect(1, 2, 3, -4);
  canvas.globalAlpha = 0.5;
  canvas.beginPath();
  canvas.lineTo(0, 0);
  canvas.lineTo(4, 0.126);
  canvas.stroke();
  canvas.fillText("a<b", 1, 1);
  assert.equal(canvas.body, '<rect x="1" y="-2" width="3" height="4" fill="red"/>\n'
    + '<path d="M0 0L4 0.13" fill="none" stroke="#000" stroke-width="1" opacity="0.5"/>\n'
    + '<text x="1" y="4.6" font-size="10" text-anchor="start" fill="red" opacity="0.5">a&lt;b</text>\n');
});

test("the map of a moment has a rectangle for who holds, and one for what is free", () => {
  const seen = run();
  const svg = mapSvg(seen, seen.sites.map((site) => layout(site, 12, 400)), seen.moment(1, 5), -1, theme);
  // Six of eight processors are held by the first job: a block of 3 × 2, behind a column of free ones.
  assert.ok(svg.includes('<rect x="12" y="0" width="36" height="24" fill="#000000"/>'), svg);
  assert.ok(svg.includes('<rect x="0" y="0" width="12" height="24" fill="#eee"/>'), svg);
  assert.ok(!/NaN|undefined/.test(svg));
});

test("who runs and who waits is a table", () => {
  const seen = run();
  assert.equal(momentCsv(seen, seen.moment(1, 1)), "job,state,asks,submit,start,end,site,processors,placement\n"
    + '7,runs,3x2,0,0,5,1,6,"1,0:3x2"\n8,waits,2x2,1\n');
});
