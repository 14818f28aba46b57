// The machine, its Gantt chart and its queue, tied to one slider.

import { Gantt } from "./gantt.js";
import { layouts } from "./layout.js";
import { SiteMap } from "./map.js";
import { number, short, theme } from "./paint.js";
import { PAD, drawPlots } from "./plots.js";
import { COLOURS, open } from "./run.js";
import { asks, facts, lanes, largest, legend, siteName, summary } from "./words.js";

const STEPS = 100000; // places of the slider
const LISTED = 20; // jobs in each list
const CAPTION = 44; // pixels for the words below a map,
const BESIDE = 400; // and for the lists beside it
const PATIENCE = 120; // milliseconds between two of them
const PACES = [1, 4, 20, 100, 500]; // instants a second

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
};

const icon = (path) => {
  const [svg, shape] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("class", "m-icon");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
};

const write = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

// Draws recordings of runs into an element, which is emptied; one of them is seen at a time.
export function drawMachine(element, recordings) {
  const player = new Player(element, [].concat(recordings));
  element.machine = player;
  return player;
}

class Player {
  /** @type {HTMLElement} */ root;
  /** @type {any[]} */ recordings;
  /** @type {HTMLButtonElement} */ first;
  /** @type {HTMLButtonElement} */ back;
  /** @type {HTMLButtonElement} */ playing;
  /** @type {HTMLButtonElement} */ on;
  /** @type {HTMLButtonElement} */ last;
  /** @type {HTMLButtonElement} */ closer;
  /** @type {HTMLButtonElement} */ wider;
  /** @type {HTMLButtonElement} */ whole;

  constructor(root, recordings) {
    Object.assign(this, { root, recordings, chosen: -1, isPlaying: false, time: NaN, listed: 0 });
    root.classList.add("machine");
    root.replaceChildren();
    this.build();
    this.watch();
    this.ready = this.choose(0);
  }

  build() {
    const button = (name, label, title, act) =>
      (this[name] = make("button", { type: "button", title, "aria-label": title, onclick: act }, label));
    const title = (recording) => {
      const replication = recording.replication > 1 ? `, replication ${recording.replication}` : "";
      return `${recording.scenario}. ${recording.title || "the only scenario"}${replication}`;
    };
    this.runs = make("select", { onchange: () => this.choose(this.runs.selectedIndex) },
      ...this.recordings.map((recording) => make("option", {}, title(recording))));
    const chooser = make("label", { class: "m-runs" }, "Run ", this.runs);
    chooser.hidden = this.recordings.length < 2;
    this.notes = make("p", { class: "m-notes" });
    this.sites = make("div", { class: "m-sites" });
    this.legend = make("p", { class: "m-legend" });
    this.now = make("p", { class: "m-now" });
    this.said = make("p", { class: "m-unseen", role: "status", "aria-live": "polite" });
    button("first", icon("M2 2h2v10H2zM12 2v10L5 7z"), "To the beginning", () => this.seek(this.run.recording.from));
    button("back", icon("M11 2v10L3 7z"), "To the event before (left arrow)", () => this.step(-1));
    button("playing", "", "", () => this.toggle());
    button("on", icon("M3 2l8 5-8 5z"), "To the next event (right arrow)", () => this.step(1));
    button("last", icon("M2 2l7 5-7 5zM10 2h2v10h-2z"), "To the end", () => this.seek(this.run.recording.until));
    this.playing.className = "m-play";
    this.pace = make("select", { "aria-label": "How fast it plays" },
      ...PACES.map((pace) => make("option", { value: pace }, `${pace} ${pace === 1 ? "event" : "events"} a second`)));
    this.slider = make("input", {
      type: "range", min: 0, max: STEPS, step: 1, "aria-label": "Time of the run",
      oninput: () => this.soon(this.timeOf(Number(this.slider.value) / STEPS)),
    });
    const controls = make("div", { class: "m-controls", role: "group", "aria-label": "Play the run" },
      this.first, this.back, this.playing, this.on, this.last, this.pace);
    this.plots = make("canvas", { role: "img" });
    this.plotsLine = make("div", { class: "m-line" });
    this.seen = make("div", { class: "m-seen" });
    const plots = (this.plotsBox = make("div", { class: "m-plots" }, this.plots, this.seen, this.plotsLine));
    this.chart = make("canvas", { tabindex: 0, role: "img" });
    this.chartLine = make("div", { class: "m-line" });
    this.chartBox = make("div", { class: "m-chart" }, this.chart, this.chartLine);
    button("closer", "+", "Look closer (plus)", () => this.zoom(0.5));
    button("wider", "−", "See more (minus)", () => this.zoom(2));
    button("whole", "Whole run", "See the whole run (0)", () => this.zoom(Infinity));
    this.chartWords = make("span", {});
    const chart = make("figure", { class: "m-gantt" },
      make("figcaption", {}, this.chartWords,
        make("span", { class: "m-zoom", role: "group", "aria-label": "Zoom of the Gantt chart" },
          this.closer, this.wider, this.whole)),
      this.chartBox);
    this.facts = make("p", { class: "m-facts", role: "status", "aria-live": "polite" });
    this.toStart = make("button", { type: "button", onclick: () => this.seekStart() }, "Go to its start");
    this.letGo = make("button", { type: "button", onclick: () => this.pick(-1) }, "Let it go");
    this.job = make("div", { class: "m-job" }, this.facts, this.toStart, this.letGo);
    this.running = list("Running", ["Job", "Holds", "Asks", "Since", "Until"], this);
    this.waiting = list("Waiting", ["Job", "Asks", "Since"], this);
    const lists = make("div", { class: "m-lists" }, this.running.box, this.waiting.box);
    this.tip = make("div", { class: "m-tip", hidden: true, "aria-hidden": "true" });
    // Nothing that grows and shrinks with the time may stand above what somebody points at.
    this.stage = make("div", { class: "m-stage" }, this.now, make("div", { class: "m-maps" }, this.sites, this.legend),
      make("div", { class: "m-time" }, controls, this.slider, plots), this.job, chart, lists);
    this.root.append(chooser, this.notes, this.stage, this.said, this.tip);
  }

  // Everything that somebody does beside pressing buttons.
  watch() {
    this.stage.addEventListener("keydown", (event) => this.key(event));
    const again = () => this.run && this.arrange();
    // In the next frame: whoever changes sizes while they are observed is told off for it.
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (this.root.clientWidth !== this.width && this.root.clientWidth > 0) again();
    })).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new MutationObserver(again).observe(document.documentElement, {
      attributes: true, attributeFilter: ["data-theme", "class", "style"],
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
    chart.addEventListener("pointercancel", () => (held = null));
    chart.addEventListener("pointerleave", () => this.hint(null, -1));
    // The wheel alone scrolls the page, as everywhere.
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
      this.opened = this.opened || new Map();
      if (!this.opened.has(index)) this.opened.set(index, await open(recording));
    } catch (error) {
      this.stage.hidden = true;
      this.notes.replaceChildren(make("span", {}, error.message));
      return;
    }
    const run = this.opened.get(index);
    this.run = run;
    this.runs.selectedIndex = index;
    this.chosen = -1;
    this.tellJob();
    this.gantt = new Gantt(run);
    this.stage.hidden = false;
    this.notes.replaceChildren(...recording.notes.map((note) => make("span", {}, `${note} `)));
    this.notes.hidden = recording.notes.length === 0;
    this.maps = run.sites.map((site, i) => this.siteFigure(site, i));
    this.sites.replaceChildren(...this.maps.map((map) => map.figure));
    const legends = new Set(run.sites.map(legend));
    write(this.legend, legends.size === 1 ? [...legends][0] : "");
    const { from, until } = recording;
    const isInside = this.time >= from && this.time <= until;
    if (!isInside) this.time = run.busiest(0.2, 0.4);
    write(this.chartWords, `Gantt chart: each bar is a job${lanes(run)}. Drag to move, Ctrl and wheel to zoom, click a job to follow it.`);
    this.pace.selectedIndex = run.at.length > 2000 ? 2 : 1;
    const most = 160;
    if (run.jobs > most) {
      this.gantt.show(this.time - ((until - from) * most) / run.jobs / 2, ((until - from) * most) / run.jobs);
    }
    this.arrange();
    this.tell();
  }

  siteFigure(site, index) {
    const canvas = make("canvas", { role: "img", "aria-label": `Map of ${siteName(this.run, index)}` });
    const held = make("span", { class: "m-held" });
    const caption = make("figcaption", {}, make("strong", {}, siteName(this.run, index)), " ", held);
    const map = new SiteMap(this.run, index, canvas);
    canvas.addEventListener("pointermove", (event) => {
      const at = map.at(event.offsetX, event.offsetY);
      this.hint(event, at.job, at.node);
    });
    canvas.addEventListener("pointerleave", () => this.hint(null, -1));
    canvas.addEventListener("click", (event) => this.pick(map.at(event.offsetX, event.offsetY).job));
    return Object.assign(map, { held, figure: make("figure", {}, canvas, caption) });
  }

  // Gives everything its size, and draws it.
  arrange() {
    this.theme = theme(this.root);
    this.width = this.root.clientWidth;
    const height = Math.min(520, Math.max(260, globalThis.innerHeight * 0.6));
    const fit = (room) => layouts(this.run.sites, Math.max(200, room), height, CAPTION);
    // The lists stand beside the map where that makes it hardly smaller.
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
    const { run, theme, width } = this;
    drawPlots(this.plots, run, theme, width);
    this.plots.setAttribute("aria-label", `Over the time of the run, the processors held, of ${run.processors
    }, and the number of jobs that wait, at most ${run.mostWaiting}.`);
  }

  drawChart() {
    const { run, theme, width } = this;
    const height = Math.min(420, Math.max(150, 60 + this.gantt.bands.reduce((sum, band) => sum + band.lanes, 0) * 14));
    this.gantt.draw(this.chart, theme, width, height, this.chosen);
    const { from, until } = this.gantt.view;
    this.chart.setAttribute("aria-label", `Gantt chart of ${run.jobs} jobs, from time ${number(from)} to ${
      number(until)}. The lists have the same jobs as text.`);
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
    const moment = (this.moment = run.moment(this.time, LISTED));
    this.maps.forEach((map, i) => {
      map.draw(this.layouts[i], moment, this.chosen, this.theme);
      let held = 0;
      for (const s of moment.running) if (run.where[s] === i) held += run.heldBy[s];
      write(map.held, `${number(held)} of ${number(run.sites[i].nodes)} held`);
    });
    this.say(summary(run, moment));
    const { from, until } = run.recording;
    const place = until > from ? Math.round(((this.time - from) / (until - from)) * STEPS) : 0;
    if (Number(this.slider.value) !== place) this.slider.value = place;
    this.slider.setAttribute("aria-valuetext",
      `time ${number(this.time)}, ${moment.held} of ${run.processors} processors held`);
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
    const holds = (s) => (isOne ? String(run.heldBy[s]) : `${run.heldBy[s]} on ${run.where[s] + 1}`);
    const until = (job) => (run.finish[job] <= run.recording.until ? short(run.finish[job]) : "the end");
    write(this.running.heads[1], isOne ? "Holds" : "Holds, on site");
    this.waiting.fill(moment.waits, moment.waiting.map((job) =>
      ({ job, cells: [run.asked[run.request[job]].text, short(run.submit[job])] })));
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
    if (this.wanted === undefined) {
      requestAnimationFrame(() => {
        this.seek(this.wanted);
        this.wanted = undefined;
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
      const time = this.time + ((now - before) / 1000) * pace * (until - from);
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
      0: () => this.zoom(Infinity),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  // A word beside the pointer.
  hint(event, job, node = -1) {
    const { run, tip } = this;
    tip.hidden = !event || (job < 0 && node < 0);
    if (tip.hidden) return;
    const what = job < 0 ? "free" : `job ${run.number[job]}, ${asks(run, job)}, from ${number(run.start[job])}`;
    write(tip, node < 0 ? what : `processor ${node}: ${what}`);
    const box = this.root.getBoundingClientRect();
    const x = Math.min(event.clientX - box.left + 14, this.width - tip.offsetWidth);
    tip.style.transform = `translate(${Math.max(0, x)}px, ${event.clientY - box.top + 16}px)`;
  }
}

// A table of jobs; its rows are made once and then only written anew.
function list(title, columns, player) {
  const heading = make("caption", {});
  const heads = columns.map((column) => make("th", { scope: "col" }, column));
  const body = make("tbody", {});
  const more = make("p", { class: "m-more" });
  const rows = [];
  const row = () => {
    const swatch = make("span", { class: "m-swatch", "aria-hidden": "true" });
    const name = make("span", {});
    const button = make("button", { type: "button" }, swatch, name);
    const cells = columns.slice(1).map(() => make("td", {}));
    const line = { swatch, name, button, cells, job: -1, element: make("tr", {}, make("th", { scope: "row" }, button), ...cells) };
    button.addEventListener("click", () => player.pick(line.job));
    rows.push(line);
    body.append(line.element);
  };
  const table = make("table", {}, heading,
    make("thead", {}, make("tr", {}, ...heads)), body);
  const fill = (count, jobs) => {
    write(heading, `${title}: ${number(count)}`);
    table.classList.toggle("m-none", jobs.length === 0);
    while (rows.length < jobs.length) row();
    rows.forEach((line, i) => {
      const one = jobs[i];
      if (line.element.hidden !== !one) line.element.hidden = !one;
      if (!one) return;
      line.job = one.job;
      write(line.name, String(player.run.number[one.job]));
      line.swatch.hidden = one.look === undefined;
      line.swatch.className = `m-swatch m-look-${(one.look || 0) % COLOURS} m-pattern-${Math.floor((one.look || 0) / COLOURS)}`;
      const isChosen = String(one.job === player.chosen);
      if (line.button.getAttribute("aria-pressed") !== isChosen) line.button.setAttribute("aria-pressed", isChosen);
      one.cells.forEach((text, k) => write(line.cells[k], text));
    });
    write(more, count > jobs.length ? `and ${number(count - jobs.length)} more` : "");
  };
  return { box: make("div", { class: "m-list" }, table, more), heads, fill };
}

// Tells where a pointer that is held down is.
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
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (isHeld = false));
}
