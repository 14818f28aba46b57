// How times are read.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Clock } from "../machine/clock.js";

test("without a unit a time is a number", () => {
  const clock = new Clock();
  assert.deepEqual([clock.at(12.5), clock.words(12.5), clock.span(1234567.25), clock.short(3)], ["12.5", "Time 12.5", "1,234,567.25", "3"]);
  assert.deepEqual(clock.ticks(0, 10, 5).map(({ text }) => text), ["0", "2", "4", "6", "8", "10"]);
});

test("with a unit it is a time of a day", () => {
  const clock = new Clock({ unit: "seconds", factor: 1 });
  assert.equal(clock.at(2 * 86400 + 3661), "day 2, 01:01:01");
  assert.equal(clock.words(0), "Day 0, 00:00:00");
  assert.deepEqual([59, 119.5, 600, 7261, 86400 * 3 + 7200].map((time) => clock.span(time)), ["59 s", "119.5 s", "10 min", "2 h 01 min", "3 d 2 h"]);
  assert.equal(new Clock({ unit: "hours", factor: 1 }).at(25.5), "day 1, 01:30:00");
  assert.deepEqual(clock.ticks(0, 2 * 86400, 4).map(({ text }) => text), ["day 0", "12:00", "day 1", "12:00", "day 2"]);
  const far = [10949 * 86400, 10951 * 86400];
  assert.deepEqual(clock.ticks(far[0], far[1], 4).map(({ text }) => text), ["day 10,949", "12:00", "day 10,950", "12:00", "day 10,951"]);
});

test("with a date it is a date", () => {
  const clock = new Clock({ unit: "hours", factor: 3600, start: { unix: Date.UTC(2000, 1, 28, 23, 30) / 1000, offset: -3600, zone: "UTC-01:00" } });
  assert.deepEqual([clock.at(0), clock.at(86400 + 5400), clock.short(0)], ["2000-02-28 22:30:00", "2000-03-01 00:00:00", "02-28 22:30"]);
  // Midnights of the calendar, not whole days from the beginning.
  assert.deepEqual(clock.ticks(0, 3 * 86400, 3), [5400, 5400 + 86400, 5400 + 2 * 86400].map((time, i) =>
    ({ time, text: ["2000-02-29", "2000-03-01", "2000-03-02"][i] })));
  assert.deepEqual([clock.words(0), new Clock({ unit: "seconds", factor: 1, start: { unix: 60 } }).words(1)], ["2000-02-28 22:30:00 UTC-01:00", "1970-01-01 00:01:01 UTC"]);
  assert.equal(new Clock({ unit: null, factor: 1, start: { unix: 60 } }).at(3), "3", "a date without a unit says nothing");
});

test("ticks are in order, inside, and not too many", () => {
  for (const clock of [new Clock(), new Clock({ unit: "seconds", factor: 1 }), new Clock({ unit: "minutes", factor: 1, start: { unix: 749e6 } }), new Clock({ unit: "days", factor: 1 })]) {
    for (const [from, until] of [[0, 1], [3, 4000], [12345, 9876543], [1e6, 1e6 + 90]]) {
      const times = clock.ticks(from, until, 8).map(({ time }) => time);
      assert.ok(times.length <= 18, `${times.length} ticks from ${from} to ${until}`);
      assert.ok(times.every((time, i) => time >= from - 1e-6 && time <= until * (1 + 1e-9) && (i === 0 || time > times[i - 1])));
    }
  }
});
