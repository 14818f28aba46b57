// The order of the rows of a table.

import assert from "node:assert/strict";
import { test } from "node:test";

import { compare, keyOf } from "../report/tables.js";

test("cells are ordered by the number with which they begin", () => {
  assert.deepEqual(["1,092,460 ± 1,327,555", "−12.5 ± 3 *", "+0.13", "1.2e-7", "first_fit", " 8x8 "].map(keyOf), [1_092_460, -12.5, 0.13, 1.2e-7, "first_fit", 8]);
  assert.deepEqual(["b", "-", "20 ± 1", "a", "3"].map(keyOf).sort(compare), [3, 20, "a", "b", "-"]);
});
