// The script of every page: starts the elements that the page has.

import { follow } from "./live/live.js";
import { drawMachine } from "./machine/player.js";
import { drawFigures, followLinks } from "./report/figures.js";
import { openTargets } from "./report/links.js";
import { preparePaper } from "./report/paper.js";
import { prepareTables } from "./report/tables.js";

const data = document.getElementById("report-data");
if (data) drawFigures(document, JSON.parse(data.textContent ?? "{}"));
followLinks();
preparePaper();
prepareTables(document);
openTargets();
for (const recordings of document.querySelectorAll("script.recordings")) {
  drawMachine(/** @type {HTMLElement} */ (recordings.previousElementSibling), JSON.parse(recordings.textContent ?? "[]"));
}
if (document.getElementById("live-state")) follow();

// For pages that receive new data.
Object.assign(globalThis, { drawFigures });
