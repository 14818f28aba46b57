// Saving of the map and of the jobs at its instant.

import { fileName, hand, handText, png } from "../report/hand.js";
import { csv } from "../report/save.js";
import { make } from "./elements.js";
import { picture } from "./sheet.js";
import { KIND_NAMES, units } from "./words.js";

/** Makes the buttons that save the view of a player. @param {() => any} player */
export function saving(player) {
  const save = async (/** @type {string} */ kind) => {
    const { run, moment, still } = player();
    const by = run.isShared ? `; nodes are filled by ${[...new Set(still.maps.map((map) => KIND_NAMES[map.kind]))].join(" or ")}` : "";
    const { scenario, replication, title } = run.recording;
    const which = title || `scenario ${scenario}`;
    const words = `${run.clock.words(moment.time)}: ${moment.held} of ${run.processors} ${units(run)} held, ${moment.runs} jobs run, ${moment.waits} wait${by}`;
    const svg = picture(player(), [replication > 1 ? `${which}, replication ${replication}` : which, words]);
    const name = fileName("machine", which, `at ${run.clock.at(moment.time)}`);
    if (kind === "CSV") handText(`${name}.csv`, momentCsv(run, moment), "text/csv");
    else if (kind === "SVG") handText(`${name}.svg`, svg, "image/svg+xml");
    else hand(`${name}.png`, await png(svg));
  };
  const one = (/** @type {string} */ kind) =>
    make("button", { type: "button", "aria-label": `Save the map as ${kind}`, onclick: () => save(kind) }, kind);
  return make("span", { class: "m-save" }, "Save the map: ", one("SVG"), " ", one("PNG"), " ", one("CSV"));
}

/** Running and waiting jobs at an instant, one row for each job. */
export function momentCsv(run, moment) {
  const whole = run.moment(moment.time, Infinity);
  const asks = (job) => run.asked[run.request[job]].text;
  const known = (time) => (time <= run.recording.until ? time : null);
  const running = whole.running.map((s) => {
    const job = run.who[s];
    return [run.number[job], "runs", asks(job), run.submit[job], run.start[job], known(run.finish[job]), run.where[s] + 1, run.heldBy[s], run.placeOf(s).join(" ")];
  });
  const waiting = whole.waiting.map((job) => [run.number[job], "waits", asks(job), run.submit[job]]);
  return csv([["job", "state", "asks", "submit", "start", "end", "site", "processors", "placement"], ...running, ...waiting]);
}
