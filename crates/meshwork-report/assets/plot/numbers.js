// Ticks of axes and formatting of numbers. `src/report/draw/numbers.rs` does the same.

/** Groups the digits before the decimal point in threes, from five digits on. */
function grouped(/** @type {string} */ text) {
  const [whole, part] = text.split(".");
  if (whole.replace("−", "").length < 5) return text;
  const far = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part ? `${far}.${part}` : far;
}

/** A number with this many significant digits at most, without trailing zeros. */
function digits(/** @type {number} */ number, /** @type {number} */ most) {
  return String(Number(number.toPrecision(most))).replace("-", "−");
}

/** A number as the label of a tick. */
export function tick(/** @type {number} */ number) {
  const size = Math.abs(number);
  for (const [power, letter] of /** @type {[number, string][]} */ ([[1e12, "T"], [1e9, "B"], [1e6, "M"]])) {
    if (size >= power) return grouped(digits(number / power, 4)) + letter;
  }
  if (size > 0 && size < 1e-4) return number.toExponential().replaceAll("-", "−");
  return grouped(digits(number, 6));
}

/** A number with five significant digits, or all of those before the decimal point. */
export function brief(/** @type {number} */ number) {
  const size = Math.abs(number);
  if (size > 0 && (size < 1e-4 || size >= 1e15)) return number.toExponential(3).replaceAll("-", "−").replace("+", "");
  return grouped(size >= 1e5 ? String(Math.round(number)).replace("-", "−") : digits(number, 5));
}

/** A number with this many decimals. */
function fixed(/** @type {number} */ number, /** @type {number} */ decimals) {
  const power = 10 ** decimals;
  return grouped((Math.floor(number * power + 0.5) / power).toFixed(decimals).replace("-", "−"));
}

/** A mean and the half width of its interval, with as many decimals as two digits of the half width. */
export function rounded(/** @type {number} */ mean, /** @type {number | null} */ half) {
  if (half === null) return brief(mean);
  const decimals = 1 - Math.floor(Math.log10(half));
  if (!(half > 0) || decimals > 6 || Math.abs(mean) >= 1e15) return `${brief(mean)} ± ${brief(half)}`;
  return `${fixed(mean, Math.max(0, decimals))} ± ${fixed(half, Math.max(0, decimals))}`;
}

/** A signed percentage with the ends of its interval, of which the upper one may be infinite. */
export function percent(/** @type {number} */ mean, /** @type {number | null} */ low, /** @type {number | null} */ high) {
  const signed = (/** @type {number} */ number, /** @type {number} */ decimals) => (number > 0 ? "+" : "") + fixed(number, decimals);
  const decimals = (/** @type {number} */ size) => (size > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(size)))) : 0);
  if (low === null || high === null) return `${signed(mean, decimals(Math.abs(mean)))} %`;
  const own = decimals(Number.isFinite(high) ? high - low : 100);
  return `${signed(mean, own)} % (${signed(low, own)} to ${Number.isFinite(high) ? signed(high, own) : "∞"})`;
}

/** Ratio to a baseline of a difference in percent, and back. */
export const ratioOf = (/** @type {number} */ percent) => 1 + percent / 100;
export const percentOf = (/** @type {number} */ ratio) => Number((100 * (ratio - 1)).toPrecision(9)) + 0;

/** Ticks of an axis of percentages that is logarithmic in the ratio to the baseline: −90, 0, +900. */
export const ratioTicks = (/** @type {number} */ from, /** @type {number} */ until, /** @type {number} */ most) =>
  logTicks(ratioOf(from), ratioOf(until), most).map(percentOf);

/** Round numbers in a range, about this many, in steps of 1, 2 or 5 times a power of ten. */
export function linearTicks(/** @type {number} */ from, /** @type {number} */ until, /** @type {number} */ about) {
  const span = until - from;
  if (!(span > 0)) return [from];
  const raw = span / Math.max(1, about);
  const power = Math.floor(Math.log10(raw));
  const error = raw / 10 ** power;
  const factor = error >= Math.sqrt(50) ? 10 : error >= Math.sqrt(10) ? 5 : error >= Math.SQRT2 ? 2 : 1;
  // Divided instead of multiplied for steps below 1, so that 0.3 is exactly 0.3.
  const at = (/** @type {number} */ k) => (power < 0 ? (k * factor) / 10 ** -power : k * factor * 10 ** power);
  const ticks = [];
  for (let k = Math.ceil(from / at(1) - 1e-9); at(k) <= until + at(1) * 1e-9; k += 1) ticks.push(at(k) + 0);
  return ticks;
}

/** Sets of leading digits with the step between their powers of ten, from dense to sparse. */
const SETS = /** @type {[number[], number][]} */ ([
  [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], 1], [[1, 2, 3, 5, 7], 1], [[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 10],
]);

/** Ticks of a logarithmic axis, up to a maximum number but at least two. */
export function logTicks(/** @type {number} */ from, /** @type {number} */ until, /** @type {number} */ most) {
  const [first, last] = [Math.floor(Math.log10(from)), Math.ceil(Math.log10(until))];
  let finer = linearTicks(from, until, most - 1).filter((number) => number > 0);
  for (const [marks, step] of SETS) {
    const ticks = [];
    for (let power = first; power <= last; power += 1) {
      if (power % step !== 0) continue;
      for (const mark of marks) {
        const number = power < 0 ? mark / 10 ** -power : mark * 10 ** power;
        if (number >= from && number <= until) ticks.push(number);
      }
    }
    if (ticks.length < 2) break;
    if (ticks.length <= most) return ticks;
    finer = ticks;
  }
  const step = Math.ceil(finer.length / Math.max(2, most));
  return finer.filter((_, i) => i % step === 0);
}
