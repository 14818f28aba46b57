// A map as SVG.

import assert from "node:assert/strict";
import { test } from "node:test";

import { layout } from "../machine/layout.js";
import { SiteMap } from "../machine/map.js";
import { Sheet } from "../machine/sheet.js";

test("every held node lies in one rectangle of its job, and names are escaped", () => {
  const site = { wiring: "mesh", sides: [4, 2], strides: [1, 4], nodes: 8 };
  const run = { sites: [site], where: [0], who: [0], look: [1], number: [7], rowsOf: (_, visit) => { visit(1, 2); visit(5, 2); } };
  const map = new SiteMap(run, 0, null);
  const sheet = new Sheet();
  const theme = { free: "free", down: "down", edge: "edge", soft: "soft", label: "label", jobs: ["zero", "one"], tiles: new Map() };
  map.paint(sheet, layout(site, 20, 400), { running: [0], down: [{ site: 0, node: 0 }, { site: 1, node: 3 }] }, -1, theme);
  const down = sheet.parts.filter((part) => part.startsWith("<rect") && part.includes('fill="down"'));
  assert.deepEqual(down, ['<rect x="0" y="0" width="20" height="20" fill="down"/>']);
  const job = sheet.parts.filter((part) => part.startsWith("<rect") && part.includes('fill="one"'));
  assert.deepEqual(job, ['<rect x="20" y="0" width="40" height="40" fill="one"/>']);
  assert.ok(sheet.parts.some((part) => part.endsWith('fill="label">7</text>')));
  sheet.fillText("<a & b>", 0, 0);
  assert.ok(String(sheet).endsWith("&lt;a &amp; b&gt;</text>"));
});
