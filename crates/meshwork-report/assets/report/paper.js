// Changes for print, where nothing can be opened, selected or scrolled.

import { find, make } from "./dom.js";
import { drawFor, drawPanels, drawRest, indicesOf, legendElement, sentenceOf, shownFigures } from "./figures.js";
import { isLog } from "../plot/view.js";

/** Maximum number of rows of a table that is opened for print, about a page. */
const ROWS = 60;
/** Maximum number of unselected views printed for each figure. */
const VIEWS = 12;
/** Width in pixels of the text on a sheet, and of one of two plots side by side. */
const SHEET = 680;
const HALF = 328;

/** Functions that restore the page after printing. @type {(() => void)[]} */
let undo = [];

function before() {
  if (undo.length > 0) return;
  drawRest();
  for (const details of document.querySelectorAll("details:not([open])")) {
    const isTable = details.classList.contains("numbers");
    const isShort = details.querySelectorAll("tbody tr").length <= ROWS;
    if (!(details instanceof HTMLDetailsElement) || details.closest("figure, nav") || (isTable && !isShort)) continue;
    details.open = true;
    undo.push(() => (details.open = false));
  }
  for (const { element, figure, chosen } of shownFigures()) {
    const now = indicesOf(figure, chosen);
    const metric = figure.choices.findIndex((choice) => choice.key === "metric");
    drawFor(element, metric >= 0 || element.classList.contains("wide") ? SHEET : HALF);
    undo.push(() => drawFor(element, null));
    if (metric < 0) continue;
    // The same view of every other metric.
    const others = figure.views.filter((view) => view.at.every((at, i) => (i === metric ? at !== now[i] : at === null || at === now[i]))).slice(0, VIEWS);
    const place = make("div", { class: "others" });
    for (const view of others) {
      const panels = make("div", { class: "panels" });
      const isWide = new Set(view.series.map((series) => series.panel)).size > 1;
      const box = make("figure", isWide ? { class: "wide" } : {}, make("h4", {}, view.y.label), panels, make("figcaption", {}, sentenceOf(view, isLog(view))));
      drawPanels(panels, view, { log: isLog(view) }, isWide ? SHEET : HALF);
      // A heading and the legend stay with the first row of panels.
      const legend = view.colour ? [legendElement(view)] : [];
      panels.prepend(make("div", { class: "together" }, find(box, "h4"), ...legend, ...[...panels.children].slice(0, 2)));
      place.append(box);
    }
    element.append(place);
    undo.push(() => place.remove());
  }
  for (const table of document.querySelectorAll("details.numbers[open] table")) {
    if (table instanceof HTMLTableElement) split(table);
  }
}

/** Splits a table that is wider than a sheet into several, each with the columns that identify a row. */
function split(/** @type {HTMLTableElement} */ table) {
  const head = table.tHead?.rows[0], rows = [...(table.tBodies[0]?.rows ?? [])];
  if (!head || rows.length === 0) return;
  const keys = [...rows[0].cells].findIndex((cell) => cell.tagName === "TH") + 1;
  table.classList.add("beside");
  const widths = [...head.cells].map((cell) => cell.offsetWidth);
  table.classList.remove("beside");
  const own = widths.slice(0, keys).reduce((sum, width) => sum + width, 0);
  const parts = /** @type {number[][]} */ ([[]]);
  let taken = own;
  for (let column = keys; column < widths.length; column += 1) {
    if (taken + widths[column] > SHEET && parts[parts.length - 1].length > 0) {
      parts.push([]);
      taken = own;
    }
    parts[parts.length - 1].push(column);
    taken += widths[column];
  }
  if (parts.length < 2) return;
  const place = make("div", { class: "parts" });
  for (const columns of parts) {
    const copy = /** @type {HTMLTableElement} */ (table.cloneNode(true));
    copy.removeAttribute("id");
    for (const row of copy.rows) {
      [...row.cells].forEach((cell, i) => {
        if (i >= keys && !columns.includes(i)) cell.remove();
      });
    }
    if (columns !== parts[0]) find(copy, "caption").remove();
    place.append(copy);
  }
  table.after(place);
  table.hidden = true;
  undo.push(() => {
    place.remove();
    table.hidden = false;
  });
}

function after() {
  for (const step of undo.splice(0)) step();
}

/** Starts listening for print. */
export function preparePaper() {
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
}
