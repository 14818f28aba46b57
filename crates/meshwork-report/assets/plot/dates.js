// Dates along an axis with a known start. `src/report/draw/dates.rs` does the same.

/** @import { Dates } from "../types.js" */

const DAY = 86400;

/** Steps of less than a month, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY, 2 * DAY, 7 * DAY, 14 * DAY];

/** Steps of whole months. */
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000];

/** Average length of a month, in seconds. */
const MONTH = 30.436875 * DAY;

/** The first Monday of the calendar, where weeks begin. */
const MONDAY = 4 * DAY;

/** A second of the calendar, in full: `2001-02-03 04:05:06`. */
const full = (/** @type {number} */ second) => new Date(second * 1000).toISOString().slice(0, 19).replace("T", " ");

/** Whether a year has four digits, the only ones that can be written. */
const isWritten = (/** @type {number} */ second) => second >= -62167219200 && second < 253402300800;

/** An instant of an axis, in full. */
export const dateOf = (/** @type {Dates} */ dates, /** @type {number} */ at) => full(Math.round(dates.start + at * dates.seconds));

/**
 * Round dates in a range, about this many: midnights, Mondays, firsts of months and years of the calendar. Empty if a
 * year has no four digits.
 * @param {Dates} dates @param {number} from @param {number} until @param {number} about @returns {{ at: number, text: string }[]}
 */
export function dateTicks({ seconds, start }, from, until, about) {
  const [first, last] = [start + from * seconds, start + until * seconds];
  if (!(last > first) || !isWritten(first) || !isWritten(last)) return [];
  const raw = ((last - first) / Math.max(1, about)) * 0.999;
  const found = (/** @type {number} */ second, /** @type {string} */ text) => ({ at: (second - start) / seconds, text });
  const ticks = [];
  const step = STEPS.find((step) => step >= raw);
  if (step !== undefined) {
    const shift = step % (7 * DAY) === 0 ? MONDAY : 0;
    for (let k = Math.ceil((first - shift) / step - 1e-9); k * step + shift <= last + step * 1e-9; k += 1) {
      const second = k * step + shift;
      ticks.push(found(second, written(second, step)));
    }
    return ticks;
  }
  const months = MONTHS.find((months) => months * MONTH >= raw) ?? 12000;
  const year = Number(full(first).slice(0, 4)), month = Number(full(first).slice(5, 7));
  for (let k = Math.floor((year * 12 + month - 1) / months); ; k += 1) {
    const second = Date.UTC(2000, k * months - 24000, 1) / 1000;
    if (second > last) return ticks;
    if (second >= first) ticks.push(found(second, full(second).slice(0, months % 12 === 0 ? 4 : 7)));
  }
}

/** A date in short form: the day for midnight, else the time of day. */
function written(/** @type {number} */ second, /** @type {number} */ step) {
  const text = full(second);
  if (step >= DAY) return text.slice(0, 10);
  const clock = step % 60 === 0 ? text.slice(11, 16) : text.slice(11);
  return /^00:00(:00)?$/.test(clock) ? text.slice(5, 10) : clock;
}
