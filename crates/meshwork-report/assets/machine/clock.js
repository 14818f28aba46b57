// Formatting of times: as dates if the start of the log is known, in days and hours if the unit is known, else as
// plain numbers.

import { dateTicks } from "../plot/dates.js";
import { number, short, ticks } from "./paint.js";

/** Seconds in each known unit of time. @type {Record<string, number>} */
const SECONDS = { seconds: 1, minutes: 60, hours: 3600, days: 86400 };

/** Steps of an axis in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200]
  .concat([1, 2, 5, 7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650].map((days) => days * 86400));

const pad = (/** @type {number} */ count) => String(count).padStart(2, "0");

export class Clock {
  /**
   * Clock of a run, as in `src/findings/clock.rs`: `t / factor` is a time in `unit`s, and 0 is `start.unix` seconds
   * after the beginning of 1970, in the time zone `start.zone`, `start.offset` seconds ahead of UTC.
   * @param {{ unit?: string | null, factor?: number, start?: { unix: number, offset?: number, zone?: string } }} [clock]
   */
  constructor(clock = {}) {
    this.seconds = clock.unit ? SECONDS[clock.unit] / (clock.factor || 1) : undefined;
    this.start = this.seconds && clock.start ? (clock.start.unix + (clock.start.offset ?? 0)) * 1000 : null;
    this.zone = ` ${clock.start?.zone ?? "UTC"}`;
  }

  /** An instant, in full: `2001-02-03 04:05:06`, `day 3, 04:05:06`, `12.5`. */
  at(/** @type {number} */ time) {
    if (!this.seconds || !Number.isFinite(time)) return number(time);
    if (this.start !== null) {
      const date = new Date(this.start + Math.round(time * this.seconds) * 1000);
      if (Number.isFinite(date.getTime())) return date.toISOString().slice(0, 19).replace("T", " ");
    }
    const all = Math.round(time * this.seconds);
    const rest = ((all % 86400) + 86400) % 86400;
    return `day ${number(Math.floor(all / 86400))}, ${pad(Math.floor(rest / 3600))}:${pad(Math.floor(rest / 60) % 60)}:${pad(rest % 60)}`;
  }

  /** An instant at the beginning of a sentence. */
  words(/** @type {number} */ time) {
    const text = this.at(time);
    if (this.start !== null) return text + this.zone;
    return this.seconds ? text[0].toUpperCase() + text.slice(1) : `Time ${text}`;
  }

  /** An instant in short form: without year and seconds. */
  short(/** @type {number} */ time) {
    if (!this.seconds || !Number.isFinite(time)) return short(time);
    const text = this.at(time);
    return this.start === null ? text.slice(0, -3).replace("day ", "d") : text.slice(5, 16);
  }

  /** A duration: `4 h 05 min`, `3 d 2 h`, `12.5`. */
  span(/** @type {number} */ time) {
    if (!this.seconds || !Number.isFinite(time)) return number(time);
    const all = time * this.seconds;
    if (Math.abs(all) < 120) return `${number(all)} s`;
    const minutes = Math.round(all / 60);
    if (minutes < 120) return `${minutes} min`;
    if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} min`;
    return `${number(Math.floor(minutes / 1440))} d ${Math.floor((minutes % 1440) / 60)} h`;
  }

  /** Round instants of an axis, about this many, with their labels. @returns {{ time: number, text: string }[]} */
  ticks(/** @type {number} */ from, /** @type {number} */ until, /** @type {number} */ about) {
    if (!this.seconds || !(until > from)) return ticks(from, until, about).map((time) => ({ time, text: number(time) }));
    const { seconds } = this;
    const dated = this.start === null ? [] : dateTicks({ seconds, start: this.start / 1000 }, from, until, about);
    if (dated.length > 0) return dated.map(({ at, text }) => ({ time: at, text }));
    const raw = ((until - from) * seconds) / Math.max(1, about);
    const step = STEPS.find((step) => step >= raw * 0.999) ?? STEPS[STEPS.length - 1] * Math.ceil(raw / STEPS[STEPS.length - 1]);
    const found = [];
    for (let k = Math.ceil((from * seconds) / step - 1e-9); k * step <= until * seconds * (1 + 1e-12); k += 1) {
      const time = (k * step) / seconds;
      found.push({ time, text: this.mark(time, step) });
    }
    return found;
  }

  mark(/** @type {number} */ time, /** @type {number} */ step) {
    const text = this.at(time);
    // Large numbers of days have commas too.
    const day = text.replace(/,[^,]*$/, "");
    if (step >= 86400) return day;
    const clock = step % 60 === 0 ? text.slice(-8, -3) : text.slice(-8);
    return clock.startsWith("00:00") && step >= 60 ? day : clock;
  }
}
