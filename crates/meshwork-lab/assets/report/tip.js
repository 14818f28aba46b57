// What a point says when somebody points at it.

/** @import { Drawn, Point, View } from "../types.js" */

import { brief } from "../plot/numbers.js";
import { isPartial, labelOf, placeOf } from "../plot/view.js";
import { make } from "./dom.js";

/** How far from a point it is still meant, in pixels. */
const REACH = 40;

/** A point in words, line by line. @param {View} view @param {Point} point */
export function told(view, point) {
  const lines = [`${view.x.label}: ${view.x.names?.length || view.x.dates ? placeOf(view, point.x) : brief(point.x)}`];
  if (view.colour) lines.push(`${view.colour.label}: ${point.name}`);
  lines.push(`${labelOf(view.y)}: ${brief(point.mean)}${point.half === null ? "" : ` ± ${brief(point.half)}`}`);
  if (isPartial(view, point)) lines.push(`of ${point.replications} of ${view.expected} replications so far`);
  else if (point.replications > 1) lines.push(`of ${point.replications} replications`);
  return lines;
}

/** Tells the nearest point of a panel beside the pointer. @param {HTMLElement} panel @param {SVGElement} svg @param {View} view @param {Drawn} drawn */
export function tips(panel, svg, view, drawn) {
  const tip = make("div", { class: "tip", "aria-hidden": "true" });
  tip.hidden = true;
  panel.append(tip);
  const hide = () => (tip.hidden = true);
  const show = (/** @type {PointerEvent} */ event) => {
    const box = svg.getBoundingClientRect();
    const size = box.width / drawn.width || 1;
    const [x, y] = [(event.clientX - box.left) / size, (event.clientY - box.top) / size];
    let [nearest, distance] = [drawn.hits[0], Infinity];
    for (const hit of drawn.hits) {
      const away = view.style === "rows" ? Math.abs(hit.y - y) : Math.hypot(hit.x - x, hit.y - y);
      if (away < distance) [nearest, distance] = [hit, away];
    }
    if (!nearest || distance > REACH) return hide();
    tip.replaceChildren(...told(view, nearest.point).map((line) => make("span", {}, line)));
    tip.hidden = false;
    const outer = panel.getBoundingClientRect();
    const left = Math.min(nearest.x * size + 12, outer.width - tip.offsetWidth - 2);
    const top = (box.top - outer.top) + nearest.y * size - tip.offsetHeight - 8;
    tip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", hide);
}
