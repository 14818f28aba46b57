// Tooltips of points.

/** @import { Drawn, Point, View } from "../types.js" */

import { brief } from "../plot/numbers.js";
import { isPartial, labelOf, placeOf, wordsOf } from "../plot/view.js";
import { make } from "./dom.js";

/** Maximum distance of the pointer from a point, in pixels. */
const REACH = 40;

/** Where a point stands: the name of its panel, and whether differences are in percent. @typedef {{ panel: string, inPercent: boolean }} Place */

/** Text of a point, line by line. @param {View} view @param {Point} point @param {Place} place */
export function told(view, point, { panel, inPercent }) {
  const lines = [...(panel ? [panel] : []), ...(point.label ? [point.label] : []), `${view.x.label}: ${view.x.names?.length || view.x.dates ? placeOf(view, point.x) : brief(point.x)}`];
  if (view.colour) lines.push(`${view.colour.label}: ${point.name}`);
  lines.push(`${inPercent ? view.y.label : labelOf(view.y)}: ${wordsOf(point, inPercent)}`);
  if (isPartial(view, point)) lines.push(`of ${point.replications} of ${view.expected} replications so far`);
  else if (point.replications > 1) lines.push(`of ${point.replications} replications`);
  return lines;
}

/** Shows the tooltip of the point nearest to the pointer, or of one point after the other by arrow keys. @param {HTMLElement} panel @param {SVGElement} svg @param {View} view @param {Drawn} drawn @param {Place} place */
export function tips(panel, svg, view, drawn, place) {
  const tip = make("div", { class: "tip", role: "status" });
  let current = -1;
  tip.hidden = true;
  panel.append(tip);
  // The line of the point stands out.
  const stress = (/** @type {number | null} */ colour) => {
    const lines = svg.querySelectorAll("g[data-series]");
    if (lines.length < 3) return;
    for (const line of lines) line.setAttribute("opacity", colour === null || Number(line.getAttribute("data-series")) === colour ? "1" : "0.25");
  };
  const hide = () => {
    tip.hidden = true;
    current = -1;
    stress(null);
  };
  const tell = (/** @type {number} */ which) => {
    const box = svg.getBoundingClientRect();
    const size = box.width / drawn.width || 1;
    const hit = drawn.hits[which];
    current = which;
    stress(hit.point.colour);
    tip.replaceChildren(...told(view, hit.point, place).map((line) => make("span", {}, line)));
    tip.hidden = false;
    const outer = panel.getBoundingClientRect();
    const left = Math.min(hit.x * size + 12, outer.width - tip.offsetWidth - 2);
    const top = (box.top - outer.top) + hit.y * size - tip.offsetHeight - 8;
    tip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
  };
  const show = (/** @type {PointerEvent} */ event) => {
    const box = svg.getBoundingClientRect();
    const size = box.width / drawn.width || 1;
    const [x, y] = [(event.clientX - box.left) / size, (event.clientY - box.top) / size];
    let [nearest, distance] = [-1, Infinity];
    for (const [which, hit] of drawn.hits.entries()) {
      const away = view.style === "rows" ? Math.abs(hit.y - y) : Math.hypot(hit.x - x, hit.y - y);
      if (away < distance) [nearest, distance] = [which, away];
    }
    if (nearest < 0 || distance > REACH) hide();
    else tell(nearest);
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", hide);
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const count = drawn.hits.length;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (step === undefined || count === 0) return;
    event.preventDefault();
    tell(current < 0 ? (step > 0 ? 0 : count - 1) : (current + step + count) % count);
  });
}
