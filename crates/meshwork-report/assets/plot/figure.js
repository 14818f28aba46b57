// A whole figure as a file: heading, legend and panels. `src/report/draw/figure.rs` writes the same.

/** @import { Theme, View } from "../types.js" */

import { common, panelOf } from "./panel.js";
import { COLOURS, at, escaped, mark, rect, sample, shortened, text, wide } from "./svg.js";
import { hasPercent } from "./view.js";

/** Colours of the page, which follow its theme. @type {Theme} */
export const PAGE = {
  ink: "var(--ink)", soft: "var(--soft)", line: "var(--line)", paper: "var(--paper)",
  colours: Array.from({ length: COLOURS }, (_, number) => `var(--c${number})`),
};

/** Colours on paper. @type {Theme} */
export const PAPER = {
  ink: "#23231f", soft: "#66655e", line: "#e4e1d9", paper: "#ffffff",
  colours: ["#2a6db3", "#c8501e", "#1a8468", "#9a4a9c", "#a97f00", "#3d9fcd", "#7c5a3a", "#6d7480", "#c12a63", "#5f7f1d"],
};

export const FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
const MARGIN = 12;
const GAP = 24;
const LINE = 20;

/** Panels that have points, in order. */
export function panelsOf(/** @type {View} */ view) {
  return [...new Set(view.series.map((series) => series.panel))].sort((a, b) => a - b);
}

/** Names by colour. */
export function legendOf(/** @type {View} */ view) {
  return [...new Map(view.series.map((series) => [series.colour, series.name]))].sort(([a], [b]) => a - b);
}

/** Whether the lines of one panel may be split into a panel each. */
export const canPart = (/** @type {View} */ view) => ["lines", "steps"].includes(view.style) && !view.panel && legendOf(view).length > 2;

/** A view with a panel for each line. @param {View} view @returns {View} */
export const parted = (view) => ({
  ...view, panel: view.colour, panels: view.series.map(({ name }) => name), series: view.series.map((series, panel) => ({ ...series, panel })),
  bounds: view.bounds?.map((bound) => ({ ...bound, panel: bound.series })),
});

/** Title of a panel. */
export const panelName = (/** @type {View} */ view, /** @type {number} */ panel) =>
  (view.panel ? `${view.panel.label} = ${view.panels?.[panel]}` : "");

/**
 * A figure as the text of an SVG file, for a paper.
 * @param {View} view
 * @param {boolean} log
 * @param {number} width
 */
export function figureOf(view, log, width = 720, inPercent = hasPercent(view), isFree = false) {
  const theme = PAPER;
  const available = width - 2 * MARGIN;
  let y = MARGIN + 14;
  let svg = text([MARGIN, y], shortened(view.title, available, 15), theme.ink, "start", ' font-size="15" font-weight="600"');
  y += 10;
  if (view.colour) {
    let x = MARGIN;
    y += LINE - 4;
    svg += text([x, y], view.colour.label, theme.soft);
    x += wide(view.colour.label) + 14;
    for (const [number, name] of legendOf(view)) {
      // Lines without marks differ in their dashes.
      const own = view.style === "steps" ? 34 : 16;
      const words = shortened(name, available - own - 4);
      if (x + own + wide(words) > width - MARGIN) {
        x = MARGIN;
        y += LINE;
      }
      const colour = theme.colours[number % COLOURS];
      svg += view.style === "steps" ? sample(number, [x + 14, y - 4], colour) : mark(number, [x + 6, y - 4], 4, colour, colour);
      svg += text([x + own, y], words, theme.ink);
      x += own + wide(words) + 16;
    }
    y += 12;
  }
  const shown = panelsOf(view);
  const columns = shown.length > 1 && width >= 600 ? 2 : 1;
  const each = (available - GAP * (columns - 1)) / columns;
  const all = common(view, log, inPercent, isFree);
  let tallest = 0;
  for (const [i, panel] of shown.entries()) {
    if (i % columns === 0 && i > 0) {
      y += tallest + 14;
      tallest = 0;
    }
    const x = MARGIN + (i % columns) * (each + GAP);
    const name = panelName(view, panel);
    const head = name ? 18 : 0;
    if (name) svg += text([x, y + 13], shortened(name, each), theme.ink, "start", ' font-weight="600"');
    const drawn = panelOf(view, all, panel, each, theme);
    svg += `<g transform="translate(${at(x)} ${at(y + head)})">\n${drawn.svg}</g>\n`;
    tallest = Math.max(tallest, head + drawn.height);
  }
  const height = y + tallest + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${at(width)}" height="${at(height)}" viewBox="0 0 ${at(width)} ${at(height)}" font-family="${FONT}" font-size="12">\n`
    + `<title>${escaped(view.title)}</title>\n<desc>${escaped(view.sentence)}</desc>\n`
    + `${rect([0, 0, width, height], theme.paper)}${svg}</svg>\n`;
}
