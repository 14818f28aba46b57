// What is saved, and what stands in the address.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fileName } from "../report/hand.js";
import { csv, numbersOf } from "../report/save.js";
import { parsed } from "../report/state.js";
import { along, canBeLog, isLog, measured, pointsOf } from "../plot/view.js";

const scale = (more) => ({ label: "x", key: "a.x", unit: "", log: false, ...more });
const view = (more, series) => ({ at: [], title: "", sentence: "", style: "lines", x: scale({}), y: scale({ key: "wait" }), series, ...more });
const line = (mean, more) => ({ name: "", colour: 0, panel: 0, x: mean.map((_, i) => i), mean, ...more });

test("cells with commas and quotes stay cells", () => {
  assert.equal(csv([["a,b", 'say "x"', null, 1.5], ["two\nlines", undefined, "", 0]]), '"a,b","say ""x""",,1.5\n"two\nlines",,,0\n');
});

test("the numbers of a view have a row for each point", () => {
  const lines = [line([1, 2], { name: "p", half: [0.5, null], replications: [3, 1] }), line([4], { name: "q", colour: 1, half: [null], replications: [1] })];
  const { heads, rows } = numbersOf(view({ colour: { label: "s", key: "scheduler" } }, lines));
  assert.deepEqual(heads, ["scheduler", "a.x", "wait", "half_width", "replications"]);
  assert.deepEqual(rows, [["p", "0", 1, 0.5, 3], ["p", "1", 2, null, 1], ["q", "0", 4, null, 1]]);
});

test("names of files", () => {
  assert.equal(fileName("load-means", "Bounded slowdown", "rsr (max_folds=2)"), "load-means-bounded-slowdown-rsr-max_folds=2");
});

test("an address says what is chosen, or leads to a place", () => {
  assert.equal(parsed("#?a.metric=Bounded+slowdown&b.scale=linear").get("a.metric"), "Bounded slowdown");
  assert.equal([...parsed("#results")].length, 0);
});

test("scales hold every mean, and not every whisker", () => {
  const wide = view({}, [line([1, 2, 3], { half: [0.1, 0.1, 100] })]);
  const [from, until] = measured(wide, pointsOf(wide), false);
  assert.ok(from <= 1 && until >= 3 && until < 10);
  const low = measured(wide, pointsOf(wide), true);
  assert.ok(low[0] > 0 && low[0] <= 1 && low[1] >= 3);
  assert.deepEqual(along(wide, pointsOf(wide), false), [0, 2]);
});

test("a scale is logarithmic only where all is above 0", () => {
  assert.equal(canBeLog(view({}, [line([1, 0])])), false);
  assert.equal(canBeLog(view({}, [line([1, 2])])), true);
  assert.equal(canBeLog(view({ differences: true }, [line([1, 2])])), false);
  assert.equal(canBeLog(view({ style: "steps", fixed: true }, [line([1, 2])])), false);
  assert.equal(isLog(view({ style: "steps", x: scale({ log: true }) }, [line([1, 2])])), true);
});
