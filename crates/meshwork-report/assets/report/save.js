// Numbers of plots as CSV.

/** @import { View } from "../types.js" */

import { panelsOf } from "../plot/figure.js";
import { placeOf, pointsOf } from "../plot/view.js";

/** A cell of CSV. */
function cell(/** @type {string | number | null | undefined} */ value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table as CSV. */
export function csv(/** @type {(string | number | null | undefined)[][]} */ rows) {
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Title of a column, with its unit if that is one of time. @param {View["x"]} scale */
function headOf({ key, label, unit }) {
  return (key || label) + (unit && /second|minute|hour|day/.test(unit) ? ` (${unit})` : "");
}

/** Columns and rows of the numbers of a view. @param {View} view */
export function numbersOf(view) {
  const hasIntervals = view.series.some((series) => (series.half?.length ?? 0) > 0);
  const hasLabels = view.series.some((series) => (series.labels?.length ?? 0) > 0);
  const hasPanels = Boolean(view.panel) && panelsOf(view).length > 0;
  const heads = [hasPanels ? view.panel?.key : null, hasLabels ? view.colour?.label : null, view.colour?.key, headOf(view.x), headOf(view.y), ...(hasIntervals ? ["half_width", "replications"] : [])];
  const rows = pointsOf(view).map((point) => [
    ...(hasPanels ? [view.panels?.[point.panel]] : []), ...(hasLabels ? [point.label] : []), ...(view.colour ? [point.name] : []), placeOf(view, point.x), point.mean,
    ...(hasIntervals ? [point.half, point.replications] : []),
  ]);
  return { heads: heads.filter((head) => head !== null && head !== undefined), rows };
}
