// Colours of jobs: one for each job, or one for each size, user or wait.

import { number } from "./paint.js";
import { COLOURS, LOOKS } from "./run.js";
import { units } from "./words.js";

/** Ways of colouring jobs; users only if they are known. */
export function colourings(/** @type {import("./run.js").Run} */ run) {
  return ["job", "size", ...(run.user ? ["user"] : []), "wait"];
}

/** Whether the colours are ordered. */
export const isOrdered = (/** @type {string} */ by) => by === "size" || by === "wait";

/**
 * The look of every job, and the meaning of looks if they have one.
 * @param {import("./run.js").Run} run
 * @param {string} by
 * @returns {{ look: Uint8Array, key: { look: number, text: string }[] }}
 */
export function coloured(run, by) {
  const look = new Uint8Array(run.jobs);
  if (by === "size") {
    const sizes = Array.from(run.request, (request) => run.asked[request].nodes);
    const most = Math.floor(Math.log2(Math.max(1, ...sizes)));
    const each = Math.ceil((most + 1) / COLOURS);
    const classOf = (size) => Math.floor(Math.floor(Math.log2(Math.max(1, size))) / each);
    sizes.forEach((size, job) => (look[job] = classOf(size)));
    const text = (own) => {
      const [first, last] = [2 ** (own * each), 2 ** ((own + 1) * each) - 1];
      return last > first ? `${number(first)} to ${number(last)} ${units(run)}` : `${number(first)} ${first > 1 ? units(run) : units(run).slice(0, -1)}`;
    };
    return { look, key: used(look, text) };
  }
  if (by === "wait") {
    const waits = Array.from(run.submit, (submit, job) => Math.max(0, Math.min(run.start[job], run.recording.until) - submit));
    const most = Math.max(0, ...waits);
    const bounds = Array.from({ length: COLOURS - 1 }, (_, k) => (k === 0 ? 0 : most / 4 ** (COLOURS - 1 - k)));
    waits.forEach((wait, job) => (look[job] = bounds.findIndex((bound) => wait <= bound) < 0 ? COLOURS - 1 : bounds.findIndex((bound) => wait <= bound)));
    const text = (own) => (own === 0 ? "no wait" : own === COLOURS - 1 ? `longer, up to ${run.clock.span(most)}` : `up to ${run.clock.span(bounds[own])}`);
    return { look, key: used(look, text) };
  }
  if (by === "user" && run.user) {
    const counts = new Map();
    for (const user of run.user) counts.set(user, (counts.get(user) ?? 0) + 1);
    const ranked = [...counts].sort(([, a], [, b]) => b - a).map(([user]) => user);
    const place = new Map(ranked.map((user, rank) => [user, Math.min(rank, LOOKS - 1)]));
    run.user.forEach((user, job) => (look[job] = place.get(user)));
    const text = (own) => (own === LOOKS - 1 && ranked.length > LOOKS ? "all others" : run.recording.users[ranked[own]] || "unknown");
    return { look, key: used(look, text) };
  }
  return { look: run.own, key: [] };
}

/** Looks in use, in order, with their meaning. @param {Uint8Array} look @param {(look: number) => string} text */
function used(look, text) {
  return [...new Set(look)].sort((a, b) => a - b).map((own) => ({ look: own, text: text(own) }));
}
