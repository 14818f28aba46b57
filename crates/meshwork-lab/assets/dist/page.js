"use strict";
(() => {
  // report/figures.js
  var SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "wye", "cross", "hexagon", "times", "plus"];
  var colourOf = (number2) => `var(--c${number2 % SYMBOLS.length})`;
  var symbolOf = (number2) => SYMBOLS[number2 % SYMBOLS.length];
  var PANEL = 290;
  var GAP = 24;
  var WIDEST = 680;
  var states = /* @__PURE__ */ new WeakMap();
  var queue = [];
  var names = 0;
  function make(tag2, attributes = {}, ...children) {
    const element = document.createElement(tag2);
    for (const [name2, value] of Object.entries(attributes)) element.setAttribute(name2, value);
    element.append(...children);
    return element;
  }
  function tick(number2) {
    const size = Math.abs(number2);
    if (size >= 1e6) return number2.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 4 });
    if (size > 0 && size < 1e-4) return number2.toExponential();
    return number2.toLocaleString("en", { maximumSignificantDigits: 6 });
  }
  function brief(number2) {
    const size = Math.abs(number2);
    if (size > 0 && (size < 1e-4 || size >= 1e15)) return number2.toExponential(3);
    return number2.toLocaleString("en", size >= 1e5 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 5 });
  }
  function logTicks(domain, most) {
    const powers = d3.range(Math.floor(Math.log10(domain[0])), Math.ceil(Math.log10(domain[1])) + 1);
    const of = (digits, step) => powers.filter((power) => power % step === 0).flatMap((power) => digits.map((digit) => power < 0 ? digit / 10 ** -power : digit * 10 ** power)).filter((number2) => number2 >= domain[0] && number2 <= domain[1]);
    const sets = [[[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], 1], [[1, 2, 3, 5, 7], 1], [[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 10]];
    return sets.map(([digits, step]) => of(digits, step)).find((ticks2) => ticks2.length <= most) ?? [];
  }
  function ticksOf(view, points, width2) {
    const values = d3.sort(new Set(points.map((point) => point.x)));
    const at = (value) => view.x.log ? Math.log(value) : value;
    const span = at(values.at(-1)) - at(values[0]);
    const least = d3.min(d3.pairs(values), ([a, b]) => at(b) - at(a));
    if (values.length < 2 || least / span * (width2 - 90) >= 34) return values;
    return view.x.log ? logTicks(d3.extent(values), width2 / 60) : Math.max(3, width2 / 80);
  }
  var isClear = (point) => point.half !== null && Math.abs(point.mean) > point.half;
  function pointsOf(view) {
    return view.series.flatMap((series) => series.x.map((x, i) => {
      const mean = series.mean[i], half = series.half[i];
      const along = view.x.names.length > 0 ? view.x.names[x] : x;
      return {
        x: along,
        mean,
        half,
        low: mean - (half ?? 0),
        high: mean + (half ?? 0),
        replications: series.replications[i],
        name: series.name,
        colour: series.colour,
        panel: series.panel
      };
    }));
  }
  function domainOf(view, points) {
    const least = d3.min(points, (point) => point.mean), most = d3.max(points, (point) => point.mean);
    let low = d3.min(points, (point) => point.low), high = d3.max(points, (point) => point.high);
    if (view.y.log) {
      const positive = d3.min(points.filter((point) => point.low > 0), (point) => point.low) ?? least;
      return [Math.max(Math.min(positive, least), least / 3) / 1.1, Math.min(high, most * 3) * 1.1];
    }
    const spread = Math.max(most, 0) - Math.min(least, 0) || Math.abs(most) || 1;
    low = Math.max(low, least - spread / 2, least >= 0 && !view.differences ? 0 : -Infinity);
    high = Math.min(high, most + spread / 2);
    if (view.differences || view.style !== "lines") return pad(Math.min(low, 0), Math.max(high, 0));
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
  var labelOf = (scale) => scale.unit ? `${scale.label} (${scale.unit})` : scale.label;
  function whiskers(view, points, domain) {
    const clamp = (value) => view.y.log ? Math.max(value, domain[0]) : value;
    return points.filter((point) => point.half > 0).map((point) => ({ ...point, low: clamp(point.low) }));
  }
  function axis(of, type, domain, label, ticks2) {
    const isLog = type === "log";
    const options = { label, ...isLog ? { text: tick } : { tickFormat: tick } };
    const mark = of === "x" ? Plot.axisX : Plot.axisY;
    return {
      scale: { type, ...domain ? { domain } : {}, axis: null, label },
      axis: Array.isArray(ticks2) ? mark(ticks2, options) : mark({ ...options, ticks: ticks2 }),
      grid: (of === "x" ? Plot.gridX : Plot.gridY)(...Array.isArray(ticks2) ? [ticks2] : [], {
        stroke: "var(--line)",
        strokeOpacity: 1,
        ...Array.isArray(ticks2) ? {} : { ticks: ticks2 }
      })
    };
  }
  var dotStyle = (view, point) => view.differences && !isClear(point) ? "var(--paper)" : colourOf(point.colour);
  function drawLines(view, points, domain, width2) {
    const bySeries = d3.group(points, (point) => point.colour);
    const along = view.x.names.length > 0 ? { scale: { type: "point", domain: view.x.names, label: view.x.label }, axis: null } : axis("x", view.x.log ? "log" : "linear", null, labelOf(view.x), ticksOf(view, points, width2));
    const measured = axis("y", view.y.log ? "log" : "linear", domain, labelOf(view.y), view.y.log ? logTicks(domain, 8) : 6);
    const marks = [measured.grid, measured.axis, along.axis];
    if (view.differences) marks.push(Plot.ruleY([0], { stroke: "currentColor" }));
    const beside = (colour2) => 2 * ([...bySeries.keys()].indexOf(colour2) - (bySeries.size - 1) / 2);
    for (const [colour2, own] of bySeries) {
      const stroke = colourOf(colour2);
      marks.push(
        Plot.ruleX(whiskers(view, own, domain), { x: "x", y1: "low", y2: "high", stroke, strokeOpacity: 0.55, strokeWidth: 1.5, clip: true, dx: beside(colour2) }),
        Plot.line(own, { x: "x", y: "mean", stroke, strokeWidth: 1.75 }),
        Plot.dot(own, { x: "x", y: "mean", symbol: symbolOf(colour2), stroke, fill: (point) => dotStyle(view, point), r: 3.2 })
      );
    }
    marks.push(Plot.tip(points, Plot.pointer({ x: "x", y: "mean", title: (point) => describe(view, point), fill: "var(--paper)" })));
    return {
      width: width2,
      height: Math.round(Math.min(360, Math.max(230, width2 * 0.6))),
      marginLeft: 58,
      marginBottom: 40,
      marginRight: 18,
      marginTop: 26,
      insetLeft: 8,
      insetRight: 8,
      x: along.scale,
      y: measured.scale,
      marks
    };
  }
  function drawRows(view, points, domain, width2) {
    const groups = view.x.names.filter((name2) => points.some((point) => point.x === name2));
    const colours = d3.sort(new Set(points.map((point) => point.colour)));
    const bar2 = colours.length > 4 ? 14 : 18, head = 24;
    const step = colours.length * bar2 + head;
    const rows2 = { y: "colour", fy: "x" };
    const ticks2 = view.y.log ? logTicks(domain, Math.max(3, width2 / 80)) : Math.max(3, width2 / 100);
    const measured = axis("x", view.y.log ? "log" : "linear", domain, labelOf(view.y), ticks2);
    const marks = [measured.grid, measured.axis];
    if (view.style === "bars") {
      marks.push(Plot.barX(points, { ...rows2, x: "mean", fill: (point) => colourOf(point.colour), insetTop: 1, insetBottom: 1 }));
    }
    const own = view.style === "bars" ? "currentColor" : (point) => colourOf(point.colour);
    marks.push(Plot.ruleY(whiskers(view, points, domain), { ...rows2, x1: "low", x2: "high", stroke: own, strokeWidth: 1.5, clip: true }));
    if (view.style === "dots") {
      for (const colour2 of colours) {
        const dots = points.filter((point) => point.colour === colour2);
        marks.push(Plot.dot(dots, { ...rows2, x: "mean", symbol: symbolOf(colour2), stroke: colourOf(colour2), fill: (point) => dotStyle(view, point), r: 4 }));
      }
    }
    if (!view.y.log) marks.push(Plot.ruleX([0], { stroke: "currentColor" }));
    marks.push(
      Plot.text(groups, { fy: (name2) => name2, text: (name2) => name2, frameAnchor: "top-left", lineAnchor: "bottom", dy: -5, textOverflow: "ellipsis-end", lineWidth: width2 / 13 }),
      Plot.tip(points, Plot.pointerY({ ...rows2, x: "mean", title: (point) => describe(view, point), fill: "var(--paper)" }))
    );
    return {
      width: width2,
      height: groups.length * step + 56,
      marginLeft: 8,
      marginRight: 26,
      marginTop: 4,
      marginBottom: 40,
      x: measured.scale,
      y: { type: "band", axis: null, domain: colours, padding: 0 },
      fy: { axis: null, domain: groups, paddingInner: head / step, paddingOuter: head / step },
      marks
    };
  }
  function drawPanel(view, points, domain, width2, name2) {
    const options = view.style === "lines" ? drawLines(view, points, domain, width2) : drawRows(view, points, domain, width2);
    const svg = Plot.plot({ ...options, style: { fontFamily: "inherit", fontSize: "12px", background: "none", overflow: "visible" } });
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", name2 ? `${name2}. ${view.sentence}` : view.sentence);
    return svg;
  }
  function legendOf(view) {
    const list3 = make("ul", { class: "legend", "aria-label": view.colour });
    list3.append(make("li", { class: "key" }, view.colour));
    const seen = new Map(view.series.map((series) => [series.colour, series.name]));
    for (const [colour2, name2] of d3.sort(seen, ([number2]) => number2)) {
      const sign = d3.create("svg").attr("viewBox", "-9 -9 18 18").attr("aria-hidden", "true");
      const shapes = { ...d3, symbolHexagon: Plot.symbolHexagon };
      const shape = { hexagon: d3.symbolCircle, plus: d3.symbolPlus, times: d3.symbolTimes }[symbolOf(colour2)] ?? shapes[`symbol${symbolOf(colour2)[0].toUpperCase()}${symbolOf(colour2).slice(1)}`];
      sign.append("path").attr("d", d3.symbol(shape, 90)()).attr("fill", colourOf(colour2)).attr("stroke", colourOf(colour2));
      list3.append(make("li", {}, sign.node(), name2));
    }
    return list3;
  }
  function viewOf(state2) {
    const at = state2.figure.choices.map((choice) => Math.max(0, choice.values.indexOf(state2.chosen.get(choice.key))));
    return state2.figure.views.find((view) => view.at.every((index, i) => index === at[i]));
  }
  function draw(element) {
    const state2 = states.get(element);
    state2.isWaiting = false;
    const view = viewOf(state2);
    const panels = element.querySelector(".panels"), legend2 = element.querySelector(".legends");
    const caption = element.querySelector("figcaption"), numbers = element.querySelector("details");
    panels.replaceChildren();
    legend2.replaceChildren();
    numbers.hidden = !view;
    if (!view) {
      caption.textContent = "Nothing was measured here, or the page would have grown too large: the files beside it have all numbers.";
      return;
    }
    caption.textContent = view.sentence;
    if (view.colour) legend2.append(legendOf(view));
    const all = pointsOf(view), domain = domainOf(view, all);
    const shown = d3.sort(new Set(all.map((point) => point.panel)));
    element.classList.toggle("wide", shown.length > 1);
    const width2 = element.clientWidth;
    state2.width = width2;
    const columns2 = Math.max(1, Math.min(shown.length, Math.floor((width2 + GAP) / (PANEL + GAP))));
    panels.style.gridTemplateColumns = `repeat(${columns2}, minmax(0, 1fr))`;
    const room = Math.floor((width2 - GAP * (columns2 - 1)) / columns2);
    for (const panel of shown) {
      const name2 = view.panel ? `${view.panel} = ${view.panels[panel]}` : "";
      const place2 = make("div", { class: "panel" });
      if (name2) place2.append(make("p", {}, name2));
      place2.append(drawPanel(view, all.filter((point) => point.panel === panel), domain, Math.min(room, WIDEST), name2));
      panels.append(place2);
    }
    if (numbers.open) fillNumbers(numbers, view);
  }
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
      for (const number2 of [point.mean, point.half, point.replications]) row.append(make("td", { class: "n" }, number2 === null ? "-" : String(number2)));
      body.append(row);
    }
    table.append(make("thead", {}, head), body);
    const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of the plot" }, table);
    details.replaceChildren(details.firstElementChild, scroll);
  }
  function place(figure2) {
    const element = make("figure", { id: figure2.id });
    element.append(
      make("h4", {}),
      make("div", { class: "choices" }),
      make("figcaption", { "aria-live": "polite" }),
      make("div", { class: "legends" }),
      make("div", { class: "panels" }),
      make("details", {}, make("summary", {}, "These numbers as a table"))
    );
    states.set(element, { chosen: /* @__PURE__ */ new Map(), width: 0, figure: figure2, isWaiting: false });
    element.querySelector("details").addEventListener("toggle", (event) => {
      const view = viewOf(states.get(element));
      if (event.target.open && view) fillNumbers(event.target, view);
    });
    resized.observe(element);
    return element;
  }
  function fillChoices(element) {
    const { figure: figure2, chosen } = states.get(element);
    const row = element.querySelector(".choices");
    const had = document.activeElement?.closest(".choices") === row ? (
      /** @type {HTMLElement} */
      document.activeElement.dataset.key
    ) : null;
    row.replaceChildren(...figure2.choices.map((choice) => {
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
  function next() {
    const element = queue.shift();
    if (element?.isConnected && states.get(element).isWaiting) draw(element);
    if (queue.length > 0) (window.requestIdleCallback ?? ((call) => setTimeout(call, 1)))(next, { timeout: 100 });
  }
  function drawRest() {
    for (const element of queue.splice(0)) if (element.isConnected && states.get(element).isWaiting) draw(element);
  }
  var resized = new ResizeObserver((entries) => requestAnimationFrame(() => {
    for (const { target } of entries) {
      const state2 = states.get(target);
      if (state2 && !state2.isWaiting && target.isConnected && target.clientWidth > 0 && Math.abs(target.clientWidth - state2.width) > 1) draw(target);
    }
  }));
  function drawFigures(root, data2) {
    for (const section of data2.sections) {
      const home = root.querySelector(`.figures[data-section="${CSS.escape(section.id)}"]`);
      if (!home) continue;
      const old = new Map([...home.querySelectorAll("figure")].map((element) => [element.id, element]));
      for (const figure2 of section.figures) {
        const element = old.get(figure2.id) ?? place(figure2);
        old.delete(figure2.id);
        const state2 = states.get(element);
        state2.figure = figure2;
        element.querySelector("h4").textContent = figure2.heading;
        home.append(element);
        fillChoices(element);
        if (!state2.isWaiting) queue.push(element);
        state2.isWaiting = true;
      }
      for (const element of old.values()) {
        resized.unobserve(element);
        element.remove();
      }
    }
    next();
  }
  var PAPER_ROWS = 60;
  var opened = [];
  addEventListener("beforeprint", () => {
    drawRest();
    const closed = [...document.querySelectorAll("details.numbers:not([open])")];
    opened = closed.filter((details) => details.querySelectorAll("tbody tr").length <= PAPER_ROWS);
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened.splice(0)) details.open = false;
  });

  // live/live.js
  var SECOND = 1e3;
  var state = document.getElementById("live-state");
  var bar = (
    /** @type {HTMLProgressElement} */
    document.getElementById("live-bar")
  );
  var figure = document.getElementById("live-machine");
  var tag = null;
  var told = "";
  var lastMachine = "";
  var misses = 0;
  var whole = (number2) => number2.toLocaleString("en");
  var brief2 = (number2) => number2.toLocaleString("en", { maximumSignificantDigits: 7 });
  var several = (number2, one, more) => `${whole(number2)} ${number2 === 1 ? one : more}`;
  function say(text) {
    if (text !== told) state.textContent = text;
    told = text;
  }
  function fill(fresh) {
    const page = new DOMParser().parseFromString(`<main>${fresh.results}</main>`, "text/html");
    for (const section of page.querySelectorAll("section.study")) {
      const home = document.getElementById(section.id);
      if (!home) continue;
      for (const part of [".sayings", ".notes", ".failures"]) {
        const own = home.querySelector(part), other = section.querySelector(part);
        if (own && other) own.replaceWith(other);
        else if (own) own.remove();
        else if (other && part === ".failures") home.querySelector(".asked").before(other);
        else if (other && part === ".notes") home.querySelector(".body").before(other);
      }
      for (const table of section.querySelectorAll("details.numbers table")) {
        const own = document.getElementById(table.id);
        if (own) own.replaceWith(table);
        else home.querySelector(".asked").before(table.closest("details"));
      }
    }
    drawFigures(document, fresh.data);
  }
  async function ask(path, headers = {}) {
    const response = await fetch(path, { headers, cache: "no-store" });
    if (response.status === 304) return null;
    if (!response.ok) throw new Error(response.statusText);
    if (path === "/report.json") tag = response.headers.get("ETag");
    return response.json();
  }
  function colour(job, isDark) {
    const hue = job * 137.508 % 360, light = (isDark ? 52 : 58) + job * 7 % 3 * 8;
    return `hsl(${hue} 55% ${light}%)`;
  }
  function draw2(canvas, site, isDark) {
    const height = site.cells.length / site.width;
    const size = Math.max(2, Math.min(18, Math.floor(560 / Math.max(site.width, height))));
    const ratio = window.devicePixelRatio || 1;
    canvas.width = site.width * size * ratio;
    canvas.height = height * size * ratio;
    canvas.style.width = `${site.width * size}px`;
    canvas.style.aspectRatio = `${site.width} / ${height}`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const gap = size > 5 ? 1 : 0;
    const free = getComputedStyle(canvas).getPropertyValue("--tint");
    site.cells.forEach((cell, place2) => {
      if (cell < 0) return;
      context.fillStyle = cell === 0 ? free : colour(cell, isDark);
      context.fillRect(place2 % site.width * size, Math.floor(place2 / site.width) * size, size - gap, size - gap);
    });
  }
  function showMachine(machine) {
    figure.hidden = !machine;
    if (!machine) return;
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const same = JSON.stringify(machine) + isDark;
    if (same === lastMachine) return;
    lastMachine = same;
    const where = machine.scenario ? `${machine.scenario}, replication ${machine.replication}` : `replication ${machine.replication}`;
    figure.querySelector("figcaption").textContent = `One of the runs: ${where}. At time ${brief2(machine.time)}, ${several(machine.running, "job runs", "jobs run")} and ${several(machine.waiting, "waits", "wait")}, ${whole(machine.finished)} have ended, and ${Math.round(100 * machine.utilization)} % of the processors are held. Each job has a colour.`;
    const sites = figure.querySelector(".sites");
    if (sites.children.length !== machine.sites.length) {
      sites.replaceChildren(...machine.sites.map(() => {
        const place2 = document.createElement("div");
        place2.append(document.createElement("p"), document.createElement("canvas"));
        return place2;
      }));
    }
    machine.sites.forEach((site, number2) => {
      const [name2, canvas] = sites.children[number2].children;
      name2.textContent = `${site.name}, ${whole(site.held)} of ${whole(site.nodes)} held`;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", name2.textContent);
      draw2(canvas, site, isDark);
    });
    const asks2 = machine.queue.map((job) => job.asks).join(", ");
    const more = machine.waiting > machine.queue.length ? ", …" : "";
    figure.querySelector(".queue").textContent = asks2 ? `First in the queue, by what they ask for: ${asks2}${more}` : "";
  }
  function showProgress(now) {
    const share = now.total > 0 ? now.done / now.total : 0;
    bar.value = share;
    bar.hidden = now.ended;
    document.body.classList.toggle("is-running", !now.ended);
    const failed = now.failed > 0 ? `, ${several(now.failed, "failed", "failed")}` : "";
    const which = now.studies > 1 && !now.ended ? `${now.study}: ` : "";
    say(now.ended ? `All ${several(now.done, "run has", "runs have")} ended${failed}. The numbers below are the last ones.` : `${which}${whole(now.done)} of ${several(now.total, "run has", "runs have")} ended${failed}.`);
  }
  async function look() {
    try {
      const now = await ask("/machine.json");
      misses = 0;
      showProgress(now);
      showMachine(now.machine);
      const fresh = await ask("/report.json", tag ? { "If-None-Match": tag } : {});
      if (fresh) fill(fresh);
      if (now.ended && tag === `"${now.version}"`) return;
    } catch (error) {
      misses += 1;
      if (misses > 3) {
        document.body.classList.remove("is-running");
        bar.hidden = true;
        say("The command has ended, or cannot be reached. This is the last that was heard of it.");
        return;
      }
    }
    setTimeout(look, SECOND);
  }

  // machine/run.js
  var [ARRIVED, REFUSED, TURNED_AWAY, STARTED, MOVED, FINISHED] = [0, 1, 2, 3, 4, 5];
  var ARRAYS = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array };
  var CHUNK = 256;
  var COLOURS = 8;
  var LOOKS = 3 * COLOURS;
  async function inflated(base64) {
    if (typeof DecompressionStream === "undefined") {
      throw new Error("This browser cannot unpack the recording: it is too old for that.");
    }
    const text = atob(base64);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  function column(bytes, from, kind, length) {
    const numbers = new ARRAYS[kind](length);
    const target = new Uint8Array(numbers.buffer);
    const width2 = numbers.BYTES_PER_ELEMENT;
    for (let byte = 0; byte < width2; byte += 1) {
      const plane = from + byte * length;
      for (let i = 0; i < length; i += 1) target[i * width2 + byte] = bytes[plane + i];
    }
    return numbers;
  }
  function upTo(sorted, value, length) {
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = low + high >> 1;
      if (sorted[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  function lastEnds(ends, length) {
    const last = new Float64Array(Math.ceil(length / CHUNK)).fill(-Infinity);
    for (let i = 0; i < length; i += 1) {
      const chunk = Math.floor(i / CHUNK);
      if (ends[i] > last[chunk]) last[chunk] = ends[i];
    }
    return last;
  }
  function lasting(ends, last, count, time, visit) {
    for (let i = 0; i < count; i += 1) {
      if (i % CHUNK === 0 && last[i / CHUNK] <= time) i += CHUNK - 1;
      else if (ends[i] > time && visit(i)) return;
    }
  }
  var Run = class {
    // The columns of the recording.
    /** @type {Float64Array} */
    at;
    /** @type {Float64Array} */
    number;
    /** @type {Uint32Array} */
    count;
    /** @type {Uint32Array} */
    job;
    /** @type {Uint32Array} */
    request;
    /** @type {Uint32Array} */
    site;
    /** @type {Uint32Array} */
    blocks;
    /** @type {Uint32Array} */
    base;
    /** @type {Uint32Array} */
    shape;
    /** @type {Uint8Array} */
    kind;
    // What `play` makes of them.
    /** @type {Float64Array} when a job joined the queue, */
    submit;
    /** @type {Float64Array} left it, */
    left;
    /** @type {Float64Array} began to run, */
    start;
    /** @type {Float64Array} and ended */
    finish;
    /** @type {Uint8Array} 1 refused, 2 turned away */
    unserved;
    /** @type {Uint8Array} its colour and pattern */
    look;
    /** @type {number} */
    stays;
    /** @type {Uint32Array} of each stay the job, */
    who;
    /** @type {Uint32Array} the site, */
    where;
    /** @type {Float64Array} the time, */
    from;
    /** @type {Float64Array} */
    to;
    /** @type {Uint32Array} and the first block */
    firstBlock;
    /** @type {Uint32Array} how many processors it is */
    heldBy;
    /** @type {Uint32Array} after each instant: processors held, */
    held;
    /** @type {Uint32Array} jobs that wait, */
    waits;
    /** @type {Uint32Array} that run, */
    runs;
    /** @type {Uint32Array} that were refused or turned away so far */
    notServed;
    /** @type {number} */
    mostWaiting;
    constructor(recording, columns2) {
      Object.assign(this, columns2);
      this.recording = recording;
      this.sites = recording.sites;
      this.asked = recording.asked;
      this.shapes = recording.shapes;
      this.jobs = this.number.length;
      this.processors = 0;
      for (const site of this.sites) {
        site.nodes = site.sides.reduce((product, side) => product * side, 1);
        site.strides = [];
        site.sides.reduce((stride, side) => (site.strides.push(stride), stride * side), 1);
        this.processors += site.nodes;
      }
      this.shapeNodes = this.shapes.map((sides) => sides.reduce((a, b) => a * b, 1));
      this.play();
      this.lastStays = lastEnds(this.to, this.stays);
      this.lastWaits = lastEnds(this.left, this.jobs);
    }
    // Goes through all that happened, once.
    play() {
      const most = this.blocks.length;
      Object.assign(this, {
        submit: new Float64Array(this.jobs),
        // when a job joined the queue,
        left: new Float64Array(this.jobs).fill(Infinity),
        // left it,
        start: new Float64Array(this.jobs).fill(Infinity),
        // began to run,
        finish: new Float64Array(this.jobs).fill(Infinity),
        // and ended
        unserved: new Uint8Array(this.jobs),
        // 1 refused, 2 turned away
        look: new Uint8Array(this.jobs),
        // its colour and pattern
        stays: 0,
        who: new Uint32Array(most),
        // of each stay the job,
        where: new Uint32Array(most),
        // the site,
        from: new Float64Array(most),
        // the time,
        to: new Float64Array(most).fill(Infinity),
        firstBlock: new Uint32Array(most + 1),
        // and the first block
        heldBy: new Uint32Array(most),
        // how many processors it is
        held: new Uint32Array(this.at.length),
        // after each instant: processors held,
        waits: new Uint32Array(this.at.length),
        // jobs that wait,
        runs: new Uint32Array(this.at.length),
        // that run,
        notServed: new Uint32Array(this.at.length),
        // that were refused or turned away so far
        mostWaiting: 0
      });
      const stay = new Int32Array(this.jobs).fill(-1);
      const users = new Uint32Array(LOOKS);
      let [event, starts, block, nextLook] = [0, 0, 0, 0];
      let [held, waits, runs, notServed] = [0, 0, 0, 0];
      const begin = (job, site, time) => {
        const s = this.stays;
        this.stays += 1;
        stay[job] = s;
        [this.who[s], this.where[s], this.from[s], this.firstBlock[s]] = [job, site, time, block];
        const end2 = block + this.blocks[s];
        for (; block < end2; block += 1) this.heldBy[s] += this.shapeNodes[this.shape[block]];
        this.firstBlock[s + 1] = block;
        held += this.heldBy[s];
      };
      const end = (job, time) => {
        this.to[stay[job]] = time;
        held -= this.heldBy[stay[job]];
      };
      for (let i = 0; i < this.at.length; i += 1) {
        const time = this.at[i];
        for (const last = event + this.count[i]; event < last; event += 1) {
          const job = this.job[event];
          switch (this.kind[event]) {
            case ARRIVED:
              this.submit[job] = time;
              waits += 1;
              break;
            case REFUSED:
            case TURNED_AWAY:
              if (this.kind[event] === REFUSED) this.submit[job] = time;
              else waits -= 1;
              this.unserved[job] = this.kind[event] === REFUSED ? 1 : 2;
              this.left[job] = time;
              notServed += 1;
              break;
            case STARTED: {
              this.start[job] = this.left[job] = time;
              let look2 = nextLook;
              for (let k = 0; k < LOOKS; k += 1) {
                const other = (nextLook + k) % LOOKS;
                if (users[other] < users[look2]) look2 = other;
              }
              users[look2] += 1;
              nextLook = (look2 + 1) % LOOKS;
              this.look[job] = look2;
              begin(job, this.site[starts], time);
              starts += 1;
              waits -= 1;
              runs += 1;
              break;
            }
            case MOVED: {
              const site = this.where[stay[job]];
              end(job, time);
              begin(job, site, time);
              break;
            }
            case FINISHED:
              this.finish[job] = time;
              end(job, time);
              users[this.look[job]] -= 1;
              runs -= 1;
              break;
          }
        }
        this.mostWaiting = Math.max(this.mostWaiting, waits);
        [this.held[i], this.waits[i]] = [held, waits];
        [this.runs[i], this.notServed[i]] = [runs, notServed];
      }
    }
    // Who holds what at a time, in order of starts, and the first who wait, in order of arrival.
    moment(time, mostWaiting) {
      const instant = upTo(this.at, time, this.at.length) - 1;
      const of = (counts) => instant < 0 ? 0 : counts[instant];
      const running = [];
      lasting(this.to, this.lastStays, upTo(this.from, time, this.stays), time, (s) => {
        running.push(s);
        return false;
      });
      const waiting = [];
      if (of(this.waits) > 0) {
        const count = upTo(this.submit, time, this.jobs);
        lasting(this.left, this.lastWaits, count, time, (job) => waiting.push(job) >= mostWaiting);
      }
      return {
        time,
        instant,
        running,
        waiting,
        held: of(this.held),
        waits: of(this.waits),
        runs: of(this.runs),
        notServed: of(this.notServed)
      };
    }
    // The stays of a job.
    staysOf(job) {
      const stays = [];
      const count = upTo(this.from, this.finish[job], this.stays);
      let s = upTo(this.from, this.start[job], this.stays);
      while (s > 0 && this.from[s - 1] === this.start[job]) s -= 1;
      for (; s < count; s += 1) {
        if (this.who[s] === job) stays.push(s);
      }
      return stays;
    }
    // Calls `visit` with first node and count of every row of consecutive nodes that a stay holds.
    rowsOf(s, visit) {
      const { sides, strides } = this.sites[this.where[s]];
      for (let block = this.firstBlock[s]; block < this.firstBlock[s + 1]; block += 1) {
        const corner = sides.map((side, d) => Math.floor(this.base[block] / strides[d]) % side);
        const shape = this.shapes[this.shape[block]];
        const width2 = Math.min(shape[0], sides[0] - corner[0]);
        const offset = shape.map(() => 0);
        for (let d = 0; d < shape.length; ) {
          let row = 0;
          for (d = 1; d < shape.length; d += 1) row += (corner[d] + offset[d]) % sides[d] * strides[d];
          visit(row + corner[0], width2);
          if (width2 < shape[0]) visit(row, shape[0] - width2);
          for (d = 1; d < shape.length; d += 1) {
            offset[d] += 1;
            if (offset[d] < shape[d]) break;
            offset[d] = 0;
          }
        }
      }
    }
    // What a stay holds, as per-job output writes it: `6,0:2x3`.
    placeOf(s) {
      const { sides, strides } = this.sites[this.where[s]];
      const texts = [];
      for (let block = this.firstBlock[s]; block < this.firstBlock[s + 1]; block += 1) {
        const corner = sides.map((side, d) => Math.floor(this.base[block] / strides[d]) % side);
        texts.push(`${corner.join(",")}:${this.shapes[this.shape[block]].join("x")}`);
      }
      return texts;
    }
    // Where to begin to look: in a part of the time, the first of the instants at which most jobs run.
    busiest(after, before) {
      const { from, until } = this.recording;
      const [first, last] = [after, before].map((share) => upTo(this.at, from + share * (until - from), this.at.length));
      let best = -1;
      for (let i = first; i < last; i += 1) if (best < 0 || this.runs[i] > this.runs[best]) best = i;
      return best < 0 ? from : Math.max(this.at[best], from);
    }
    // The instant before or behind a time, or the end that is next.
    neighbour(time, step) {
      const place2 = upTo(this.at, time, this.at.length);
      if (step > 0) return place2 < this.at.length ? this.at[place2] : this.recording.until;
      let before = place2 - 1;
      while (before >= 0 && this.at[before] >= time) before -= 1;
      return Math.max(before < 0 ? this.recording.from : this.at[before], this.recording.from);
    }
  };
  async function open(recording) {
    const bytes = await inflated(recording.data);
    const columns2 = {};
    let from = 0;
    for (const [name2, kind, length] of recording.columns) {
      columns2[name2] = column(bytes, from, kind, length);
      from += columns2[name2].byteLength;
    }
    return new Run(recording, columns2);
  }

  // machine/paint.js
  function theme(element) {
    const style = getComputedStyle(element);
    const get = (name2) => style.getPropertyValue(`--m-${name2}`).trim();
    const jobs2 = [];
    for (let i = 0; i < COLOURS; i += 1) jobs2.push(get(`job-${i}`));
    const names2 = ["free", "edge", "ink", "soft", "label", "ground", "held", "waits", "chosen"];
    return names2.reduce((all, name2) => Object.assign(all, { [name2]: get(name2) }), { jobs: jobs2, tiles: /* @__PURE__ */ new Map() });
  }
  function sized(canvas, width2, height) {
    const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
    const [across, down] = [width2, height].map((length) => Math.max(1, Math.round(length * ratio)));
    if (canvas.width !== across || canvas.height !== down) {
      [canvas.width, canvas.height] = [across, down];
      canvas.style.width = `${width2}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width2, height);
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    return context;
  }
  function tile(theme2, context, pattern) {
    if (!theme2.tiles.has(pattern)) {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = 8;
      const brush = canvas.getContext("2d");
      brush.strokeStyle = brush.fillStyle = theme2.label;
      brush.globalAlpha = 0.45;
      brush.beginPath();
      if (pattern === 1) {
        for (const x of [-8, 0, 8]) {
          brush.moveTo(x, 8);
          brush.lineTo(x + 8, 0);
        }
        brush.stroke();
      } else {
        for (const [x, y] of [[2, 2], [6, 6]]) brush.fillRect(x - 0.8, y - 0.8, 1.6, 1.6);
      }
      theme2.tiles.set(pattern, context.createPattern(canvas, "repeat"));
    }
    return theme2.tiles.get(pattern);
  }
  function fill2(context, theme2, look2, x, y, width2, height) {
    context.fillStyle = theme2.jobs[look2 % COLOURS];
    context.fillRect(x, y, width2, height);
    const pattern = Math.floor(look2 / COLOURS);
    if (pattern > 0 && width2 >= 4 && height >= 4) {
      context.fillStyle = tile(theme2, context, pattern);
      context.fillRect(x, y, width2, height);
    }
  }
  function ticks(from, until, about) {
    const span = until - from;
    if (!(span > 0)) return [from];
    const raw = span / Math.max(1, about);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
    const values = [];
    for (let k = Math.ceil(from / step - 1e-9); k * step <= until + step * 1e-9; k += 1) values.push(k * step);
    return values;
  }
  function number(value) {
    if (!Number.isFinite(value)) return "–";
    const rounded = Math.abs(value) >= 1e15 ? value : Math.round(value * 1e3) / 1e3;
    const [whole2, part] = String(rounded).split(".");
    if (whole2.includes("e")) return String(rounded);
    const grouped = whole2.length > 4 ? whole2.replace(/\B(?=(\d{3})+$)/g, ",") : whole2;
    return part ? `${grouped}.${part}` : grouped;
  }
  function short(value) {
    const decimals = Math.max(0, 6 - String(Math.trunc(Math.abs(value))).length);
    return number(decimals < 3 ? Number(value.toFixed(decimals)) : value);
  }

  // machine/plots.js
  var HEIGHTS = { held: 46, waits: 38, gap: 16, axis: 18 };
  var PAD = 9;
  function columns(run, counts, from, until, width2) {
    const mean = new Float64Array(width2);
    const least = new Float64Array(width2);
    const most = new Float64Array(width2);
    const span = (until - from) / width2;
    let place2 = upTo(run.at, from, run.at.length);
    let value = place2 > 0 ? counts[place2 - 1] : 0;
    for (let x = 0; x < width2; x += 1) {
      const end = x + 1 === width2 ? until : from + (x + 1) * span;
      let time = from + x * span;
      let area = 0;
      least[x] = most[x] = value;
      while (place2 < run.at.length && run.at[place2] <= end) {
        area += (run.at[place2] - time) * value;
        time = run.at[place2];
        value = counts[place2];
        least[x] = Math.min(least[x], value);
        most[x] = Math.max(most[x], value);
        place2 += 1;
      }
      area += (end - time) * value;
      mean[x] = span > 0 ? area / span : value;
    }
    return { mean, least, most };
  }
  function curve(context, theme2, colour2, data2, top, height, full, words) {
    const y = (value) => top + height - (full > 0 ? value / full * height : 0);
    const { mean, least, most } = data2;
    context.fillStyle = colour2;
    context.globalAlpha = 0.25;
    for (let x = 0; x < mean.length; x += 1) context.fillRect(PAD + x, y(mean[x]), 1, top + height - y(mean[x]));
    context.globalAlpha = 0.35;
    for (let x = 0; x < mean.length; x += 1) context.fillRect(PAD + x, y(most[x]), 1, y(least[x]) - y(most[x]));
    context.globalAlpha = 1;
    context.strokeStyle = colour2;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let x = 0; x < mean.length; x += 1) context.lineTo(PAD + x + 0.5, y(mean[x]));
    context.stroke();
    context.strokeStyle = theme2.soft;
    context.lineWidth = 1;
    context.globalAlpha = 0.4;
    context.strokeRect(PAD + 0.5, top + 0.5, mean.length - 1, height - 1);
    context.globalAlpha = 1;
    context.fillStyle = theme2.ink;
    context.textAlign = "left";
    context.fillText(words, PAD, top - 7);
  }
  function drawPlots(canvas, run, theme2, width2) {
    const { held, waits, gap, axis: axis2 } = HEIGHTS;
    const height = gap + held + gap + waits + axis2;
    const context = sized(canvas, width2, height);
    const { from, until } = run.recording;
    const inner = Math.max(1, Math.floor(width2 - 2 * PAD));
    const second = gap + held + gap;
    curve(
      context,
      theme2,
      theme2.held,
      columns(run, run.held, from, until, inner),
      gap,
      held,
      run.processors,
      `Processors held, of ${number(run.processors)}`
    );
    curve(
      context,
      theme2,
      theme2.waits,
      columns(run, run.waits, from, until, inner),
      second,
      waits,
      run.mostWaiting,
      `Jobs that wait, at most ${number(run.mostWaiting)}`
    );
    const x = (time) => PAD + (until > from ? (time - from) / (until - from) * inner : 0);
    drawAxis(context, theme2, from, until, x, second + waits, width2);
  }
  function drawAxis(context, theme2, from, until, x, y, width2) {
    context.fillStyle = context.strokeStyle = theme2.soft;
    context.textAlign = "center";
    context.beginPath();
    for (const time of ticks(from, until, width2 / 110)) {
      const at = Math.round(x(time)) + 0.5;
      context.moveTo(at, y);
      context.lineTo(at, y + 4);
      const text = number(time);
      const half = text.length * 3;
      context.fillText(text, Math.min(Math.max(at, half + 1), width2 - half - 1), y + 11);
    }
    context.lineWidth = 1;
    context.stroke();
  }

  // machine/gantt.js
  var AXIS = 18;
  var HEADING = 13;
  var GAP2 = 6;
  var Gantt = class {
    constructor(run) {
      this.run = run;
      this.bands = run.sites.map((site) => ({ site, ordered: site.sides.length === 1, lanes: 0 }));
      this.lane = new Uint32Array(run.stays);
      this.pack();
      this.view = { from: run.recording.from, until: run.recording.until };
      this.least = Math.max((this.view.until - this.view.from) / Math.max(50, run.jobs * 4), Number.MIN_VALUE);
    }
    // Lanes: a job keeps its own as long as it runs.
    pack() {
      const { run } = this;
      const free = run.sites.map(() => []);
      const laneOf = /* @__PURE__ */ new Map();
      const ends = [];
      const order = Array.from({ length: run.stays }, (_, s) => s).sort((a, b) => run.to[a] - run.to[b]);
      let next2 = 0;
      for (let s = 0; s < run.stays; s += 1) {
        for (; next2 < order.length && run.to[order[next2]] <= run.from[s]; next2 += 1) ends.push(order[next2]);
        for (const over of ends.splice(0)) {
          const job2 = run.who[over];
          if (run.finish[job2] === run.to[over] && laneOf.has(job2)) {
            push(free[run.where[over]], laneOf.get(job2));
            laneOf.delete(job2);
          }
        }
        const [job, band] = [run.who[s], this.bands[run.where[s]]];
        if (!laneOf.has(job)) {
          const lowest = free[run.where[s]].length > 0 ? pop(free[run.where[s]]) : band.lanes;
          band.lanes = Math.max(band.lanes, lowest + 1);
          laneOf.set(job, lowest);
        }
        this.lane[s] = laneOf.get(job);
      }
      for (const band of this.bands) band.lanes = band.ordered ? band.site.nodes : Math.max(1, band.lanes);
    }
    // Zooms by a factor around a time, or moves by a share of what is seen.
    zoom(factor, around) {
      const { from, until } = this.view;
      const span = Math.max((until - from) * factor, this.least);
      this.show(around - (around - from) / (until - from || 1) * span, span);
    }
    pan(time) {
      this.show(this.view.from + time, this.view.until - this.view.from);
    }
    show(from, span) {
      const { recording } = this.run;
      const whole2 = recording.until - recording.from;
      const wide = Math.min(span, whole2);
      const begin = Math.min(Math.max(from, recording.from), recording.until - wide);
      this.view = { from: begin, until: begin + wide };
    }
    // Moves on so that a time is seen.
    follow(time) {
      const { from, until } = this.view;
      if (time >= from && time <= until) return false;
      this.show(time - (until - from) * 0.2, until - from);
      return true;
    }
    x(time, width2 = this.width) {
      const { from, until } = this.view;
      return PAD + (until > from ? (time - from) / (until - from) * (width2 - 2 * PAD) : 0);
    }
    time(x) {
      const { from, until } = this.view;
      return from + (x - PAD) / Math.max(1, this.width - 2 * PAD) * (until - from);
    }
    // Where the bands of the sites lie, in so much height.
    place(height) {
      const heading = this.bands.length > 1 ? HEADING : 0;
      const room = height - AXIS - this.bands.length * (heading + GAP2);
      const all = this.bands.reduce((sum, band) => sum + Math.sqrt(band.lanes), 0);
      let y = 0;
      for (const band of this.bands) {
        band.top = y + heading;
        const most = band.ordered ? Infinity : band.lanes * 22;
        band.height = Math.min(Math.max(12, room * Math.sqrt(band.lanes) / all), most);
        y = band.top + band.height + GAP2;
      }
      return y - GAP2 + AXIS;
    }
    draw(canvas, theme2, width2, height, chosen) {
      this.width = width2;
      const used = this.place(height);
      const context = sized(canvas, width2, used);
      this.rects = [];
      context.save();
      context.beginPath();
      context.rect(PAD, 0, width2 - 2 * PAD, used);
      context.clip();
      this.bands.forEach((band) => {
        context.fillStyle = theme2.free;
        context.fillRect(PAD, band.top, width2 - 2 * PAD, band.height);
      });
      if (chosen >= 0) this.drawWait(context, theme2, chosen);
      this.drawBars(context, theme2, chosen);
      context.restore();
      context.fillStyle = theme2.ink;
      context.textAlign = "left";
      if (this.bands.length > 1) {
        this.bands.forEach((band, i) => context.fillText(`site ${i + 1}: ${band.site.words}`, PAD, band.top - 6));
      }
      drawAxis(context, theme2, this.view.from, this.view.until, (time) => this.x(time), used - AXIS, width2);
    }
    drawBars(context, theme2, chosen) {
      const { run, view } = this;
      const count = upTo(run.from, view.until, run.stays);
      const names2 = [];
      const edged = [];
      lasting(run.to, run.lastStays, count, view.from, (s) => {
        const job = run.who[s];
        const left = Math.max(this.x(run.from[s]), 0);
        const right = Math.min(this.x(Math.min(run.to[s], run.recording.until)), this.width);
        const wide = Math.max(right - left, 0.6);
        context.globalAlpha = chosen >= 0 && job !== chosen ? 0.35 : 1;
        this.pieces(s, (top, height) => {
          fill2(context, theme2, run.look[job], left, top, wide, height);
          if (wide >= 4 && height >= 4) edged.push([left, top, wide, height, s]);
          this.rects.push([left, top, wide, height, job]);
          const text = String(run.number[job]);
          if (height >= 11 && wide > text.length * 6 + 6) names2.push([text, left, top, wide, height, job]);
        });
        return false;
      });
      context.lineWidth = 1;
      for (const [x, y, width2, height, s] of edged) {
        const job = run.who[s];
        const isChosen = job === chosen;
        context.strokeStyle = isChosen ? theme2.chosen : theme2.edge;
        context.globalAlpha = isChosen ? 1 : 0.55;
        context.lineWidth = isChosen ? 2 : 1;
        context.beginPath();
        const sides = [run.from[s] === run.start[job] && x + 0.5, run.to[s] === run.finish[job] && x + width2 - 0.5];
        for (const side of sides) {
          if (side === false) continue;
          context.moveTo(side, y);
          context.lineTo(side, y + height);
        }
        for (const side of [y + 0.5, y + height - 0.5]) {
          context.moveTo(x, side);
          context.lineTo(x + width2, side);
        }
        context.stroke();
      }
      context.fillStyle = theme2.label;
      context.textAlign = "center";
      for (const [text, x, y, width2, height, job] of names2) {
        context.globalAlpha = chosen >= 0 && job !== chosen ? 0.5 : 1;
        context.fillText(text, x + width2 / 2, y + height / 2 + 0.5);
      }
      context.globalAlpha = 1;
    }
    // From its arrival until its start a chosen job is a line, where its bar begins.
    drawWait(context, theme2, job) {
      const { run } = this;
      const end = Math.min(run.left[job], run.recording.until);
      if (end <= run.submit[job]) return;
      const stays = run.staysOf(job);
      let y = 2;
      if (stays.length > 0) this.pieces(stays[0], (top, height) => {
        y = top + height / 2;
      });
      context.strokeStyle = theme2.chosen;
      context.lineWidth = 2;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(this.x(run.submit[job]), y);
      context.lineTo(this.x(end), y);
      context.stroke();
      context.setLineDash([]);
    }
    // Calls `visit` with top and height of every piece of a stay.
    pieces(s, visit) {
      const band = this.bands[this.run.where[s]];
      const lane = band.height / band.lanes;
      if (!band.ordered) {
        visit(band.top + this.lane[s] * lane, lane > 3 ? lane - 1 : lane);
        return;
      }
      this.run.rowsOf(s, (first, count) => visit(band.top + first * lane, Math.max(count * lane, 0.6)));
    }
    // The job of the bar at a point, or -1.
    at(x, y) {
      for (let i = this.rects.length - 1; i >= 0; i -= 1) {
        const [left, top, width2, height, job] = this.rects[i];
        if (x >= left - 1 && x <= left + width2 + 1 && y >= top && y <= top + height) return job;
      }
      return -1;
    }
  };
  function push(heap, number2) {
    let at = heap.push(number2) - 1;
    while (at > 0 && heap[at - 1 >> 1] > number2) {
      heap[at] = heap[at - 1 >> 1];
      at = at - 1 >> 1;
    }
    heap[at] = number2;
  }
  function pop(heap) {
    const lowest = heap[0];
    const last = heap.pop();
    if (heap.length === 0) return lowest;
    let at = 0;
    for (; ; ) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1] < heap[child]) child += 1;
      if (heap[child] >= last) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return lowest;
  }

  // machine/layout.js
  var GAP3 = 14;
  var TITLE = 15;
  var LETTER = 6.2;
  var gray = (place2) => place2 ^ place2 >> 1;
  var width = (text) => Math.ceil(String(text).length * LETTER);
  function rows(site, cell, room) {
    const label = cell >= 8 ? width(site.nodes - 1) + 6 : 0;
    const square = Math.max(16, 2 ** Math.ceil(Math.log2(Math.sqrt(2 * site.nodes))));
    const across = Math.max(1, Math.min(square, site.nodes, Math.floor((room - label) / cell)));
    const down = Math.ceil(site.nodes / across);
    const labels = [];
    for (let y = 0; label > 0 && y < down; y += 1) {
      labels.push({ x: label - 6, y: (y + 0.5) * cell, text: y * across, align: "right" });
    }
    const node = (x, y) => y * across + x < site.nodes ? y * across + x : -1;
    return { labels, panes: [{ x: label, y: 0, columns: across, rows: down, node }] };
  }
  function karnaugh(site, cell) {
    const across = Math.ceil(site.sides.length / 2);
    const down = site.sides.length - across;
    const [columns2, lines] = [2 ** across, 2 ** down];
    const bits = cell >= 9;
    const x = bits && down > 0 ? width("".padStart(down)) + 6 : 0;
    const y = bits ? across * 10 + 4 : 0;
    const labels = [];
    for (let column2 = 0; bits && column2 < columns2; column2 += 1) {
      const text = gray(column2).toString(2).padStart(across, "0");
      [...text].forEach((bit, i) => labels.push({ x: x + (column2 + 0.5) * cell, y: i * 10 + 5, text: bit, align: "center" }));
    }
    for (let row = 0; x > 0 && row < lines; row += 1) {
      const text = gray(row).toString(2).padStart(down, "0");
      labels.push({ x: x - 6, y: y + (row + 0.5) * cell, text, align: "right" });
    }
    const node = (column2, row) => gray(row) * columns2 + gray(column2);
    return { labels, panes: [{ x, y, columns: columns2, rows: lines, node }] };
  }
  function layers(site, cell, room) {
    const [columns2, lines] = [site.sides[0], site.sides[1]];
    const size = columns2 * lines;
    const count = site.nodes / size;
    const title = (layer) => {
      const further = site.sides.slice(2).map((side, d) => Math.floor(layer * size / site.strides[d + 2]) % side);
      return further.length === 1 ? `z=${further[0]}` : further.join(",");
    };
    const pane = Math.max(columns2 * cell, count > 1 ? width(title(count - 1)) : 0);
    let across = Math.max(1, Math.min(count, Math.floor((room + GAP3) / (pane + GAP3))));
    if (site.sides.length > 3 && across > site.sides[2]) across -= across % site.sides[2];
    const heading = count > 1 ? TITLE : 0;
    const labels = [];
    const panes = [];
    for (let layer = 0; layer < count; layer += 1) {
      const x = layer % across * (pane + GAP3);
      const y = Math.floor(layer / across) * (heading + lines * cell + GAP3 / 2);
      if (heading > 0) labels.push({ x, y: y + heading / 2, text: title(layer), align: "left" });
      const node = (column2, row) => layer * size + row * columns2 + column2;
      panes.push({ x, y: y + heading, columns: columns2, rows: lines, node });
    }
    return { labels, panes };
  }
  function layout(site, cell, room) {
    let drawn;
    if (site.wiring === "hypercube") drawn = karnaugh(site, cell);
    else if (site.sides.length === 1) drawn = rows(site, cell, room);
    else drawn = layers(site, cell, room);
    const far = (end) => Math.max(1, Math.ceil(Math.max(...drawn.panes.map(end))));
    drawn.width = far((pane) => pane.x + pane.columns * cell);
    drawn.height = far((pane) => pane.y + pane.rows * cell);
    for (const label of drawn.labels) {
      if (label.align === "left") drawn.width = Math.max(drawn.width, label.x + width(label.text));
    }
    return Object.assign(drawn, { cell });
  }
  function layouts(sites, room, height, caption) {
    let cells = [];
    for (let cell = 30; cell >= 1; cell -= cell > 12 ? 2 : 1) cells.push(cell);
    cells = cells.concat([0.5, 0.25, 0.125, 0.0625]);
    for (const cell of cells) {
      const all = sites.map((site) => layout(site, cell, room));
      let [x, y, line] = [0, 0, 0];
      for (const one of all) {
        const taken = Math.max(one.width, 150);
        if (x > 0 && x + taken > room) {
          y += line;
          [x, line] = [0, 0];
        }
        x += taken + 24;
        line = Math.max(line, one.height + caption);
      }
      const fits = all.every((one) => one.width <= room) && (y + line <= height || cell <= 0.0625);
      if (fits) return all;
    }
    return sites.map((site) => layout(site, cells[cells.length - 1], room));
  }

  // machine/map.js
  var SiteMap = class {
    /** @type {import("./run.js").Run} */
    run;
    /** @type {number} */
    site;
    /** @type {HTMLCanvasElement} */
    canvas;
    constructor(run, site, canvas) {
      Object.assign(this, { run, site, canvas });
      this.holder = new Int32Array(run.sites[site].nodes);
    }
    // Who holds each processor: the number of the stay, or -1.
    hold(moment) {
      this.holder.fill(-1);
      for (const s of moment.running) {
        if (this.run.where[s] === this.site) {
          this.run.rowsOf(s, (first, count) => this.holder.fill(s, first, first + count));
        }
      }
    }
    draw(layout2, moment, chosen, theme2) {
      this.layout = layout2;
      this.hold(moment);
      const context = sized(this.canvas, layout2.width, layout2.height);
      for (const pane of layout2.panes) {
        if (layout2.cell >= 1) this.drawPane(context, pane, chosen, theme2);
        else this.drawDots(context, pane, chosen, theme2);
      }
      context.fillStyle = theme2.soft;
      for (const label of layout2.labels) {
        context.textAlign = label.align;
        context.fillText(label.text, label.x, label.y);
      }
    }
    drawPane(context, pane, chosen, theme2) {
      const { cell } = this.layout;
      context.fillStyle = theme2.free;
      const whole2 = this.rectangles(pane);
      const line = cell >= 12 ? 2 : cell >= 5 ? 1 : 0;
      for (const { s, x, y, columns: columns2, rows: rows2 } of whole2) {
        const [left, top] = [pane.x + x * cell, pane.y + y * cell];
        if (s >= 0) fill2(context, theme2, this.run.look[this.run.who[s]], left, top, columns2 * cell, rows2 * cell);
        else {
          context.fillStyle = theme2.free;
          context.fillRect(left, top, columns2 * cell, rows2 * cell);
        }
      }
      if (cell >= 5) this.drawGrid(context, pane, theme2);
      this.drawEdges(context, pane, theme2, line);
      if (chosen >= 0) this.drawChosen(context, pane, chosen, theme2);
      this.drawNames(context, pane, whole2, theme2);
    }
    holderAt(pane, x, y) {
      if (x < 0 || y < 0 || x >= pane.columns || y >= pane.rows) return -2;
      const node = pane.node(x, y);
      return node < 0 ? -2 : this.holder[node];
    }
    // The pane as rectangles of one holder each: what is in one row, together with equal rows above it.
    rectangles(pane) {
      const done = [];
      let open2 = [];
      for (let y = 0; y < pane.rows; y += 1) {
        const row = [];
        for (let x = 0; x < pane.columns; ) {
          const s = this.holderAt(pane, x, y);
          const from = x;
          do
            x += 1;
          while (x < pane.columns && this.holderAt(pane, x, y) === s);
          if (s > -2) row.push({ s, x: from, y, columns: x - from, rows: 1 });
        }
        let above = 0;
        for (let i = 0; i < row.length; i += 1) {
          while (above < open2.length && open2[above].x < row[i].x) above += 1;
          const same = open2[above];
          if (same && same.x === row[i].x && same.columns === row[i].columns && same.s === row[i].s) {
            same.rows += 1;
            same.taken = y;
            row[i] = same;
          }
        }
        for (const one of open2) if (one.taken !== y) done.push(one);
        open2 = row;
      }
      return done.concat(open2);
    }
    drawGrid(context, pane, theme2) {
      const { cell } = this.layout;
      context.strokeStyle = theme2.edge;
      context.lineWidth = 1;
      context.globalAlpha = 0.22;
      context.beginPath();
      for (let x = 1; x < pane.columns; x += 1) {
        context.moveTo(pane.x + x * cell, pane.y);
        context.lineTo(pane.x + x * cell, pane.y + pane.rows * cell);
      }
      for (let y = 1; y < pane.rows; y += 1) {
        context.moveTo(pane.x, pane.y + y * cell);
        context.lineTo(pane.x + pane.columns * cell, pane.y + y * cell);
      }
      context.stroke();
      context.globalAlpha = 1;
    }
    // Calls `visit` with the ends of every edge between two cells of which `differ` says so.
    edges(pane, differ, visit) {
      const { cell } = this.layout;
      for (let y = 0; y <= pane.rows; y += 1) {
        for (let x = 0; x <= pane.columns; x += 1) {
          const here = this.holderAt(pane, x, y);
          const [left, top] = [pane.x + x * cell, pane.y + y * cell];
          if (differ(here, this.holderAt(pane, x - 1, y))) visit(left, top, left, top + cell);
          if (differ(here, this.holderAt(pane, x, y - 1))) visit(left, top, left + cell, top);
        }
      }
    }
    drawEdges(context, pane, theme2, width2) {
      if (width2 === 0) return;
      context.strokeStyle = theme2.edge;
      context.lineWidth = width2;
      context.lineCap = "square";
      context.beginPath();
      const differ = (a, b) => a !== b && (a >= 0 || b >= 0);
      this.edges(pane, differ, (...ends) => {
        context.moveTo(ends[0], ends[1]);
        context.lineTo(ends[2], ends[3]);
      });
      context.stroke();
      const { cell } = this.layout;
      const isTorus = this.run.sites[this.site].wiring === "torus";
      context.lineWidth = 1;
      context.setLineDash(isTorus ? [3, 3] : []);
      context.strokeRect(pane.x + 0.5, pane.y + 0.5, pane.columns * cell - 1, pane.rows * cell - 1);
      context.setLineDash([]);
    }
    drawChosen(context, pane, chosen, theme2) {
      const { cell } = this.layout;
      const is = (s) => s >= 0 && this.run.who[s] === chosen;
      context.fillStyle = theme2.ground;
      context.globalAlpha = 0.5;
      for (const { s, x, y, columns: columns2, rows: rows2 } of this.rectangles(pane)) {
        if (!is(s)) context.fillRect(pane.x + x * cell, pane.y + y * cell, columns2 * cell, rows2 * cell);
      }
      context.globalAlpha = 1;
      context.strokeStyle = theme2.chosen;
      context.lineWidth = Math.max(2, Math.min(3, cell / 5));
      context.beginPath();
      this.edges(pane, (a, b) => is(a) !== is(b), (...ends) => {
        context.moveTo(ends[0], ends[1]);
        context.lineTo(ends[2], ends[3]);
      });
      context.stroke();
    }
    // The number of every job that has room for it, once.
    drawNames(context, pane, whole2, theme2) {
      const { cell } = this.layout;
      const largest2 = /* @__PURE__ */ new Map();
      for (const one of whole2) {
        const known = largest2.get(one.s);
        if (one.s >= 0 && (!known || known.columns * known.rows < one.columns * one.rows)) largest2.set(one.s, one);
      }
      context.fillStyle = theme2.label;
      context.textAlign = "center";
      for (const { s, x, y, columns: columns2, rows: rows2 } of largest2.values()) {
        const text = String(this.run.number[this.run.who[s]]);
        const [width2, height] = [columns2 * cell, rows2 * cell];
        if (text.length * 6 + 4 > width2 || height < 11) continue;
        context.fillText(text, pane.x + x * cell + width2 / 2, pane.y + y * cell + height / 2 + 0.5);
      }
    }
    // More processors than dots: each dot shows one of those that it stands for.
    drawDots(context, pane, chosen, theme2) {
      const { cell } = this.layout;
      const [width2, height] = [Math.ceil(pane.columns * cell), Math.ceil(pane.rows * cell)];
      for (let y = 0; y < height; y += 1) {
        const row = Math.min(pane.rows - 1, Math.floor(y / cell));
        for (let x = 0; x < width2; ) {
          const at = (dot) => this.holderAt(pane, Math.min(pane.columns - 1, Math.floor(dot / cell)), row);
          const s = at(x);
          const from = x;
          do
            x += 1;
          while (x < width2 && at(x) === s);
          if (s === -2) continue;
          context.fillStyle = s < 0 ? theme2.free : theme2.jobs[this.run.look[this.run.who[s]] % COLOURS];
          context.globalAlpha = chosen >= 0 && (s < 0 || this.run.who[s] !== chosen) ? 0.4 : 1;
          context.fillRect(pane.x + from, pane.y + y, x - from, 1);
        }
      }
      context.globalAlpha = 1;
    }
    // The job at a point of the canvas, or -1; and the node, or -1.
    at(px, py) {
      const { cell, panes } = this.layout;
      for (const pane of panes) {
        const [x, y] = [Math.floor((px - pane.x) / cell), Math.floor((py - pane.y) / cell)];
        const s = this.holderAt(pane, x, y);
        if (s > -2) return { node: pane.node(x, y), job: s < 0 ? -1 : this.run.who[s] };
      }
      return { node: -1, job: -1 };
    }
  };

  // machine/words.js
  var jobs = (count) => count === 1 ? "1 job" : `${number(count)} jobs`;
  var verb = (count, one, more) => count === 1 ? one : more;
  var name = (run, job) => `job ${run.number[job]}`;
  var list = (texts) => texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts[texts.length - 1]}`;
  function summary(run, moment) {
    const share = Math.round(100 * moment.held / run.processors);
    const sentences = [
      `Time ${number(moment.time)}: ${number(moment.held)} of ${number(run.processors)} processors are held (${share} %), ${number(run.processors - moment.held)} are free; ${jobs(moment.runs)} ${verb(moment.runs, "runs", "run")}, ${number(moment.waits)} ${verb(moment.waits, "waits", "wait")}.`
    ];
    if (run.sites.length > 1) {
      const held = run.sites.map(() => 0);
      for (const s of moment.running) held[run.where[s]] += run.heldBy[s];
      sentences.push(`Held: ${run.sites.map((site, i) => `${held[i]} of ${site.nodes} on site ${i + 1}`).join(", ")}.`);
    }
    const holders = largest(run, moment, 3).map((s) => `${name(run, run.who[s])} with ${number(run.heldBy[s])}`);
    if (holders.length > 0) sentences.push(`The largest: ${list(holders)}.`);
    if (moment.waiting.length > 0) {
      const first = moment.waiting[0];
      sentences.push(`First in the queue: ${name(run, first)}, which asks for ${asks(run, first)}.`);
    }
    if (moment.notServed > 0) {
      sentences.push(`${jobs(moment.notServed)} could not be served so far.`);
    }
    return sentences.join(" ");
  }
  function largest(run, moment, most) {
    const bySize = (a, b) => run.heldBy[b] - run.heldBy[a] || a - b;
    return [...moment.running].sort(bySize).slice(0, most);
  }
  function asks(run, job) {
    const { text, nodes } = run.asked[run.request[job]];
    const count = `${number(nodes)} ${verb(nodes, "processor", "processors")}`;
    return text === String(nodes) ? count : `${text} (${count})`;
  }
  function facts(run, job) {
    const { until } = run.recording;
    const known = (time) => time <= until;
    const texts = [`Job ${run.number[job]} asks for ${asks(run, job)} and arrives at ${number(run.submit[job])}.`];
    if (run.unserved[job] === 1) texts.push("It would not fit even the empty machine, and is refused.");
    else if (run.unserved[job] === 2) texts.push(`It is turned away at ${number(run.left[job])}.`);
    else if (!known(run.start[job])) texts.push("It does not start in the time that is shown.");
    else {
      const stays = run.staysOf(job);
      const [first, last] = [stays[0], stays[stays.length - 1]];
      const site = run.sites.length > 1 ? ` on site ${run.where[first] + 1}` : "";
      const places = run.placeOf(first);
      const more = places.length > 4 ? ` and ${places.length - 4} more pieces` : "";
      texts.push(
        `It waits ${number(run.start[job] - run.submit[job])} and starts at ${number(run.start[job])}${site} with ${number(run.heldBy[first])} ${verb(run.heldBy[first], "processor", "processors")}: ${places.slice(0, 4).join("; ")}${more}.`
      );
      if (stays.length > 1) {
        const times = stays.length === 2 ? "once" : `${stays.length - 1} times`;
        texts.push(`It is moved or resized ${times}, and then holds ${number(run.heldBy[last])}.`);
      }
      texts.push(
        known(run.finish[job]) ? `It ends at ${number(run.finish[job])}, after ${number(run.finish[job] - run.start[job])}.` : "It still runs at the end of what is shown."
      );
    }
    return texts.join(" ");
  }
  function siteName(run, site) {
    const { words, speed } = run.sites[site];
    const which = run.sites.length > 1 ? `Site ${site + 1}: ` : "";
    return `${which}${words}${speed === 1 ? "" : `, speed ${number(speed)}`}`;
  }
  function lanes(run) {
    const ordered = run.sites.filter((site) => site.sides.length === 1).length;
    if (ordered === run.sites.length) return " on the processors that it holds";
    if (ordered === 0) return " on a lane of its own";
    return ", on sites of one dimension on the processors that it holds, elsewhere on a lane of its own";
  }
  function legend(site) {
    if (site.wiring === "hypercube") {
      return "The hypercube is drawn as a Karnaugh map: processors side by side differ in one bit, so a subcube is made of few rectangles.";
    }
    const joined = site.wiring === "torus" ? " Dashed edges are joined to the opposite ones." : "";
    if (site.sides.length === 1) return "Processors are numbered along the rows.";
    if (site.sides.length === 2) return `Processor 0,0 is at the top left.${joined}`;
    return `Each layer is a plane of the first two dimensions, with the further coordinates above it.${joined}`;
  }

  // machine/player.js
  var STEPS = 1e5;
  var LISTED = 20;
  var CAPTION = 44;
  var BESIDE = 400;
  var PATIENCE = 120;
  var PACES = [1, 4, 20, 100, 500];
  var make2 = (tag2, attributes, ...children) => {
    const element = document.createElement(tag2);
    for (const [name2, value] of Object.entries(attributes || {})) {
      if (name2.startsWith("on")) element.addEventListener(name2.slice(2), value);
      else if (value !== false && value !== void 0) element.setAttribute(name2, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };
  var icon = (path) => {
    const [svg, shape] = ["svg", "path"].map((tag2) => document.createElementNS("http://www.w3.org/2000/svg", tag2));
    svg.setAttribute("viewBox", "0 0 14 14");
    svg.setAttribute("class", "m-icon");
    svg.setAttribute("aria-hidden", "true");
    shape.setAttribute("d", path);
    svg.append(shape);
    return svg;
  };
  var write = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };
  function drawMachine(element, recordings) {
    const player = new Player(element, [].concat(recordings));
    element.machine = player;
    return player;
  }
  var Player = class {
    /** @type {HTMLElement} */
    root;
    /** @type {any[]} */
    recordings;
    /** @type {HTMLButtonElement} */
    first;
    /** @type {HTMLButtonElement} */
    back;
    /** @type {HTMLButtonElement} */
    playing;
    /** @type {HTMLButtonElement} */
    on;
    /** @type {HTMLButtonElement} */
    last;
    /** @type {HTMLButtonElement} */
    closer;
    /** @type {HTMLButtonElement} */
    wider;
    /** @type {HTMLButtonElement} */
    whole;
    constructor(root, recordings) {
      Object.assign(this, { root, recordings, chosen: -1, isPlaying: false, time: NaN, listed: 0 });
      root.classList.add("machine");
      root.replaceChildren();
      this.build();
      this.watch();
      this.ready = this.choose(0);
    }
    build() {
      const button = (name2, label, title2, act) => this[name2] = make2("button", { type: "button", title: title2, "aria-label": title2, onclick: act }, label);
      const title = (recording) => {
        const replication = recording.replication > 1 ? `, replication ${recording.replication}` : "";
        return `${recording.scenario}. ${recording.title || "the only scenario"}${replication}`;
      };
      this.runs = make2(
        "select",
        { onchange: () => this.choose(this.runs.selectedIndex) },
        ...this.recordings.map((recording) => make2("option", {}, title(recording)))
      );
      const chooser = make2("label", { class: "m-runs" }, "Run ", this.runs);
      chooser.hidden = this.recordings.length < 2;
      this.notes = make2("p", { class: "m-notes" });
      this.sites = make2("div", { class: "m-sites" });
      this.legend = make2("p", { class: "m-legend" });
      this.now = make2("p", { class: "m-now" });
      this.said = make2("p", { class: "m-unseen", role: "status", "aria-live": "polite" });
      button("first", icon("M2 2h2v10H2zM12 2v10L5 7z"), "To the beginning", () => this.seek(this.run.recording.from));
      button("back", icon("M11 2v10L3 7z"), "To the event before (left arrow)", () => this.step(-1));
      button("playing", "", "", () => this.toggle());
      button("on", icon("M3 2l8 5-8 5z"), "To the next event (right arrow)", () => this.step(1));
      button("last", icon("M2 2l7 5-7 5zM10 2h2v10h-2z"), "To the end", () => this.seek(this.run.recording.until));
      this.playing.className = "m-play";
      this.pace = make2(
        "select",
        { "aria-label": "How fast it plays" },
        ...PACES.map((pace) => make2("option", { value: pace }, `${pace} ${pace === 1 ? "event" : "events"} a second`))
      );
      this.slider = make2("input", {
        type: "range",
        min: 0,
        max: STEPS,
        step: 1,
        "aria-label": "Time of the run",
        oninput: () => this.soon(this.timeOf(Number(this.slider.value) / STEPS))
      });
      const controls = make2(
        "div",
        { class: "m-controls", role: "group", "aria-label": "Play the run" },
        this.first,
        this.back,
        this.playing,
        this.on,
        this.last,
        this.pace
      );
      this.plots = make2("canvas", { role: "img" });
      this.plotsLine = make2("div", { class: "m-line" });
      this.seen = make2("div", { class: "m-seen" });
      const plots = this.plotsBox = make2("div", { class: "m-plots" }, this.plots, this.seen, this.plotsLine);
      this.chart = make2("canvas", { tabindex: 0, role: "img" });
      this.chartLine = make2("div", { class: "m-line" });
      this.chartBox = make2("div", { class: "m-chart" }, this.chart, this.chartLine);
      button("closer", "+", "Look closer (plus)", () => this.zoom(0.5));
      button("wider", "−", "See more (minus)", () => this.zoom(2));
      button("whole", "Whole run", "See the whole run (0)", () => this.zoom(Infinity));
      this.chartWords = make2("span", {});
      const chart = make2(
        "figure",
        { class: "m-gantt" },
        make2(
          "figcaption",
          {},
          this.chartWords,
          make2(
            "span",
            { class: "m-zoom", role: "group", "aria-label": "Zoom of the Gantt chart" },
            this.closer,
            this.wider,
            this.whole
          )
        ),
        this.chartBox
      );
      this.facts = make2("p", { class: "m-facts", role: "status", "aria-live": "polite" });
      this.toStart = make2("button", { type: "button", onclick: () => this.seekStart() }, "Go to its start");
      this.letGo = make2("button", { type: "button", onclick: () => this.pick(-1) }, "Let it go");
      this.job = make2("div", { class: "m-job" }, this.facts, this.toStart, this.letGo);
      this.running = list2("Running", ["Job", "Holds", "Asks", "Since", "Until"], this);
      this.waiting = list2("Waiting", ["Job", "Asks", "Since"], this);
      const lists = make2("div", { class: "m-lists" }, this.running.box, this.waiting.box);
      this.tip = make2("div", { class: "m-tip", hidden: true, "aria-hidden": "true" });
      this.stage = make2(
        "div",
        { class: "m-stage" },
        this.now,
        make2("div", { class: "m-maps" }, this.sites, this.legend),
        make2("div", { class: "m-time" }, controls, this.slider, plots),
        this.job,
        chart,
        lists
      );
      this.root.append(chooser, this.notes, this.stage, this.said, this.tip);
    }
    // Everything that somebody does beside pressing buttons.
    watch() {
      this.stage.addEventListener("keydown", (event) => this.key(event));
      const again = () => this.run && this.arrange();
      new ResizeObserver(() => requestAnimationFrame(() => {
        if (this.root.clientWidth !== this.width && this.root.clientWidth > 0) again();
      })).observe(this.root);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
      new MutationObserver(again).observe(document.documentElement, {
        attributes: true,
        attributeFilter: ["data-theme", "class", "style"]
      });
      const onPaper = (is) => {
        this.root.classList.toggle("m-paper", is);
        again();
      };
      addEventListener("beforeprint", () => onPaper(true));
      addEventListener("afterprint", () => onPaper(false));
      drag(this.plots, (x) => this.soon(this.timeOf((x - PAD) / (this.width - 2 * PAD))));
      this.watchChart();
    }
    watchChart() {
      let held = null;
      const { chart } = this;
      chart.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        held = { x: event.offsetX, moved: false };
        chart.setPointerCapture(event.pointerId);
      });
      chart.addEventListener("pointermove", (event) => {
        if (!held) {
          this.hint(event, this.gantt.at(event.offsetX, event.offsetY));
          return;
        }
        if (Math.abs(event.offsetX - held.x) > 3) held.moved = true;
        if (!held.moved) return;
        this.gantt.pan(this.gantt.time(held.x) - this.gantt.time(event.offsetX));
        held.x = event.offsetX;
        this.drawChart();
      });
      chart.addEventListener("pointerup", (event) => {
        if (held && !held.moved) {
          this.pick(this.gantt.at(event.offsetX, event.offsetY));
          this.seek(this.gantt.time(event.offsetX));
        }
        held = null;
      });
      chart.addEventListener("pointercancel", () => held = null);
      chart.addEventListener("pointerleave", () => this.hint(null, -1));
      chart.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.gantt.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.gantt.time(event.offsetX));
        this.drawChart();
      }, { passive: false });
    }
    // Turns to another run, at the same time where it has that: so that two policies can be compared.
    async choose(index) {
      this.pause();
      const recording = this.recordings[index];
      try {
        this.opened = this.opened || /* @__PURE__ */ new Map();
        if (!this.opened.has(index)) this.opened.set(index, await open(recording));
      } catch (error) {
        this.stage.hidden = true;
        this.notes.replaceChildren(make2("span", {}, error.message));
        return;
      }
      const run = this.opened.get(index);
      this.run = run;
      this.runs.selectedIndex = index;
      this.chosen = -1;
      this.tellJob();
      this.gantt = new Gantt(run);
      this.stage.hidden = false;
      this.notes.replaceChildren(...recording.notes.map((note) => make2("span", {}, `${note} `)));
      this.notes.hidden = recording.notes.length === 0;
      this.maps = run.sites.map((site, i) => this.siteFigure(site, i));
      this.sites.replaceChildren(...this.maps.map((map) => map.figure));
      const legends = new Set(run.sites.map(legend));
      write(this.legend, legends.size === 1 ? [...legends][0] : "");
      const { from, until } = recording;
      const isInside = this.time >= from && this.time <= until;
      if (!isInside) this.time = run.busiest(0.2, 0.4);
      write(this.chartWords, `Gantt chart: each bar is a job${lanes(run)}. Drag to move, Ctrl and wheel to zoom, click a job to follow it.`);
      this.pace.selectedIndex = run.at.length > 2e3 ? 2 : 1;
      const most = 160;
      if (run.jobs > most) {
        this.gantt.show(this.time - (until - from) * most / run.jobs / 2, (until - from) * most / run.jobs);
      }
      this.arrange();
      this.tell();
    }
    siteFigure(site, index) {
      const canvas = make2("canvas", { role: "img", "aria-label": `Map of ${siteName(this.run, index)}` });
      const held = make2("span", { class: "m-held" });
      const caption = make2("figcaption", {}, make2("strong", {}, siteName(this.run, index)), " ", held);
      const map = new SiteMap(this.run, index, canvas);
      canvas.addEventListener("pointermove", (event) => {
        const at = map.at(event.offsetX, event.offsetY);
        this.hint(event, at.job, at.node);
      });
      canvas.addEventListener("pointerleave", () => this.hint(null, -1));
      canvas.addEventListener("click", (event) => this.pick(map.at(event.offsetX, event.offsetY).job));
      return Object.assign(map, { held, figure: make2("figure", {}, canvas, caption) });
    }
    // Gives everything its size, and draws it.
    arrange() {
      this.theme = theme(this.root);
      this.width = this.root.clientWidth;
      const height = Math.min(520, Math.max(260, globalThis.innerHeight * 0.6));
      const fit = (room) => layouts(this.run.sites, Math.max(200, room), height, CAPTION);
      const [below, beside] = [fit(this.width), fit(this.width - BESIDE)];
      const isBeside = this.width > 2 * BESIDE && beside[0].cell >= 0.7 * below[0].cell;
      this.layouts = isBeside ? beside : below;
      const widest = this.maps.length > 1 ? this.width - BESIDE : this.layouts[0].width;
      this.stage.classList.toggle("m-beside", isBeside);
      this.stage.style.setProperty("--m-widest", `${widest}px`);
      this.now.style.minHeight = "";
      this.longest = 0;
      this.drawPlots();
      this.drawChart();
      this.draw();
    }
    // What does not change with the time.
    drawPlots() {
      const { run, theme: theme2, width: width2 } = this;
      drawPlots(this.plots, run, theme2, width2);
      this.plots.setAttribute("aria-label", `Over the time of the run, the processors held, of ${run.processors}, and the number of jobs that wait, at most ${run.mostWaiting}.`);
    }
    drawChart() {
      const { run, theme: theme2, width: width2 } = this;
      const height = Math.min(420, Math.max(150, 60 + this.gantt.bands.reduce((sum, band) => sum + band.lanes, 0) * 14));
      this.gantt.draw(this.chart, theme2, width2, height, this.chosen);
      const { from, until } = this.gantt.view;
      this.chart.setAttribute("aria-label", `Gantt chart of ${run.jobs} jobs, from time ${number(from)} to ${number(until)}. The lists have the same jobs as text.`);
      this.drawLines();
    }
    // Where on the axis of the slider a time is.
    x(time) {
      const { from, until } = this.run.recording;
      return PAD + (until > from ? (time - from) / (until - from) : 0) * Math.floor(this.width - 2 * PAD);
    }
    drawLines() {
      const { recording } = this.run;
      const { from, until } = this.gantt.view;
      this.plotsLine.style.transform = `translateX(${this.x(this.time)}px)`;
      this.seen.hidden = from <= recording.from && until >= recording.until;
      this.seen.style.transform = `translateX(${this.x(from)}px)`;
      this.seen.style.width = `${Math.max(2, this.x(until) - this.x(from))}px`;
      const x = this.gantt.x(this.time);
      this.chartLine.style.transform = `translateX(${x}px)`;
      this.chartLine.hidden = x < PAD - 1 || x > this.width - PAD + 1;
    }
    // The moment: the maps, the words and the lists.
    draw() {
      const { run } = this;
      const moment = this.moment = run.moment(this.time, LISTED);
      this.maps.forEach((map, i) => {
        map.draw(this.layouts[i], moment, this.chosen, this.theme);
        let held = 0;
        for (const s of moment.running) if (run.where[s] === i) held += run.heldBy[s];
        write(map.held, `${number(held)} of ${number(run.sites[i].nodes)} held`);
      });
      this.say(summary(run, moment));
      const { from, until } = run.recording;
      const place2 = until > from ? Math.round((this.time - from) / (until - from) * STEPS) : 0;
      if (Number(this.slider.value) !== place2) this.slider.value = place2;
      this.slider.setAttribute(
        "aria-valuetext",
        `time ${number(this.time)}, ${moment.held} of ${run.processors} processors held`
      );
      this.drawLines();
      this.listSoon();
    }
    // The words keep the room that the longest of them took: what stands below must not dance.
    say(text) {
      write(this.now, text);
      if (text.length <= this.longest) return;
      this.longest = text.length;
      this.now.style.minHeight = `${this.now.offsetHeight}px`;
    }
    // Tables take longest to be set anew, and nobody reads them while they run by: eight times a second will do.
    listSoon() {
      clearTimeout(this.listing);
      if (performance.now() - this.listed < PATIENCE) this.listing = setTimeout(() => this.drawLists(), PATIENCE);
      else this.drawLists();
    }
    drawLists() {
      this.listed = performance.now();
      const { run, moment } = this;
      const isOne = run.sites.length === 1;
      const holds = (s) => isOne ? String(run.heldBy[s]) : `${run.heldBy[s]} on ${run.where[s] + 1}`;
      const until = (job) => run.finish[job] <= run.recording.until ? short(run.finish[job]) : "the end";
      write(this.running.heads[1], isOne ? "Holds" : "Holds, on site");
      this.waiting.fill(moment.waits, moment.waiting.map((job) => ({ job, cells: [run.asked[run.request[job]].text, short(run.submit[job])] })));
      this.running.fill(moment.runs, largest(run, moment, LISTED).map((s) => {
        const job = run.who[s];
        const cells = [holds(s), run.asked[run.request[job]].text, short(run.start[job]), until(job)];
        return { job, look: run.look[job], cells };
      }));
    }
    timeOf(share) {
      const { from, until } = this.run.recording;
      return from + Math.min(Math.max(share, 0), 1) * (until - from);
    }
    // Goes to a time; whoever goes there by hand stops the play.
    seek(time, by) {
      if (by !== "play") this.pause();
      const { from, until } = this.run.recording;
      this.time = Math.min(Math.max(time, from), until);
      if (this.gantt.follow(this.time)) this.drawChart();
      this.draw();
      if (by !== "play") this.tell();
    }
    // The same with the next frame: a hand may be faster than the screen.
    soon(time) {
      if (this.wanted === void 0) {
        requestAnimationFrame(() => {
          this.seek(this.wanted);
          this.wanted = void 0;
        });
      }
      this.wanted = time;
    }
    step(direction) {
      this.seek(this.run.neighbour(this.time, direction));
    }
    seekStart() {
      if (this.chosen >= 0) this.seek(Math.min(this.run.start[this.chosen], this.run.recording.until));
    }
    // Says the moment aloud once it has stood still for a while.
    tell() {
      clearTimeout(this.telling);
      this.telling = setTimeout(() => write(this.said, this.now.textContent), 600);
    }
    toggle() {
      if (this.isPlaying) {
        this.pause();
        this.tell();
        return;
      }
      const { from, until } = this.run.recording;
      if (this.time >= until) this.time = from;
      this.isPlaying = true;
      this.label();
      let before = performance.now();
      const frame = (now) => {
        if (!this.isPlaying) return;
        const pace = Number(this.pace.value) / Math.max(1, this.run.at.length);
        const time = this.time + (now - before) / 1e3 * pace * (until - from);
        before = now;
        this.seek(time, "play");
        if (time >= until) this.toggle();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }
    pause() {
      this.isPlaying = false;
      this.label();
    }
    label() {
      const text = this.isPlaying ? "Pause" : "Play";
      if (this.playing.textContent.trim() === text) return;
      this.playing.replaceChildren(icon(this.isPlaying ? "M3 2h3v10H3zM8 2h3v10H8z" : "M3 2l8 5-8 5z"), ` ${text}`);
      this.playing.title = `${text} (space)`;
      this.playing.setAttribute("aria-label", this.playing.title);
    }
    // Follows a job everywhere; -1 follows none.
    pick(job) {
      this.chosen = job === this.chosen ? -1 : job;
      this.tellJob();
      this.drawChart();
      this.draw();
    }
    tellJob() {
      const { run, chosen } = this;
      const invitation = "Choose a job, on the map, in the chart or in a list, to see where it is.";
      write(this.facts, chosen < 0 ? invitation : facts(run, chosen));
      this.job.classList.toggle("m-empty", chosen < 0);
      this.letGo.hidden = chosen < 0;
      this.toStart.hidden = chosen < 0 || !(run.start[chosen] <= run.recording.until);
    }
    zoom(factor) {
      const { from, until } = this.gantt.view;
      const around = this.time >= from && this.time <= until ? this.time : (from + until) / 2;
      this.gantt.zoom(Math.min(factor, 1e12), around);
      this.drawChart();
    }
    key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const is = (...elements) => elements.includes(event.target);
      if (event.target.tagName === "SELECT") return;
      const { from, until } = this.run.recording;
      const leap = (until - from) / 50;
      const acts = {
        ArrowRight: () => this.step(1),
        ArrowUp: is(this.slider) && (() => this.step(1)),
        ArrowLeft: () => this.step(-1),
        ArrowDown: is(this.slider) && (() => this.step(-1)),
        PageUp: is(this.slider, this.chart) && (() => this.seek(this.time + leap)),
        PageDown: is(this.slider, this.chart) && (() => this.seek(this.time - leap)),
        Home: is(this.slider, this.chart) && (() => this.seek(from)),
        End: is(this.slider, this.chart) && (() => this.seek(until)),
        " ": event.target.tagName !== "BUTTON" && (() => this.toggle()),
        Escape: this.chosen >= 0 && (() => this.pick(-1)),
        "+": () => this.zoom(0.5),
        "=": () => this.zoom(0.5),
        "-": () => this.zoom(2),
        0: () => this.zoom(Infinity)
      };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    }
    // A word beside the pointer.
    hint(event, job, node = -1) {
      const { run, tip } = this;
      tip.hidden = !event || job < 0 && node < 0;
      if (tip.hidden) return;
      const what = job < 0 ? "free" : `job ${run.number[job]}, ${asks(run, job)}, from ${number(run.start[job])}`;
      write(tip, node < 0 ? what : `processor ${node}: ${what}`);
      const box = this.root.getBoundingClientRect();
      const x = Math.min(event.clientX - box.left + 14, this.width - tip.offsetWidth);
      tip.style.transform = `translate(${Math.max(0, x)}px, ${event.clientY - box.top + 16}px)`;
    }
  };
  function list2(title, columns2, player) {
    const heading = make2("caption", {});
    const heads = columns2.map((column2) => make2("th", { scope: "col" }, column2));
    const body = make2("tbody", {});
    const more = make2("p", { class: "m-more" });
    const rows2 = [];
    const row = () => {
      const swatch = make2("span", { class: "m-swatch", "aria-hidden": "true" });
      const name2 = make2("span", {});
      const button = make2("button", { type: "button" }, swatch, name2);
      const cells = columns2.slice(1).map(() => make2("td", {}));
      const line = { swatch, name: name2, button, cells, job: -1, element: make2("tr", {}, make2("th", { scope: "row" }, button), ...cells) };
      button.addEventListener("click", () => player.pick(line.job));
      rows2.push(line);
      body.append(line.element);
    };
    const table = make2(
      "table",
      {},
      heading,
      make2("thead", {}, make2("tr", {}, ...heads)),
      body
    );
    const fill3 = (count, jobs2) => {
      write(heading, `${title}: ${number(count)}`);
      table.classList.toggle("m-none", jobs2.length === 0);
      while (rows2.length < jobs2.length) row();
      rows2.forEach((line, i) => {
        const one = jobs2[i];
        if (line.element.hidden !== !one) line.element.hidden = !one;
        if (!one) return;
        line.job = one.job;
        write(line.name, String(player.run.number[one.job]));
        line.swatch.hidden = one.look === void 0;
        line.swatch.className = `m-swatch m-look-${(one.look || 0) % COLOURS} m-pattern-${Math.floor((one.look || 0) / COLOURS)}`;
        const isChosen = String(one.job === player.chosen);
        if (line.button.getAttribute("aria-pressed") !== isChosen) line.button.setAttribute("aria-pressed", isChosen);
        one.cells.forEach((text, k) => write(line.cells[k], text));
      });
      write(more, count > jobs2.length ? `and ${number(count - jobs2.length)} more` : "");
    };
    return { box: make2("div", { class: "m-list" }, table, more), heads, fill: fill3 };
  }
  function drag(canvas, tell) {
    let isHeld = false;
    const at = (event) => tell(event.clientX - canvas.getBoundingClientRect().left);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      isHeld = true;
      canvas.setPointerCapture(event.pointerId);
      at(event);
    });
    canvas.addEventListener("pointermove", (event) => isHeld && at(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => isHeld = false);
  }

  // main.js
  var data = document.getElementById("report-data");
  if (data) drawFigures(document, JSON.parse(data.textContent));
  for (const recordings of document.querySelectorAll("script.recordings")) {
    drawMachine(
      /** @type {HTMLElement} */
      recordings.previousElementSibling,
      JSON.parse(recordings.textContent)
    );
  }
  if (document.getElementById("live-state")) look();
  Object.assign(globalThis, { drawFigures });
})();
