// The plots of a report. `drawFigures(root, data)` draws all figures of `data`, the output of `Report::data` in
// `src/report/mod.rs`, into the elements of `root` that have a `data-section`. It may be called again with new data;
// selections are kept.

/** @import { Choice, Data, Figure, Finding, View } from "../types.js" */

import { PAGE, canPart, figureOf, legendOf, panelName, panelsOf, parted } from "../plot/figure.js";
import { common, panelOf } from "../plot/panel.js";
import { mark, sample } from "../plot/svg.js";
import { canBeLog, hasPercent, isLog } from "../plot/view.js";
import { find, make } from "./dom.js";
import { fileName, hand, handText, png } from "./hand.js";
import { csv, numbersOf } from "./save.js";
import { onChange, recalled, remember } from "./state.js";
import { prepareTables } from "./tables.js";
import { tips } from "./tip.js";

/** Minimum width of a panel in pixels, and the space between two panels. */
const PANEL = 290;
const GAP = 24;

/** Maximum number of rows in the table of a plot; the files beside the page have all rows. */
const MOST_ROWS = 2000;

const SCALE = "scale";
const SCALES = ["linear", "logarithmic", "own in each panel"];
const UNIT = "in";
const UNITS = ["percent", "absolute"];
const LINES = "lines";
const PARTS = ["in one panel", "a panel each"];
/** Number of lines over time above which each gets a panel of its own. */
const HAIRBALL = 4;
const ALONG = "along";
/** Selections that apply to one figure; all others apply to every figure of the section. */
const OWN = ["metric", ALONG, SCALE, UNIT, LINES];

/**
 * By element: the figure, its selections, and the width at which it was drawn.
 * @typedef {{ figure: Figure, chosen: Map<string, string>, width: number, isWaiting: boolean }} State
 * @type {Map<Element, State>}
 */
const states = new Map();
/** Findings of a section, for each setting. @type {Map<Element, Finding[]>} */
const findings = new Map();
/** Figures still to be drawn, in the order of the page. @type {HTMLElement[]} */
let queue = [];
let names = 0;

/** State of the figure in an element. @returns {State} */
function stateOf(/** @type {Element} */ element) {
  const state = states.get(element);
  if (!state) throw new Error("this is no figure");
  return state;
}

/** Index of the selected value. @param {Choice} choice @param {Map<string, string>} chosen */
function indexOf(choice, chosen) {
  const at = choice.values.indexOf(chosen.get(choice.key) ?? "");
  return at < 0 ? choice.first ?? 0 : at;
}

/** Index of the selected value of each selector. @param {Figure} figure @param {Map<string, string>} chosen */
export const indicesOf = (figure, chosen) => figure.choices.map((choice) => indexOf(choice, chosen));

/** The view for these indices. @param {Figure} figure @param {number[]} at */
const viewAt = (figure, at) => figure.views.find((view) => view.at.every((index, i) => index === null || index === at[i]));

/** Index of the selector of the x axis, or -1. @param {Figure} figure */
const alongOf = (figure) => figure.choices.findIndex(({ key }) => key === ALONG);

/** The selected view, if the page has it; not every metric has a view for every x axis. @param {Figure} figure @param {Map<string, string>} chosen */
export function viewOf(figure, chosen) {
  const at = indicesOf(figure, chosen);
  const along = alongOf(figure);
  return viewAt(figure, at) ?? (along < 0 ? undefined : viewAt(figure, at.with(along, 0)));
}

/** Whether differences are in percent. @param {View} view @param {Map<string, string>} chosen */
const percentOf = (view, chosen) => hasPercent(view) && chosen.get(UNIT) !== UNITS[1];

/** Whether a view is drawn on a logarithmic scale. @param {View} view @param {Map<string, string>} chosen */
function logOf(view, chosen) {
  const scale = chosen.get(SCALE);
  return canBeLog(view, percentOf(view, chosen)) && (scale === SCALES[1] || (scale !== SCALES[0] && isLog(view)));
}

/** Whether each line gets a panel of its own by default. @param {View} view */
const isHairball = (view) => canPart(view) && view.style === "steps" && Boolean(view.fixed) && view.series.length > HAIRBALL;

/** The selected view, with its lines in one panel or in several. @param {Figure} figure @param {Map<string, string>} chosen */
function shownOf(figure, chosen) {
  const view = viewOf(figure, chosen);
  const isParted = view && canPart(view) && (chosen.has(LINES) ? chosen.get(LINES) === PARTS[1] : isHairball(view));
  return view && isParted ? parted(view) : view;
}

/** Selected scale, unit and panels of a view. @param {View} view @param {Map<string, string>} chosen */
function lookOf(view, chosen) {
  return {
    log: logOf(view, chosen),
    inPercent: percentOf(view, chosen),
    isFree: panelsOf(view).length > 1 && chosen.get(SCALE) === SCALES[2],
  };
}

/** Makes the element of a panel. @param {View} view @param {ReturnType<typeof common>} all @param {number} panel @param {number} width */
function panelElement(view, all, panel, width) {
  const name = panelName(view, panel);
  const place = make("div", { class: "panel" });
  if (name) place.append(make("p", {}, name));
  const drawn = panelOf(view, all, panel, width, PAGE);
  place.insertAdjacentHTML("beforeend",
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${drawn.height}" viewBox="0 0 ${width} ${drawn.height}">${drawn.svg}</svg>`);
  const svg = /** @type {SVGElement} */ (place.lastElementChild);
  svg.setAttribute("aria-label", name ? `${name}. ${view.sentence}` : view.sentence);
  tips(place, svg, view, drawn, { panel: name, inPercent: all.inPercent });
  return place;
}

/** Draws the panels of a view into an element. @param {HTMLElement} panels @param {View} view @param {{ log: boolean, inPercent?: boolean, isFree?: boolean }} look @param {number} width */
export function drawPanels(panels, view, { log, inPercent, isFree }, width) {
  const shown = panelsOf(view);
  const columns = Math.max(1, Math.min(shown.length, Math.floor((width + GAP) / (PANEL + GAP))));
  panels.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  const available = Math.floor((width - GAP * (columns - 1)) / columns);
  const all = common(view, log, inPercent, isFree);
  panels.replaceChildren(...shown.map((panel) => panelElement(view, all, panel, Math.max(200, available))));
}

/** Makes the legend of colours. @param {View} view */
export function legendElement(view) {
  const key = view.colour?.label ?? "";
  const list = make("ul", { class: "legend", "aria-label": key }, make("li", { class: "key" }, key));
  for (const [number, name] of legendOf(view)) {
    const item = make("li", {}, name);
    const colour = PAGE.colours[number % PAGE.colours.length];
    const drawn = view.style === "steps"
      ? `<svg xmlns="http://www.w3.org/2000/svg" class="line" viewBox="-14 -5 28 10" aria-hidden="true">${sample(number, [0, 0], colour)}</svg>`
      : `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-9 -9 18 18" aria-hidden="true">${mark(number, [0, 0], 5.5, colour, colour)}</svg>`;
    item.insertAdjacentHTML("afterbegin", drawn);
    list.append(item);
    if (view.style !== "rows") single(item, number);
  }
  return list;
}

/** Highlights the line of a legend entry while it is pointed at or focused. @param {HTMLElement} item @param {number} number */
function single(item, number) {
  const show = (/** @type {boolean} */ isAlone) => {
    for (const line of item.closest("figure")?.querySelectorAll(".panels g[data-series]") ?? []) {
      line.setAttribute("opacity", isAlone && Number(line.getAttribute("data-series")) !== number ? "0.12" : "1");
    }
  };
  item.tabIndex = 0;
  for (const kind of ["pointerenter", "focus"]) item.addEventListener(kind, () => show(true));
  for (const kind of ["pointerleave", "blur"]) item.addEventListener(kind, () => show(false));
}

/** Draws a figure with its selections. */
function draw(/** @type {HTMLElement} */ element) {
  const state = stateOf(element);
  state.isWaiting = false;
  const { figure, chosen } = state;
  const view = shownOf(figure, chosen);
  const panels = find(element, ".panels"), legend = find(element, ".legends");
  const caption = find(element, "figcaption");
  const numbers = /** @type {HTMLDetailsElement} */ (find(element, "details"));
  panels.replaceChildren();
  legend.replaceChildren();
  numbers.hidden = find(element, ".save").hidden = !view;
  state.width = element.clientWidth;
  if (!view) {
    caption.textContent = "Nothing was measured here, or the page would have grown too large: the files beside it have all numbers.";
    return;
  }
  if (element.parentElement) pair(element.parentElement);
  state.width = element.clientWidth;
  const look = lookOf(view, chosen);
  caption.textContent = sentenceOf(view, look.log, look.inPercent);
  fillLook(element, view);
  offer(element, view);
  if (view.colour) legend.append(legendElement(view));
  drawPanels(panels, view, look, state.width);
  if (numbers.open) fillNumbers(numbers, viewOf(figure, chosen) ?? view);
}

/** Puts figures in pairs; a figure with several panels, or without a partner, is as wide as the page. */
function pair(/** @type {Element} */ home) {
  let alone = /** @type {Element | null} */ (null);
  for (const element of home.children) {
    const state = states.get(element);
    if (!state) continue;
    const view = shownOf(state.figure, state.chosen);
    const isWide = view !== undefined && panelsOf(view).length > 1;
    if (isWide || alone) {
      alone?.classList.toggle("wide", isWide);
      element.classList.toggle("wide", isWide);
      alone = null;
    } else {
      alone = element;
    }
  }
  alone?.classList.add("wide");
}

/** Caption of a view on its current scale. @param {View} view @param {boolean} log */
export function sentenceOf(view, log, inPercent = hasPercent(view)) {
  const text = inPercent ? view.sentence : view.sentence.replace(/ In percent, with intervals of the ratio,[^.]*\./, "");
  return text.replace(" The scale is logarithmic.", "") + (log ? " The scale is logarithmic." : "");
}

/** Fills the table of numbers. @param {HTMLDetailsElement} details @param {View} view */
function fillNumbers(details, view) {
  const { heads, rows } = numbersOf(view);
  const keys = heads.length - (heads.includes("half_width") ? 3 : 1);
  const head = make("tr");
  heads.forEach((text, i) => head.append(make("th", { scope: "col", class: i < keys ? "" : "n" }, String(text).replaceAll("_", " "))));
  const body = make("tbody");
  for (const row of rows.slice(0, MOST_ROWS)) {
    const line = make("tr");
    row.forEach((value, i) => {
      const text = value === null || value === undefined ? "-" : String(value);
      line.append(i === keys - 1 ? make("th", { scope: "row" }, text) : make("td", { class: i < keys ? "" : "n" }, text));
    });
    body.append(line);
  }
  const table = make("table", {}, make("caption", {}, make("span", {}, view.sentence)), make("thead", {}, head), body);
  const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of the plot" }, table);
  const more = rows.length > MOST_ROWS ? [make("p", {}, `${rows.length - MOST_ROWS} more rows are in the CSV.`)] : [];
  details.replaceChildren(/** @type {Element} */ (details.firstElementChild), scroll, ...more);
  prepareTables(details);
}

/** Saves the drawing. @param {HTMLElement} element @param {string} kind */
async function save(element, kind) {
  const { figure, chosen } = stateOf(element);
  const view = shownOf(figure, chosen);
  if (!view) return;
  const name = fileName(figure.id, ...figure.choices.flatMap((choice, i) => choice.values[view.at[i] ?? -1] ?? []));
  if (kind === "CSV") {
    const { heads, rows } = numbersOf(viewOf(figure, chosen) ?? view);
    handText(`${name}.csv`, csv([heads, ...rows]), "text/csv");
    return;
  }
  const { log, inPercent, isFree } = lookOf(view, chosen);
  const svg = figureOf(view, log, undefined, inPercent, isFree);
  if (kind === "SVG") handText(`${name}.svg`, svg, "image/svg+xml");
  else hand(`${name}.png`, await png(svg));
}

/** Makes the element of a figure. */
function place(/** @type {Figure} */ figure, /** @type {string | undefined} */ level) {
  const element = make("figure", { id: figure.id });
  const kinds = ["SVG", "PNG", "CSV"].map((kind) => {
    const button = make("button", { type: "button", "aria-label": `Save ${figure.heading} as ${kind}` }, kind);
    button.addEventListener("click", () => save(element, kind));
    return button;
  });
  element.append(
    make(level === "3" ? "h3" : "h4", { class: "small" }), make("div", { class: "choices" }), make("figcaption", { "aria-live": "polite" }),
    make("div", { class: "legends" }), make("div", { class: "panels" }),
    make("p", { class: "save" }, "Save: ", ...kinds),
    make("details", {}, make("summary", {}, "These numbers as a table")),
  );
  states.set(element, { chosen: new Map(), width: 0, figure, isWaiting: false });
  const numbers = /** @type {HTMLDetailsElement} */ (find(element, "details"));
  numbers.addEventListener("toggle", () => {
    const { figure, chosen } = stateOf(element);
    const view = viewOf(figure, chosen);
    if (numbers.open && view) fillNumbers(numbers, view);
  });
  recall(element);
  resized.observe(element);
  return element;
}

/** Name of a selection in the address. @param {Figure} figure @param {string} key */
const address = (figure, key) => `${figure.id}.${key}`;

/** Restores the selections from the address. */
function recall(/** @type {HTMLElement} */ element) {
  const { figure, chosen } = stateOf(element);
  chosen.clear();
  for (const { key, values } of [...figure.choices, { key: SCALE, values: SCALES }, { key: UNIT, values: UNITS }, { key: LINES, values: PARTS }]) {
    const value = recalled(address(figure, key));
    if (value !== null && values.includes(value)) chosen.set(key, value);
  }
}

/** Makes a selector. @param {HTMLElement} element @param {Choice} choice @param {string} value @param {string} first */
function chooser(element, choice, value, first) {
  const { figure, chosen } = stateOf(element);
  const select = make("select", { id: `choice-${names += 1}`, "data-key": choice.key });
  for (const value of choice.values) select.append(make("option", {}, value));
  select.value = value;
  select.addEventListener("change", () => {
    chosen.set(choice.key, select.value);
    remember(address(figure, choice.key), select.value === first ? null : select.value);
    draw(element);
    if (!OWN.includes(choice.key)) chooseInAll(element, choice.key, select.value);
  });
  return make("label", { for: select.id }, `${choice.label} `, select);
}

/** Selects a value in all figures of a section, and updates the finding. @param {HTMLElement} element @param {string} key @param {string} value */
function chooseInAll(element, key, value) {
  const home = element.parentElement;
  for (const [other, { figure, chosen }] of states) {
    const choice = figure.choices.find((choice) => choice.key === key);
    if (!(other instanceof HTMLElement) || other === element || other.parentElement !== home || !choice?.values.includes(value)) continue;
    chosen.set(key, value);
    remember(address(figure, key), value === choice.values[choice.first ?? 0] ? null : value);
    fillChoices(other);
    draw(other);
  }
  if (home) sayFinding(home);
}

/** Shows the finding for the selections above the figures. */
function sayFinding(/** @type {Element} */ home) {
  const place = home.closest("section")?.querySelector(".finding");
  const all = findings.get(home) ?? [];
  const values = new Map();
  for (const element of home.children) {
    const state = states.get(element);
    if (!state) continue;
    indicesOf(state.figure, state.chosen).forEach((at, i) => {
      const choice = state.figure.choices[i];
      if (!values.has(choice.key)) values.set(choice.key, choice.values[at]);
    });
  }
  const found = all.find(({ at }) => at.every(([key, value]) => !values.has(key) || values.get(key) === value));
  if (!place || !found) return;
  // A number and its percent sign stay in one line.
  const text = found.text.replaceAll(" %", "\u00a0%");
  if (place.textContent !== text) place.textContent = text;
  place.classList.toggle("open", !found.is_clear);
}

/** Makes the selectors of a figure and keeps its selections. */
function fillChoices(/** @type {HTMLElement} */ element) {
  const { figure, chosen } = stateOf(element);
  const row = find(element, ".choices");
  const active = document.activeElement;
  const had = active instanceof HTMLElement && active.closest(".choices") === row ? active.dataset.key : null;
  row.replaceChildren(...figure.choices.map((choice) => {
    const label = choice.key === ALONG ? { ...choice, label: "x axis" } : choice;
    return chooser(element, label, choice.values[indexOf(choice, chosen)], choice.values[choice.first ?? 0]);
  }), make("span", { class: "of-scale" }));
  const view = shownOf(figure, chosen);
  if (view) fillLook(element, view);
  if (had) /** @type {HTMLElement | null} */ (row.querySelector(`[data-key="${CSS.escape(had)}"]`))?.focus();
}

/** Offers the x axes that exist for the other selections, and hides selectors without effect. @param {HTMLElement} element @param {View} view */
function offer(element, view) {
  const { figure, chosen } = stateOf(element);
  const at = indicesOf(figure, chosen);
  figure.choices.forEach(({ key }, which) => {
    const select = /** @type {HTMLSelectElement} */ (find(element, `[data-key="${CSS.escape(key)}"]`));
    /** @type {HTMLElement} */ (select.parentElement).hidden = view.at[which] === null;
    if (key !== ALONG) return;
    [...select.options].forEach((option, i) => (option.disabled = !viewAt(figure, at.with(which, i))));
    select.selectedIndex = view.at[which] ?? 0;
  });
}

/** Makes the selectors of unit and scale, if there is a choice. @param {HTMLElement} element @param {View} view */
function fillLook(element, view) {
  const place = find(element, ".of-scale");
  const { log, inPercent, isFree } = lookOf(view, stateOf(element).chosen);
  const scales = [SCALES[0], ...(canBeLog(view, inPercent) ? [SCALES[1]] : []), ...(panelsOf(view).length > 1 ? [SCALES[2]] : [])];
  const all = /** @type {[string, string[], string, string][]} */ ([]);
  const { figure, chosen } = stateOf(element);
  const own = viewOf(figure, chosen) ?? view;
  if (canPart(own)) all.push([LINES, PARTS, PARTS[Number(view !== own)], PARTS[Number(isHairball(own))]]);
  if (hasPercent(view)) all.push([UNIT, UNITS, UNITS[Number(!inPercent)], UNITS[0]]);
  if (scales.length > 1) all.push([SCALE, scales, isFree ? SCALES[2] : SCALES[Number(log)], SCALES[Number(isLog(view) && canBeLog(view, inPercent))]]);
  const offered = JSON.stringify(all.map(([key, values, , first]) => [key, values, first]));
  if (place.dataset.offered !== offered) {
    place.dataset.offered = offered;
    place.replaceChildren(...all.map(([key, values, value, first]) => chooser(element, { key, label: key, values }, value, first)));
  }
  for (const [key, , value] of all) /** @type {HTMLSelectElement} */ (find(place, `[data-key="${key}"]`)).value = value;
}

/** Draws the next figure of the queue, and the others when the browser is idle. */
function next() {
  const element = queue.shift();
  if (element?.isConnected && stateOf(element).isWaiting) draw(element);
  if (queue.length === 0) return;
  if ("requestIdleCallback" in window) requestIdleCallback(next, { timeout: 100 });
  else setTimeout(next, 1);
}

/** Draws all figures of the queue. */
export function drawRest() {
  for (const element of queue.splice(0)) if (element.isConnected && stateOf(element).isWaiting) draw(element);
}

/** Draws a figure at the width of a sheet; without a width, at that of the page. */
export function drawFor(/** @type {Element} */ element, /** @type {number | null} */ width) {
  if (!(element instanceof HTMLElement)) return;
  const { figure, chosen } = stateOf(element);
  const view = shownOf(figure, chosen);
  if (width === null) draw(element);
  else if (view) drawPanels(find(element, ".panels"), view, lookOf(view, chosen), width);
}

/** All figures of the page, with their selections. */
export function shownFigures() {
  return [...states].filter(([element]) => element.isConnected).map(([element, { figure, chosen }]) => ({ element, figure, chosen }));
}

const resized = new ResizeObserver((entries) => requestAnimationFrame(() => {
  for (const { target } of entries) {
    const state = states.get(target);
    if (target instanceof HTMLElement && state && !state.isWaiting && target.isConnected && target.clientWidth > 0 && Math.abs(target.clientWidth - state.width) > 1) draw(target);
  }
}));

/** @param {ParentNode} root @param {Data} data */
export function drawFigures(root, data) {
  for (const section of data.sections) {
    const home = root.querySelector(`.figures[data-section="${CSS.escape(section.id)}"]`);
    if (!(home instanceof HTMLElement)) continue;
    const old = new Map([...home.querySelectorAll("figure")].map((element) => [element.id, element]));
    for (const figure of section.figures) {
      const element = old.get(figure.id) ?? place(figure, home.dataset.level);
      old.delete(figure.id);
      const state = stateOf(element);
      state.figure = figure;
      find(element, ".small").textContent = figure.heading;
      home.append(element);
      fillChoices(element);
      if (!state.isWaiting) queue.push(element);
      state.isWaiting = true;
    }
    pair(home);
    findings.set(home, section.findings ?? []);
    sayFinding(home);
    for (const element of old.values()) {
      resized.unobserve(element);
      states.delete(element);
      element.remove();
    }
  }
  next();
}

/** Follows links to this page that contain selections. */
export function followLinks() {
  onChange(() => {
    for (const { element } of shownFigures()) {
      if (!(element instanceof HTMLElement)) continue;
      recall(element);
      fillChoices(element);
      draw(element);
    }
    for (const home of findings.keys()) sayFinding(home);
  });
}
