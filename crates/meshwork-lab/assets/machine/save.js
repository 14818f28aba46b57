// Saving the map as it is seen.

import { fileName, hand, handText, png } from "../report/hand.js";
import { make } from "./elements.js";
import { picture } from "./sheet.js";

/** Buttons that save what a player shows. @param {() => any} player */
export function saving(player) {
  const save = async (/** @type {string} */ kind) => {
    const { run, moment } = player();
    const { scenario, replication, title } = run.recording;
    const which = title || `scenario ${scenario}`;
    const words = `${run.clock.words(moment.time)}: ${moment.held} of ${run.processors} processors held, ${moment.runs} jobs run, ${moment.waits} wait`;
    const svg = picture(player(), [replication > 1 ? `${which}, replication ${replication}` : which, words]);
    const name = fileName("machine", which, `at ${run.clock.at(moment.time)}`);
    if (kind === "SVG") handText(`${name}.svg`, svg, "image/svg+xml");
    else hand(`${name}.png`, await png(svg));
  };
  const one = (/** @type {string} */ kind) =>
    make("button", { type: "button", "aria-label": `Save the map as ${kind}`, onclick: () => save(kind) }, kind);
  return make("span", { class: "m-save" }, "Save the map: ", one("SVG"), " ", one("PNG"));
}
