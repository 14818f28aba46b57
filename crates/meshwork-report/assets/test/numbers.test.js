// The numbers along axes: the same cases stand in `src/report/draw/numbers.rs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { brief, linearTicks, logTicks, percent, rounded, tick } from "../plot/numbers.js";

test("numbers are short and grouped", () => {
  assert.deepEqual([0, -0.3, 0.1 + 0.2, 1234.5, 999_999, 1.5e6, -2e9, 0.00001].map(tick), ["0", "−0.3", "0.3", "1234.5", "999,999", "1.5M", "−2B", "1e−5"]);
  assert.deepEqual([1 / 3, 24_485.4, 123_456.7, -0.000012345, 2e15].map(brief), ["0.33333", "24,485", "123,457", "−1.234e−5", "2.000e15"]);
  assert.deepEqual([rounded(24_485.4, 159.2), rounded(-0.012345, 0.00456), rounded(7, 0)], ["24,485 ± 159", "−0.0123 ± 0.0046", "7 ± 0"]);
});

test("ticks are round", () => {
  assert.deepEqual(linearTicks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(linearTicks(-3, 12, 4), [0, 5, 10]);
  assert.deepEqual(linearTicks(2, 2, 4), [2]);
  assert.deepEqual(logTicks(0.5, 80, 8), [0.5, 1, 2, 5, 10, 20, 50]);
  assert.deepEqual(logTicks(0.01, 1e6, 5), [0.01, 1, 100, 10_000, 1e6]);
  assert.deepEqual(logTicks(0.01, 1e6, 4), [1, 1000, 1e6]);
  // Never one alone.
  assert.deepEqual(logTicks(20, 900, 2), [30, 300]);
  assert.deepEqual(logTicks(120, 900, 3), [200, 500]);
  assert.deepEqual(logTicks(350, 480, 4), [350, 400, 450]);
  assert.deepEqual([percent(-97.4, -99.8, -72), percent(12, -3, Infinity), percent(0.25, null, null)], ["−97 % (−100 to −72)", "+12 % (−3 to ∞)", "+0.25 %"]);
});

test("ticks stand inside and never apart from each other by odd steps", () => {
  // Against the definition, on many spans.
  for (let i = 0; i < 500; i += 1) {
    const from = Math.sin(i) * 10 ** (i % 7), until = from + (1 + Math.abs(Math.cos(i))) * 10 ** ((i * 3) % 9 - 4);
    const ticks = linearTicks(from, until, 2 + (i % 6));
    if (ticks.length < 2) continue;
    const step = ticks[1] - ticks[0];
    assert.ok(ticks.every((number) => number >= from - step * 1e-6 && number <= until + step * 1e-6));
    const digits = Number((step / 10 ** Math.floor(Math.log10(step) + 1e-9)).toPrecision(6));
    assert.ok([1, 2, 5, 10].some((good) => Math.abs(good - digits) < 0.02), `${from} to ${until}: ${step}`);
  }
});
