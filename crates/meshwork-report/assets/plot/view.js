// Points of a view, and the ranges of its scales. `src/report/draw/view.rs` does the same.

/** @import { Point, Scale, View } from "../types.js" */

import { dateOf } from "./dates.js";
import { percent, percentOf, ratioOf, rounded } from "./numbers.js";

/** Whether differences in percent are known. */
export const hasPercent = (/** @type {View} */ view) => view.series.some((series) => (series.percent?.length ?? 0) > 0);

/** All points of a view by series; differences are in percent if requested. @param {View} view @returns {Point[]} */
export function pointsOf(view, inPercent = false) {
  return view.series.flatMap((series) => series.x.map((x, i) => {
    const share = inPercent ? series.percent?.[i] : undefined;
    const mean = share ? share[0] : series.mean[i];
    // An interval without an upper end extends beyond every plot.
    const ends = share ? (share[1] === null ? null : [share[1], share[2] ?? Infinity]) : null;
    const half = share ? ends && (ends[1] - ends[0]) / 2 : series.half?.[i] ?? null;
    const [low, high] = ends ?? [mean - (half ?? 0), mean + (half ?? 0)];
    return {
      x, mean, half, low, high, replications: series.replications?.[i] ?? 0, once: series.once?.[i] ?? false,
      name: series.name, label: series.labels?.[i], colour: series.colour, panel: series.panel,
    };
  }));
}

/** Whether an interval excludes 0. */
export const isClear = (/** @type {Point} */ point) => point.half !== null && (point.low > 0 || point.high < 0);

/** Whether a point has fewer replications than requested. */
export const isPartial = (/** @type {View} */ view, /** @type {Point} */ point) =>
  view.expected !== undefined && !point.once && point.replications > 0 && point.replications < view.expected;

/** The name of a place along the plot. */
export function placeOf(/** @type {View} */ view, /** @type {number} */ x) {
  if (view.x.names?.length) return view.x.names[x];
  return view.x.dates ? dateOf(view.x.dates, x) : String(x);
}

/** Text beside a point. */
export const wordsOf = (/** @type {Point} */ point, inPercent = false) =>
  (inPercent ? percent(point.mean, point.half === null ? null : point.low, point.half === null ? null : point.high) : rounded(point.mean, point.half));

/** Label of a scale with its unit. */
export const labelOf = (/** @type {Scale} */ scale) => (scale.unit ? `${scale.label} (${scale.unit})` : scale.label);

/** Whether measured values can have a logarithmic scale. For percentages it is that of the ratio to the baseline. */
export function canBeLog(/** @type {View} */ view, inPercent = hasPercent(view)) {
  if (view.differences) return inPercent && view.series.every((series) => (series.percent ?? []).every(([mean]) => mean > -100));
  if (view.fixed) return false;
  if (view.style === "steps") return view.series.some((series) => series.x.some((x) => x > 0));
  return view.series.every((series) => series.mean.every((mean) => mean > 0));
}

/** Whether the scale is logarithmic by default. For steps, measured values run along the plot. */
export const isLog = (/** @type {View} */ view) => (view.style === "steps" ? view.x.log : view.y.log) ?? false;

/** Adds a margin at both ends, except at an end that is 0. */
function padded(/** @type {number} */ low, /** @type {number} */ high) {
  const available = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
  // A range of zero alone has a plot too.
  if (low === 0 && high === 0) return [0, available];
  return [low === 0 ? 0 : low - available, high === 0 ? 0 : high + available];
}

/** Minimum and maximum. */
export function extent(/** @type {number[]} */ numbers) {
  let [least, most] = [Infinity, -Infinity];
  for (const number of numbers) {
    least = Math.min(least, number);
    most = Math.max(most, number);
  }
  return [least, most];
}

/** End of a range: a bound farther from the mean than the spread of the means is cut at half of it. */
const cut = (/** @type {number} */ bound, /** @type {number} */ mean, /** @type {number} */ spread) =>
  (Math.abs(bound - mean) <= Math.abs(spread) ? bound : mean + spread / 2);

/**
 * Range of measured values. Wide intervals may extend beyond it, means may not.
 * @param {View} view
 * @param {Point[]} points
 * @param {boolean} log
 * @returns {number[]}
 */
export function measured(view, points, log) {
  if (log && view.differences) {
    const ratios = points.map((point) => ({ ...point, mean: ratioOf(point.mean), low: ratioOf(point.low), high: ratioOf(point.high) }));
    const [from, until] = measured({ ...view, differences: false }, ratios, log);
    return [percentOf(Math.min(from, 1)), percentOf(Math.max(until, 1))];
  }
  const bounds = (view.bounds ?? []).map((bound) => bound.y).filter((y) => !log || y > 0);
  const [least, most] = extent(points.map((point) => point.mean).concat(bounds));
  if (view.style === "steps") return [Math.min(least, 0), most > 0 && most <= 1 ? 1 : most * 1.05 || 1];
  const [low, high] = [Math.min(least, extent(points.map((point) => point.low))[0]), Math.max(most, extent(points.map((point) => point.high))[1])];
  if (log) {
    const positive = extent(points.map((point) => (point.low > 0 ? point.low : point.mean)))[0];
    return [Math.max(Math.min(positive, least), least / 3) / 1.1, Math.min(high, most * 3) * 1.1];
  }
  const spread = Math.max(most, 0) - Math.min(least, 0) || Math.abs(most) || 1;
  // For non-negative values, a wide interval does not extend the range below 0.
  const from = Math.max(cut(low, least, -spread), least >= 0 && !view.differences ? 0 : -Infinity);
  const until = cut(high, most, spread);
  if (view.differences) {
    // An interval that contains 0 is seen on both sides of it.
    const margin = 0.1 * spread;
    return padded(Math.min(from, 0, Math.max(low, -margin)), Math.max(until, 0, Math.min(high, margin)));
  }
  if (view.style === "rows") return padded(Math.min(from, 0), Math.max(until, 0));
  // A line far above 0 may leave 0 out.
  return from > 0 && least < 0.6 * most ? padded(0, until) : padded(from, until);
}

/**
 * Range of the scale along the plot.
 * @param {View} view
 * @param {Point[]} points
 * @param {boolean} log
 */
export function along(view, points, log) {
  const all = view.x.grid?.length ? view.x.grid : points.map((point) => point.x);
  const [least, most] = extent(log ? all.filter((x) => x > 0) : all);
  if (least < most) return [least, most];
  return log ? [least / 2, most * 2] : [least - 0.5, most + 0.5];
}

/** Maps a number of a domain to a coordinate of the page. On a logarithmic scale percentages are ratios. */
export function scale(/** @type {number[]} */ [from, until], /** @type {number[]} */ [first, last], /** @type {boolean} */ log, isRatio = false) {
  const of = (/** @type {number} */ number) => (log ? Math.log10(isRatio ? ratioOf(number) : number) : number);
  return (/** @type {number} */ number) => {
    const inside = Math.min(Math.max(number, from), until);
    return first + ((last - first) * (of(inside) - of(from))) / (of(until) - of(from));
  };
}
