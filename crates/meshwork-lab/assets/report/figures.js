// The plots of a report. `drawFigures(root, data)` draws all that is in `data`, as `Report::data` in
// `src/report/mod.rs` gives it, into the elements of `root` that have a `data-section`. It may be called
// again with fresh data: what was chosen stays chosen.
//
// It stands on d3 and Observable Plot, which are in the page before it.

const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "wye", "cross", "hexagon", "times", "plus"];
const colourOf = (number) => `var(--c${number % SYMBOLS.length})`;
const symbolOf = (number) => SYMBOLS[number % SYMBOLS.length];

/** The least width of a panel, in pixels, and the space between two. */
const PANEL = 290;
const GAP = 24;
/** The most of the text width that a single panel takes. */
const WIDEST = 680;

/** Of each figure's element: the figure, what is chosen, and the width at which it was drawn. */
const states = new WeakMap();
/** Figures that wait to be drawn, in the order of the page. */
let queue = [];
let names = 0;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A number as it is shown along an axis. */
function tick(number) {
  const size = Math.abs(number);
  if (size >= 1e6) return number.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 4 });
  if (size > 0 && size < 1e-4) return number.toExponential();
  return number.toLocaleString("en", { maximumSignificantDigits: 6 });
}

/** A number in a few digits. */
function brief(number) {
  const size = Math.abs(number);
  if (size > 0 && (size < 1e-4 || size >= 1e15)) return number.toExponential(3);
  return number.toLocaleString("en", size >= 1e5 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 5 });
}

/** The ticks of a logarithmic axis: as many as have room. */
function logTicks(domain, most) {
  const powers = d3.range(Math.floor(Math.log10(domain[0])), Math.ceil(Math.log10(domain[1])) + 1);
  const of = (digits, step) => powers
    .filter((power) => power % step === 0)
    .flatMap((power) => digits.map((digit) => (power < 0 ? digit / 10 ** -power : digit * 10 ** power)))
    .filter((number) => number >= domain[0] && number <= domain[1]);
  const sets = [[[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], 1], [[1, 2, 3, 5, 7], 1], [[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 10]];
  return sets.map(([digits, step]) => of(digits, step)).find((ticks) => ticks.length <= most) ?? [];
}

/** The values that were swept as ticks, where they have room; else what `d3` thinks best. */
function ticksOf(view, points, width) {
  const values = d3.sort(new Set(points.map((point) => point.x)));
  const at = (value) => (view.x.log ? Math.log(value) : value);
  const span = at(values.at(-1)) - at(values[0]);
  const least = d3.min(d3.pairs(values), ([a, b]) => at(b) - at(a));
  if (values.length < 2 || (least / span) * (width - 90) >= 34) return values;
  return view.x.log ? logTicks(d3.extent(values), width / 60) : Math.max(3, width / 80);
}

/** Whether an interval excludes 0. */
const isClear = (point) => point.half !== null && Math.abs(point.mean) > point.half;

/** The points of a view, one object each. */
function pointsOf(view) {
  return view.series.flatMap((series) => series.x.map((x, i) => {
    const mean = series.mean[i], half = series.half[i];
    const along = view.x.names.length > 0 ? view.x.names[x] : x;
    return {
      x: along, mean, half, low: mean - (half ?? 0), high: mean + (half ?? 0), replications: series.replications[i],
      name: series.name, colour: series.colour, panel: series.panel,
    };
  }));
}

/** From where to where the measured values go. Wide intervals may leave the plot: the means may not. */
function domainOf(view, points) {
  const least = d3.min(points, (point) => point.mean), most = d3.max(points, (point) => point.mean);
  let low = d3.min(points, (point) => point.low), high = d3.max(points, (point) => point.high);
  if (view.y.log) {
    const positive = d3.min(points.filter((point) => point.low > 0), (point) => point.low) ?? least;
    return [Math.max(Math.min(positive, least), least / 3) / 1.1, Math.min(high, most * 3) * 1.1];
  }
  const spread = Math.max(most, 0) - Math.min(least, 0) || Math.abs(most) || 1;
  // What is never negative is not shown to be so by a wide interval.
  low = Math.max(low, least - spread / 2, least >= 0 && !view.differences ? 0 : -Infinity);
  high = Math.min(high, most + spread / 2);
  if (view.differences || view.style !== "lines") return pad(Math.min(low, 0), Math.max(high, 0));
  // A line may leave 0 out where all of it is far above.
  return low > 0 && least < 0.6 * most ? pad(0, high) : pad(low, high);
}

function pad(low, high) {
  const room = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
  return [low === 0 ? 0 : low - room, high === 0 ? 0 : high + room];
}

function describe(view, point) {
  const lines = [`${view.x.label} = ${point.x}`];
  if (view.colour) lines.push(`${view.colour} = ${point.name}`);
  const half = point.half === null ? "" : ` ± ${brief(point.half)}`;
  lines.push(`${view.y.label}: ${brief(point.mean)}${half}`);
  return lines.join("\n");
}

const labelOf = (scale) => (scale.unit ? `${scale.label} (${scale.unit})` : scale.label);

/** The whiskers that can be drawn: a logarithmic scale has no place for 0. */
function whiskers(view, points, domain) {
  const clamp = (value) => (view.y.log ? Math.max(value, domain[0]) : value);
  return points.filter((point) => point.half > 0).map((point) => ({ ...point, low: clamp(point.low) }));
}

/** An axis. Its numbers are given as texts, because d3 leaves out some of a logarithmic one. */
function axis(of, type, domain, label, ticks) {
  const isLog = type === "log";
  const options = { label, ...(isLog ? { text: tick } : { tickFormat: tick }) };
  const mark = of === "x" ? Plot.axisX : Plot.axisY;
  return {
    scale: { type, ...(domain ? { domain } : {}), axis: null, label },
    axis: Array.isArray(ticks) ? mark(ticks, options) : mark({ ...options, ticks }),
    grid: (of === "x" ? Plot.gridX : Plot.gridY)(...(Array.isArray(ticks) ? [ticks] : []), {
      stroke: "var(--line)", strokeOpacity: 1, ...(Array.isArray(ticks) ? {} : { ticks }),
    }),
  };
}

const dotStyle = (view, point) => (view.differences && !isClear(point) ? "var(--paper)" : colourOf(point.colour));

function drawLines(view, points, domain, width) {
  const bySeries = d3.group(points, (point) => point.colour);
  const along = view.x.names.length > 0
    ? { scale: { type: "point", domain: view.x.names, label: view.x.label }, axis: null }
    : axis("x", view.x.log ? "log" : "linear", null, labelOf(view.x), ticksOf(view, points, width));
  const measured = axis("y", view.y.log ? "log" : "linear", domain, labelOf(view.y), view.y.log ? logTicks(domain, 8) : 6);
  const marks = [measured.grid, measured.axis, along.axis];
  if (view.differences) marks.push(Plot.ruleY([0], { stroke: "currentColor" }));
  // Whiskers of one place stand beside each other, so that all can be seen.
  const beside = (colour) => 2 * ([...bySeries.keys()].indexOf(colour) - (bySeries.size - 1) / 2);
  for (const [colour, own] of bySeries) {
    const stroke = colourOf(colour);
    marks.push(
      Plot.ruleX(whiskers(view, own, domain), { x: "x", y1: "low", y2: "high", stroke, strokeOpacity: 0.55, strokeWidth: 1.5, clip: true, dx: beside(colour) }),
      Plot.line(own, { x: "x", y: "mean", stroke, strokeWidth: 1.75 }),
      Plot.dot(own, { x: "x", y: "mean", symbol: symbolOf(colour), stroke, fill: (point) => dotStyle(view, point), r: 3.2 }),
    );
  }
  marks.push(Plot.tip(points, Plot.pointer({ x: "x", y: "mean", title: (point) => describe(view, point), fill: "var(--paper)" })));
  return {
    width, height: Math.round(Math.min(360, Math.max(230, width * 0.6))),
    marginLeft: 58, marginBottom: 40, marginRight: 18, marginTop: 26, insetLeft: 8, insetRight: 8,
    x: along.scale, y: measured.scale,
    marks,
  };
}

/** Bars or dots in rows: a group for each value along the plot, with its name above it. */
function drawRows(view, points, domain, width) {
  const groups = view.x.names.filter((name) => points.some((point) => point.x === name));
  const colours = d3.sort(new Set(points.map((point) => point.colour)));
  const bar = colours.length > 4 ? 14 : 18, head = 24;
  const step = colours.length * bar + head;
  const rows = { y: "colour", fy: "x" };
  const ticks = view.y.log ? logTicks(domain, Math.max(3, width / 80)) : Math.max(3, width / 100);
  const measured = axis("x", view.y.log ? "log" : "linear", domain, labelOf(view.y), ticks);
  const marks = [measured.grid, measured.axis];
  if (view.style === "bars") {
    marks.push(Plot.barX(points, { ...rows, x: "mean", fill: (point) => colourOf(point.colour), insetTop: 1, insetBottom: 1 }));
  }
  const own = view.style === "bars" ? "currentColor" : (point) => colourOf(point.colour);
  marks.push(Plot.ruleY(whiskers(view, points, domain), { ...rows, x1: "low", x2: "high", stroke: own, strokeWidth: 1.5, clip: true }));
  if (view.style === "dots") {
    for (const colour of colours) {
      const dots = points.filter((point) => point.colour === colour);
      marks.push(Plot.dot(dots, { ...rows, x: "mean", symbol: symbolOf(colour), stroke: colourOf(colour), fill: (point) => dotStyle(view, point), r: 4 }));
    }
  }
  if (!view.y.log) marks.push(Plot.ruleX([0], { stroke: "currentColor" }));
  marks.push(
    Plot.text(groups, { fy: (name) => name, text: (name) => name, frameAnchor: "top-left", lineAnchor: "bottom", dy: -5, textOverflow: "ellipsis-end", lineWidth: width / 13 }),
    Plot.tip(points, Plot.pointerY({ ...rows, x: "mean", title: (point) => describe(view, point), fill: "var(--paper)" })),
  );
  return {
    width, height: groups.length * step + 56, marginLeft: 8, marginRight: 26, marginTop: 4, marginBottom: 40,
    x: measured.scale,
    y: { type: "band", axis: null, domain: colours, padding: 0 },
    fy: { axis: null, domain: groups, paddingInner: head / step, paddingOuter: head / step },
    marks,
  };
}

function drawPanel(view, points, domain, width, name) {
  const options = view.style === "lines" ? drawLines(view, points, domain, width) : drawRows(view, points, domain, width);
  const svg = Plot.plot({ ...options, style: { fontFamily: "inherit", fontSize: "12px", background: "none", overflow: "visible" } });
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", name ? `${name}. ${view.sentence}` : view.sentence);
  return svg;
}

function legendOf(view) {
  const list = make("ul", { class: "legend", "aria-label": view.colour });
  list.append(make("li", { class: "key" }, view.colour));
  const seen = new Map(view.series.map((series) => [series.colour, series.name]));
  for (const [colour, name] of d3.sort(seen, ([number]) => number)) {
    const sign = d3.create("svg").attr("viewBox", "-9 -9 18 18").attr("aria-hidden", "true");
    const shapes = { ...d3, symbolHexagon: Plot.symbolHexagon };
    const shape = { hexagon: d3.symbolCircle, plus: d3.symbolPlus, times: d3.symbolTimes }[symbolOf(colour)]
      ?? shapes[`symbol${symbolOf(colour)[0].toUpperCase()}${symbolOf(colour).slice(1)}`];
    sign.append("path").attr("d", d3.symbol(shape, 90)()).attr("fill", colourOf(colour)).attr("stroke", colourOf(colour));
    list.append(make("li", {}, sign.node(), name));
  }
  return list;
}

/** The view that is chosen, if the page has it. */
function viewOf(state) {
  const at = state.figure.choices.map((choice) => Math.max(0, choice.values.indexOf(state.chosen.get(choice.key))));
  return state.figure.views.find((view) => view.at.every((index, i) => index === at[i]));
}

function draw(element) {
  const state = states.get(element);
  state.isWaiting = false;
  const view = viewOf(state);
  const panels = element.querySelector(".panels"), legend = element.querySelector(".legends");
  const caption = element.querySelector("figcaption"), numbers = element.querySelector("details");
  panels.replaceChildren();
  legend.replaceChildren();
  numbers.hidden = !view;
  if (!view) {
    caption.textContent = "Nothing was measured here, or the page would have grown too large: the files beside it have all numbers.";
    return;
  }
  caption.textContent = view.sentence;
  if (view.colour) legend.append(legendOf(view));
  const all = pointsOf(view), domain = domainOf(view, all);
  const shown = d3.sort(new Set(all.map((point) => point.panel)));
  element.classList.toggle("wide", shown.length > 1);
  const width = element.clientWidth;
  state.width = width;
  const columns = Math.max(1, Math.min(shown.length, Math.floor((width + GAP) / (PANEL + GAP))));
  panels.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  const room = Math.floor((width - GAP * (columns - 1)) / columns);
  for (const panel of shown) {
    const name = view.panel ? `${view.panel} = ${view.panels[panel]}` : "";
    const place = make("div", { class: "panel" });
    if (name) place.append(make("p", {}, name));
    place.append(drawPanel(view, all.filter((point) => point.panel === panel), domain, Math.min(room, WIDEST), name));
    panels.append(place);
  }
  if (numbers.open) fillNumbers(numbers, view);
}

/** The numbers of a view, in full. */
function fillNumbers(details, view) {
  const table = make("table");
  table.append(make("caption", {}, make("span", {}, view.sentence)));
  const heads = [view.panel, view.colour, view.x.label].filter(Boolean);
  const numbers = [labelOf(view.y), "half of the 95 % interval", "replications"];
  const head = make("tr");
  for (const text of heads) head.append(make("th", { scope: "col" }, text));
  for (const text of numbers) head.append(make("th", { scope: "col", class: "n" }, text));
  const body = make("tbody");
  for (const point of pointsOf(view)) {
    const row = make("tr");
    if (view.panel) row.append(make("td", {}, view.panels[point.panel]));
    if (view.colour) row.append(make("td", {}, point.name));
    row.append(make("th", { scope: "row" }, String(point.x)));
    for (const number of [point.mean, point.half, point.replications]) row.append(make("td", { class: "n" }, number === null ? "-" : String(number)));
    body.append(row);
  }
  table.append(make("thead", {}, head), body);
  const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of the plot" }, table);
  details.replaceChildren(details.firstElementChild, scroll);
}

/** A new element for a figure. */
function place(figure) {
  const element = make("figure", { id: figure.id });
  element.append(
    make("h4", {}), make("div", { class: "choices" }), make("figcaption", { "aria-live": "polite" }),
    make("div", { class: "legends" }), make("div", { class: "panels" }),
    make("details", {}, make("summary", {}, "These numbers as a table")),
  );
  states.set(element, { chosen: new Map(), width: 0, figure, isWaiting: false });
  element.querySelector("details").addEventListener("toggle", (event) => {
    const view = viewOf(states.get(element));
    if (event.target.open && view) fillNumbers(event.target, view);
  });
  resized.observe(element);
  return element;
}

/** The choosers of a figure, with what was chosen before. */
function fillChoices(element) {
  const { figure, chosen } = states.get(element);
  const row = element.querySelector(".choices");
  const had = document.activeElement?.closest(".choices") === row ? /** @type {HTMLElement} */ (document.activeElement).dataset.key : null;
  row.replaceChildren(...figure.choices.map((choice) => {
    const select = make("select", { id: `choice-${names += 1}`, "data-key": choice.key });
    for (const value of choice.values) select.append(make("option", {}, value));
    select.value = choice.values.includes(chosen.get(choice.key)) ? chosen.get(choice.key) : choice.values[0];
    select.addEventListener("change", () => {
      chosen.set(choice.key, select.value);
      draw(element);
    });
    return make("label", { for: select.id }, `${choice.key} `, select);
  }));
  if (had) row.querySelector(`[data-key="${CSS.escape(had)}"]`)?.focus();
}

/** Draws the next figure that waits, and the others when there is time. */
function next() {
  const element = queue.shift();
  if (element?.isConnected && states.get(element).isWaiting) draw(element);
  if (queue.length > 0) (window.requestIdleCallback ?? ((call) => setTimeout(call, 1)))(next, { timeout: 100 });
}

function drawRest() {
  for (const element of queue.splice(0)) if (element.isConnected && states.get(element).isWaiting) draw(element);
}

const resized = new ResizeObserver((entries) => requestAnimationFrame(() => {
  for (const { target } of entries) {
    const state = states.get(target);
    if (state && !state.isWaiting && target.isConnected && target.clientWidth > 0 && Math.abs(target.clientWidth - state.width) > 1) draw(target);
  }
}));

export function drawFigures(root, data) {
  for (const section of data.sections) {
    const home = root.querySelector(`.figures[data-section="${CSS.escape(section.id)}"]`);
    if (!home) continue;
    const old = new Map([...home.querySelectorAll("figure")].map((element) => [element.id, element]));
    for (const figure of section.figures) {
      const element = old.get(figure.id) ?? place(figure);
      old.delete(figure.id);
      const state = states.get(element);
      state.figure = figure;
      element.querySelector("h4").textContent = figure.heading;
      home.append(element);
      fillChoices(element);
      if (!state.isWaiting) queue.push(element);
      state.isWaiting = true;
    }
    for (const element of old.values()) {
      resized.unobserve(element);
      element.remove();
    }
  }
  next();
}

// On paper nothing can be opened: tables of a page or so are open there.
const PAPER_ROWS = 60;
let opened = [];
addEventListener("beforeprint", () => {
  drawRest();
  const closed = [...document.querySelectorAll("details.numbers:not([open])")];
  opened = closed.filter((details) => details.querySelectorAll("tbody tr").length <= PAPER_ROWS);
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened.splice(0)) details.open = false;
});
