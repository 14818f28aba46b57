// Drawing of one panel of a plot as SVG. `src/report/draw/panel.rs` does the same, so that `meshwork report
// --figures` writes what the page shows; `test/figures/` holds both to identical output.

/** @import { Bound, Drawn, Point, Theme, View } from "../types.js" */

import { dateTicks } from "./dates.js";
import { linearTicks, logTicks, ratioTicks, tick } from "./numbers.js";
import { COLOURS, at, beyond, dashed, escaped, line, mark, path, rect, shortened, text, wide } from "./svg.js";
import { along, hasPercent, isClear, isPartial, labelOf, measured, pointsOf, scale, wordsOf } from "./view.js";

const SMALL = 11;
/** Size of a text that is as wide as a bold one of the usual size. */
const BOLD = 13;
const SMALLER = ' font-size="11"';

/** Minimum width of a panel with names at the ends of lines, and largest share of it that these names take. */
const NAMED = 420;
const NAME = 0.4;
/** Minimum distance between two of these names. */
const BETWEEN = 13;
/** Half the size of a mark, with the space around it that names of points leave free. */
const CLEAR = 5;

/**
 * Data of a view shared by all its panels. `order` is that of sorted rows, by their means over all panels.
 * @typedef {{ points: Point[], domain: number[], log: boolean, inPercent: boolean, isFree: boolean, order: Map<number, number> }} Common
 */

/** Computes the shared data. Differences are in percent if percentages are known; `isFree` gives each panel a scale of its own. @param {View} view @param {boolean} log @returns {Common} */
export function common(view, log, inPercent = hasPercent(view), isFree = false) {
  const points = pointsOf(view, inPercent);
  const order = new Map([...new Set(points.map((point) => point.x))].map((x) => {
    const means = points.filter((point) => point.x === x).map((point) => point.mean);
    return [x, means.reduce((sum, mean) => sum + mean, 0) / means.length];
  }));
  return { points, log, inPercent, isFree, order, domain: measured(view, points, log) };
}

/**
 * Draws one panel with this width.
 * @param {View} view
 * @param {Common} common
 * @param {number} panel
 * @param {number} width
 * @param {Theme} theme
 * @returns {Drawn}
 */
export function panelOf(view, common, panel, width, theme) {
  const points = common.points.filter((point) => point.panel === panel);
  if (common.isFree) common = { ...common, domain: measured(view, points, common.log) };
  const bounds = (view.bounds ?? []).filter((bound) => bound.panel === panel && (!common.log || bound.y > 0));
  if (view.style === "rows") return rowsOf(view, common, points, bounds, width, theme);
  return curvesOf(view, common, points, bounds, width, theme);
}

const colourOf = (/** @type {Theme} */ theme, /** @type {number} */ number) => theme.colours[number % COLOURS];

/** Fill colour and opacity of a point. */
function look(/** @type {View} */ view, /** @type {Point} */ point, /** @type {string} */ colour, /** @type {Theme} */ theme) {
  const fill = view.differences && !isClear(point) ? theme.paper : colour;
  return { fill, more: isPartial(view, point) ? ' opacity="0.45"' : "" };
}

/** Ticks along the plot: dates if known, swept values if there is space, else round numbers. @returns {{ at: number, text: string }[]} */
function ticksAlong(/** @type {View} */ view, /** @type {Point[]} */ points, /** @type {boolean} */ log, /** @type {number[]} */ domain, /** @type {number} */ width) {
  const dated = view.x.dates && !log ? dateTicks(view.x.dates, domain[0], domain[1], Math.max(2, Math.floor(width / 90))) : [];
  return dated.length > 0 ? dated : numbersAlong(view, points, log, domain, width).map((number) => ({ at: number, text: tick(number) }));
}

function numbersAlong(/** @type {View} */ view, /** @type {Point[]} */ points, /** @type {boolean} */ log, /** @type {number[]} */ domain, /** @type {number} */ width) {
  if (view.style === "lines") {
    const all = view.x.grid?.length ? view.x.grid : points.map((point) => point.x);
    const values = [...new Set(all)].sort((a, b) => a - b);
    const place = scale(domain, [0, width], log);
    let available = Infinity;
    for (let i = 1; i < values.length; i += 1) {
      const need = (wide(tick(values[i - 1]), SMALL) + wide(tick(values[i]), SMALL)) / 2 + 8;
      available = Math.min(available, place(values[i]) - place(values[i - 1]) - need);
    }
    if (available >= 0) return values;
  }
  return log ? logTicks(domain[0], domain[1], Math.max(2, Math.floor(width / 60))) : linearTicks(domain[0], domain[1], Math.max(2, Math.floor(width / 80)));
}

/** Whether a whisker is drawn, and whether it extends beyond either end of the plot. A scale that begins at 0 has nothing below it, unless it has differences. */
function whiskerOf(/** @type {View} */ view, /** @type {Point} */ point, /** @type {number[]} */ [from, until]) {
  const isThere = point.half !== null && point.half > 0 && point.low <= until && point.high >= from;
  return { isThere, isBelow: isThere && point.low < from && (view.differences || from !== 0), isAbove: isThere && point.high > until };
}

/** Label of the measured values, with their unit. */
const measureOf = (/** @type {View} */ view, /** @type {boolean} */ inPercent) => (inPercent ? `${view.y.label} (%)` : labelOf(view.y));

/** The centre of a text, moved so that all of it is inside the drawing. */
const inside = (/** @type {number} */ x, /** @type {number} */ half, /** @type {number} */ width) => Math.max(half, Math.min(width - half, x));

/** A label of a tick below an axis. */
function tickBelow(/** @type {number[]} */ [x, y], /** @type {string} */ words, /** @type {number} */ width, /** @type {Theme} */ theme) {
  return text([inside(x, wide(words, SMALL) / 2, width), y], words, theme.soft, "middle", SMALLER);
}

/** Draws lines and steps; measured values run upwards. */
function curvesOf(/** @type {View} */ view, /** @type {Common} */ { points: all, domain, log, inPercent }, /** @type {Point[]} */ points, /** @type {Bound[]} */ bounds, /** @type {number} */ width, /** @type {Theme} */ theme) {
  const isSteps = view.style === "steps";
  const isUpLog = log && !isSteps;
  const names = view.x.names ?? [];
  const isAlongLog = isSteps ? log : (view.x.log ?? false);
  const height = Math.floor(Math.min(380, Math.max(230, width * 0.6)));
  const upTicks = inPercent ? ratioTicks : logTicks;
  const up = isUpLog ? upTicks(domain[0], domain[1], 8) : linearTicks(domain[0], domain[1], 6);
  const left = Math.max(30, ...up.map((number) => wide(tick(number), SMALL) + 14));
  const colours = [...new Set(points.map((point) => point.colour))];
  const titles = new Map(view.series.map((series) => [series.colour, series.name]));
  const isNamed = view.style === "lines" && colours.length > 1 && width >= NAMED;
  const name = isNamed ? Math.min(NAME * width, Math.max(...colours.map((number) => wide(titles.get(number) ?? "", SMALL)))) : 0;
  const [top, bottom, right] = [26, height - 42, width - 18 - name];
  const y = scale(domain, [bottom, top], isUpLog, inPercent);
  const step = (right - left) / Math.max(1, names.length);
  const reach = along(view, all, isAlongLog);
  const numbers = scale(reach, [left + 8, right - 8], isAlongLog);
  const x = (/** @type {number} */ place) => (names.length > 0 ? left + (place + 0.5) * step : numbers(place));
  let svg = "";
  for (const number of up) {
    svg += line([left, y(number), right, y(number)], theme.line);
    svg += text([left - 7, y(number) + 4], tick(number), theme.soft, "end", SMALLER);
  }
  svg += line([left, bottom, right, bottom], theme.soft);
  if (names.length > 0) {
    const widest = Math.max(...names.map((name) => wide(name, SMALL)));
    const every = Math.max(1, Math.ceil(Math.min(widest + 8, 90) / step));
    names.forEach((name, place) => {
      if (place % every === 0) svg += text([x(place), bottom + 17], shortened(name, step * every - 4, SMALL), theme.soft, "middle", SMALLER);
    });
  } else {
    for (const { at: number, text: words } of ticksAlong(view, all, isAlongLog, reach, right - left - 16)) {
      svg += line([x(number), bottom, x(number), bottom + 5], theme.soft);
      svg += tickBelow([x(number), bottom + 17], words, width, theme);
    }
  }
  svg += text([0, 12], measureOf(view, inPercent), theme.ink);
  svg += labelBelow(view.x, (left + right) / 2, height - 6, theme);
  if (domain[0] < 0 && domain[1] > 0) svg += line([left, y(0), right, y(0)], theme.ink);
  const hits = [];
  const ends = [];
  for (const [order, number] of colours.entries()) {
    const own = points.filter((point) => point.colour === number);
    const last = own[own.length - 1];
    ends.push({ x: x(last.x), y: y(last.mean), name: titles.get(number) ?? "", colour: colourOf(theme, number) });
    const colour = colourOf(theme, number);
    svg += `<g data-series="${number}">\n`;
    if (isSteps) {
      svg += path([stepsOf(own.map((point) => [x(point.x), y(point.mean)]))], colour, 1.75, dashed(number));
    } else {
      // Whiskers at the same place are offset, so that all are visible.
      const beside = 2 * (order - (colours.length - 1) / 2);
      for (const point of own) {
        const whisker = whiskerOf(view, point, domain);
        if (!whisker.isThere) continue;
        const at = x(point.x) + beside;
        svg += line([at, y(point.low), at, y(point.high)], colour, 1.5, ' stroke-opacity="0.55"');
        if (whisker.isBelow) svg += beyond([at, y(point.low)], [0, 1], colour);
        if (whisker.isAbove) svg += beyond([at, y(point.high)], [0, -1], colour);
      }
      if (view.style === "lines") svg += path(runsOf(view, own).map((run) => run.map((point) => [x(point.x), y(point.mean)])), colour, 1.75);
      for (const point of own) {
        const { fill, more } = look(view, point, colour, theme);
        svg += mark(number, [x(point.x), y(point.mean)], 3.4, colour, fill, more);
      }
    }
    svg += "</g>\n";
    for (const point of own) hits.push({ x: x(point.x), y: y(point.mean), point });
  }
  if (isNamed) svg += namesOf(ends, bottom, [right, name], theme);
  svg += labelsOf(points.map((point) => ({ x: x(point.x), y: y(point.mean), label: point.label ?? "" })), [left, right, top, bottom], theme);
  for (const bound of bounds) {
    svg += drawnBound([x(bound.x), y(bound.y)], [0, bound.is_upper ? 1 : -1], colourOf(theme, view.series[bound.series].colour));
  }
  return { svg, width, height, hits };
}

/** Writes the names of lines beside their last points. Names that would overlap are moved apart. @param {{ x: number, y: number, name: string, colour: string }[]} ends @param {number} bottom @param {number[]} room @param {Theme} theme */
function namesOf(ends, bottom, [left, width], theme) {
  const sorted = [...ends].sort((a, b) => a.y - b.y);
  const places = sorted.map((end) => end.y);
  for (let i = 1; i < places.length; i += 1) places[i] = Math.max(places[i], places[i - 1] + BETWEEN);
  let lowest = bottom;
  for (let i = places.length - 1; i >= 0; i -= 1) {
    places[i] = Math.min(places[i], lowest);
    lowest = places[i] - BETWEEN;
  }
  let svg = "";
  for (const [i, { x, y, name, colour }] of sorted.entries()) {
    svg += line([x + 5, y, left + 4, places[i]], colour, 1, ' stroke-opacity="0.6"');
    svg += text([left + 7, places[i] + 4], shortened(name, width + 8, SMALL), theme.ink, "start", SMALLER);
  }
  return svg;
}

/** Writes the names of points beside their marks: to a side, above or below, at the first place that is free, or not at all. @param {{ x: number, y: number, label: string }[]} points @param {number[]} frame @param {Theme} theme */
function labelsOf(points, [left, right, top, bottom], theme) {
  const taken = points.map(({ x, y }) => [x - CLEAR, x + CLEAR, y - CLEAR, y + CLEAR]);
  let svg = "";
  for (const { x, y, label } of points) {
    if (!label) continue;
    const width = wide(label, SMALL);
    const places = [[x + 8, y + 4], [x - 8 - width, y + 4]];
    for (const level of [y - 8, y + 17]) for (const begin of [x - width / 2, x - 4, x + 4 - width]) places.push([begin, level]);
    const boxOf = (/** @type {number[]} */ [x, y]) => [x, x + width, y - 9, y + 2];
    const isFree = (/** @type {number[]} */ [from, until, above, below]) => from >= left && until <= right && above >= top && below <= bottom
      && taken.every((box) => until <= box[0] || from >= box[1] || below <= box[2] || above >= box[3]);
    const place = places.find((place) => isFree(boxOf(place)));
    if (!place) continue;
    taken.push(boxOf(place));
    svg += text(place, label, theme.ink, "start", SMALLER);
  }
  return svg;
}

/** The label of the scale below the plot, with its key in small print. */
function labelBelow(/** @type {View["x"]} */ scale, /** @type {number} */ middle, /** @type {number} */ bottom, /** @type {Theme} */ theme) {
  const words = labelOf(scale);
  const key = scale.key?.includes(".") ? `<tspan dx="7" font-size="9.5" fill="${theme.soft}">${escaped(scale.key)}</tspan>` : "";
  return `<text x="${at(middle)}" y="${at(bottom)}" fill="${theme.ink}" text-anchor="middle">${escaped(words)}${key}</text>\n`;
}

/** Groups of points without a gap between them: lines do not bridge missing points. */
function runsOf(/** @type {View} */ view, /** @type {Point[]} */ points) {
  const order = view.x.grid?.length ? new Map(view.x.grid.map((x, i) => [x, i])) : null;
  const runs = /** @type {Point[][]} */ ([]);
  let before = -2;
  for (const point of points) {
    const place = order ? (order.get(point.x) ?? -2) : point.x;
    if (runs.length > 0 && place === before + 1) runs[runs.length - 1].push(point);
    else runs.push([point]);
    before = place;
  }
  return runs;
}

/** Corners of steps: a value holds until the next one. */
function stepsOf(/** @type {number[][]} */ points) {
  return points.flatMap(([x, y], i) => (i === 0 ? [[x, y]] : [[x, points[i - 1][1]], [x, y]]));
}

/** A stroke across the measured direction, with an arrow to the side on which a claim holds. */
function drawnBound(/** @type {number[]} */ [x, y], /** @type {number[]} */ [dx, dy], /** @type {string} */ colour) {
  return line([x - 9 * dy, y - 9 * dx, x + 9 * dy, y + 9 * dx], colour, 2.5)
    + line([x, y, x + 9 * dx, y + 9 * dy], colour, 1.5) + beyond([x + 9 * dx, y + 9 * dy], [dx, dy], colour);
}

/** Ticks of a logarithmic axis whose labels do not overlap. */
function roomyLogTicks(/** @type {number[]} */ [from, until], /** @type {number} */ available, /** @type {(number: number) => number} */ x, /** @type {boolean} */ inPercent) {
  const half = (/** @type {number} */ number) => wide(tick(number), SMALL) / 2;
  for (let most = Math.max(3, Math.floor(available / 40)); ; most -= 1) {
    const ticks = (inPercent ? ratioTicks : logTicks)(from, until, most);
    const isApart = ticks.every((number, i) => i === 0 || x(number) - x(ticks[i - 1]) >= half(number) + half(ticks[i - 1]) + 6);
    if (isApart || most <= 2) return ticks;
  }
}

/** Draws rows of bars or dots for any number of names; measured values run to the right. */
function rowsOf(/** @type {View} */ view, /** @type {Common} */ { domain, log, inPercent, order }, /** @type {Point[]} */ points, /** @type {Bound[]} */ bounds, /** @type {number} */ width, /** @type {Theme} */ theme) {
  const names = view.x.names ?? [];
  const colours = [...new Set(points.map((point) => point.colour))].sort((a, b) => a - b);
  const isOne = !view.colour;
  const places = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  if (view.sorted && isOne) {
    places.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0) || a - b);
  }
  const bar = isOne ? 20 : colours.length > 4 ? 14 : 17;
  const widest = Math.max(...places.map((place) => wide(names[place]))) + 10;
  // A name too long to stand beside its bar stands above it.
  const isBeside = isOne && widest <= width * 0.42;
  const head = isBeside ? 4 : isOne ? 18 : 24;
  const step = bar * (isOne ? 1 : colours.length) + head;
  const left = isBeside ? widest : 8;
  const said = width - left >= 260 ? Math.max(...points.map((point) => wide(wordsOf(point, inPercent), SMALL))) + 10 : 0;
  const right = width - Math.max(22, said);
  const top = 6, bottom = top + places.length * step + 4, height = bottom + 42;
  const x = scale(domain, [left, right], log, inPercent);
  const isBars = !log && !view.differences;
  const hasZero = !log || inPercent;
  const zero = hasZero ? x(0) : left;
  const ticks = log
    ? roomyLogTicks(domain, right - left, x, inPercent)
    : linearTicks(domain[0], domain[1], Math.max(2, Math.floor((right - left) / 70)));
  let svg = "";
  for (const number of ticks) {
    svg += line([x(number), top, x(number), bottom], theme.line);
    svg += tickBelow([x(number), bottom + 15], tick(number), width, theme);
  }
  if (hasZero) svg += line([zero, top, zero, bottom], theme.ink);
  // Lines behind a name end before its letters.
  const weight = `${isOne ? "" : ' font-weight="600"'} paint-order="stroke" stroke="${theme.paper}" stroke-width="5"`;
  const hits = [];
  for (const [row, place] of places.entries()) {
    const begin = top + row * step + head;
    if (isBeside) svg += text([left - 10, begin + bar / 2 + 2], names[place], theme.ink, "end");
    else svg += text([left + 4, begin - 6], shortened(names[place], width - left - 12, isOne ? undefined : BOLD), theme.ink, "start", weight);
    for (const point of points) {
      if (point.x !== place) continue;
      const index = isOne ? 0 : colours.indexOf(point.colour);
      const number = isOne ? (view.x.colours?.[place] ?? point.colour) : point.colour;
      const colour = colourOf(theme, number);
      const { fill, more } = look(view, point, colour, theme);
      const y = begin + (index + 0.5) * bar - (isOne ? 2 : 0);
      if (isBars) svg += rect([Math.min(zero, x(point.mean)), y - bar / 2 + 2, Math.abs(x(point.mean) - zero), bar - 4], colour, more);
      const whisker = whiskerOf(view, point, domain);
      const stroke = isBars ? theme.ink : colour;
      if (whisker.isThere) svg += line([x(point.low), y, x(point.high), y], stroke, 1.5);
      if (whisker.isBelow) svg += beyond([x(point.low), y], [-1, 0], stroke);
      if (whisker.isAbove) svg += beyond([x(point.high), y], [1, 0], stroke);
      if (!isBars) svg += mark(number, [x(point.mean), y], 4, colour, fill, more);
      for (const bound of bounds) {
        if (bound.x !== place || view.series[bound.series].colour !== point.colour) continue;
        svg += drawnBound([x(bound.y), y], [bound.is_upper ? -1 : 1, 0], theme.ink);
      }
      if (said > 0) svg += text([right + 8, y + 4], wordsOf(point, inPercent), theme.soft, "start", SMALLER);
      hits.push({ x: x(point.mean), y, point });
    }
  }
  const measure = measureOf(view, inPercent);
  svg += text([inside((left + right) / 2, wide(measure) / 2, width), height - 8], measure, theme.ink, "middle");
  return { svg, width, height, hits };
}
