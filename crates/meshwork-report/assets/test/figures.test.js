// Figures, to the letter: what stands in `figures/`, which `meshwork report --figures` is held to as well.
// `UPDATE_EXPECTED=1 npm test` writes them anew.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { figureOf } from "../plot/figure.js";

const folder = new URL("figures/", import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  test(`the figure ${file}`, () => {
    const { view, log, width } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
    const drawn = figureOf(view, log, width);
    const expected = new URL(file.replace(".json", ".svg"), folder);
    if (process.env.UPDATE_EXPECTED) writeFileSync(expected, drawn);
    assert.ok(existsSync(expected), "it is not drawn yet: UPDATE_EXPECTED=1 npm test");
    assert.equal(drawn, readFileSync(expected, "utf8"));
    assert.ok(!/NaN|Infinity|undefined/.test(drawn));
  });
}
