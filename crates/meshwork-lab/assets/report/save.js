// Saving what is drawn, for a paper or a table of one's own.

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

/** The columns of the numbers of a view, and its rows. @param {View} view */
export function numbersOf(view) {
  const hasIntervals = view.series.some((series) => (series.half?.length ?? 0) > 0);
  const hasPanels = Boolean(view.panel) && panelsOf(view).length > 0;
  const heads = [hasPanels ? view.panel?.key : null, view.colour?.key, view.x.key || view.x.label, view.y.key || view.y.label, ...(hasIntervals ? ["half_width", "replications"] : [])];
  const rows = pointsOf(view).map((point) => [
    ...(hasPanels ? [view.panels?.[point.panel]] : []), ...(view.colour ? [point.name] : []), placeOf(view, point.x), point.mean,
    ...(hasIntervals ? [point.half, point.replications] : []),
  ]);
  return { heads: heads.filter((head) => head !== null && head !== undefined), rows };
}

/** Hands a file to whoever asked for it. */
export function hand(/** @type {string} */ name, /** @type {Blob} */ blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The same for text. */
export function handText(/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ kind) {
  hand(name, new Blob([text], { type: `${kind};charset=utf-8` }));
}

/** An SVG as pixels, so many times as fine. @param {string} svg @param {number} fine @returns {Promise<Blob>} */
export async function png(svg, fine = 3) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * fine, image.naturalHeight * fine];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture came of it"))), "image/png"));
}

/** A name for a file. */
export const fileName = (/** @type {string[]} */ ...parts) =>
  parts.filter(Boolean).join("-").toLowerCase().replace(/[^\p{L}\p{N}._=]+/gu, "-").replace(/^-+|-+$/g, "");
