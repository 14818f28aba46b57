// The player: maps, Gantt chart and job lists that follow one slider.

import { onChange, recalled, remember } from "../report/state.js";
import { Chart } from "./chart.js";
import { coloured, colourings, isOrdered } from "./colours.js";
import { Controls } from "./controls.js";
import { make, write } from "./elements.js";
import { nearest } from "./nearest.js";
import { theme } from "./paint.js";
import { open } from "./run.js";
import { saving } from "./save.js";
import { LISTED, Still } from "./still.js";
import { asks, facts, nodeInWords, placeName, why } from "./words.js";

/** Draws recordings of runs into an element, one at a time; its content is replaced. @param {any} element @param {any} recordings */
export function drawMachine(element, recordings) {
  const player = new Player(element, [].concat(recordings));
  element.machine = player;
  return player;
}

/** Title of a run. */
function title(/** @type {any} */ recording) {
  const replication = recording.replication > 1 ? `, replication ${recording.replication}` : "";
  return `${recording.scenario}. ${recording.title || "the only scenario"}${replication}`;
}

class Player {
  /** @param {HTMLElement} root @param {any[]} recordings */
  constructor(root, recordings) {
    this.root = root;
    this.recordings = recordings;
    this.chosen = -1;
    this.isPlaying = false;
    this.time = NaN;
    this.width = 0;
    /** @type {Map<number, import("./run.js").Run>} The recordings that are unpacked. */
    this.opened = new Map();
    /** @type {import("./run.js").Run} */
    this.run = /** @type {any} */ (undefined);
    /** The displayed moment. */
    this.moment = undefined;
    /** The time requested by the slider for the next frame. */
    this.wanted = undefined;
    /** Name of its state in the address. */
    this.name = `${root.closest("section.study")?.id || "machine"}.machine`;
    root.classList.add("machine");
    root.replaceChildren();
    this.build();
    this.watch();
    this.ready = this.recall();
  }

  // Access for tests.
  get maps() { return this.still.maps; }
  get layouts() { return this.still.layouts; }
  get gantt() { return this.timeline.gantt; }
  get chart() { return this.timeline.canvas; }
  get slider() { return this.controls.slider; }

  build() {
    this.runs = make("select", { onchange: () => this.choose(this.runs.selectedIndex) },
      ...this.recordings.map((recording) => make("option", {}, title(recording))));
    const chooser = make("label", { class: "m-runs" }, "Run ", this.runs);
    chooser.hidden = this.recordings.length < 2;
    this.colours = make("select", { onchange: () => this.colour() });
    this.sought = make("input", { type: "search", inputmode: "numeric", size: 8, autocomplete: "off" });
    this.missed = make("span", { role: "status" });
    const find = make("form", { class: "m-find", onsubmit: (event) => this.find(event) },
      make("label", {}, "Job ", this.sought), " ", make("button", { type: "submit" }, "Find"), " ", this.missed);
    const head = make("div", { class: "m-head" }, chooser, make("label", {}, "Colours by ", this.colours), find);
    this.notes = make("p", { class: "m-notes" });
    this.said = make("p", { class: "m-unseen", role: "status", "aria-live": "polite" });
    this.still = new Still({
      pick: (job) => this.pick(job),
      hint: (event, job, site, node, isOut) =>
        this.hint(event, job, node < 0 ? "" : this.nameOf(site, node), isOut ? "out of service" : "free"),
    });
    this.controls = new Controls({
      seek: (where) => this.seek(where === "first" ? this.run.recording.from : this.run.recording.until),
      step: (direction) => this.step(direction),
      toggle: () => this.toggle(),
      share: (share) => this.soon(this.timeOf(share)),
    });
    this.timeline = new Chart({
      pick: (job) => this.pick(job),
      seek: (time) => this.seek(time),
      moved: () => this.drawChart(),
      hint: (event, job, words) => this.hint(event, job, words ?? ""),
    });
    this.facts = make("p", { class: "m-facts", role: "status", "aria-live": "polite" });
    // It changes with the time, so it is not announced, but read on demand.
    this.why = make("p", { class: "m-why" });
    this.toStart = make("button", { type: "button", onclick: () => this.seekStart() }, "Go to its start");
    this.letGo = make("button", { type: "button", onclick: () => this.pick(-1) }, "Let it go");
    this.job = make("div", { class: "m-job" }, this.facts, this.why, this.toStart, this.letGo);
    this.tip = make("div", { class: "m-tip", hidden: true, "aria-hidden": "true" });
    this.controls.group.append(saving(() => this));
    // Elements whose height changes with the time must not be above elements that are pointed at.
    const { now, picture, lists } = this.still;
    this.stage = make("div", { class: "m-stage" }, now, picture, this.controls.box, this.job, lists, this.timeline.figure);
    this.root.append(head, this.notes, this.stage, this.said, this.tip);
  }

  // Registers all input other than buttons.
  watch() {
    this.stage.addEventListener("keydown", (event) => this.key(event));
    const again = () => this.run && this.arrange();
    // In the next frame, because a size changed during observation causes an error.
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
    onChange(() => this.recall());
  }

  // Restores run and time from the address; by default the first run, at a busy time.
  async recall() {
    const [scenario, replication, time] = (recalled(this.name) ?? "").split("/").map(Number);
    const index = this.recordings.findIndex((one) => one.scenario === scenario && one.replication === replication);
    if (index >= 0 && Number.isFinite(time)) this.time = time;
    await this.choose(Math.max(0, index));
  }

  // Writes run and time into the address once they have been constant for a moment.
  rememberSoon() {
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => {
      const { scenario, replication } = this.run.recording;
      const isFirst = this.run.recording === this.recordings[0] && this.time === this.begin;
      remember(this.name, isFirst ? null : `${scenario}/${replication}/${Number(this.time.toPrecision(10))}`);
    }, 300);
  }

  // Shows another run, at the same time if possible, so that two policies can be compared.
  async choose(/** @type {number} */ index) {
    this.pause();
    const recording = this.recordings[index];
    try {
      if (!this.opened.has(index)) this.opened.set(index, await open(recording));
    } catch (error) {
      this.stage.hidden = true;
      this.notes.replaceChildren(make("span", {}, error.message));
      return;
    }
    const isAnother = this.run !== undefined && this.run !== this.opened.get(index);
    const run = (this.run = this.opened.get(index));
    this.runs.selectedIndex = index;
    this.chosen = -1;
    this.tellJob();
    this.stage.hidden = false;
    // Times in notes are formatted like other times of the page.
    const dated = (/** @type {string} */ words, /** @type {string} */ time) => (run.clock.seconds ? run.clock.at(Number(time.replaceAll(",", ""))) : words);
    const notes = recording.notes.map((note) => note.replace(/\btime (\d[\d,]*(?:\.\d+)?)/g, dated));
    this.notes.replaceChildren(...notes.map((note) => make("span", {}, `${note} `)));
    this.notes.hidden = notes.length === 0;
    this.still.open(run);
    const by = this.colours.value;
    this.colours.replaceChildren(...colourings(run).map((own) => make("option", {}, own)));
    this.colours.value = colourings(run).includes(by) ? by : "job";
    this.colour(false);
    const { from, until } = recording;
    this.begin = run.busiest(0.2, 0.4);
    if (!(this.time >= from && this.time <= until)) this.time = this.begin;
    this.controls.pace.selectedIndex = run.at.length > 2000 ? 2 : 1;
    this.timeline.open(run, this.time);
    this.arrange();
    this.tell();
    if (isAnother) this.rememberSoon();
  }

  // Applies the selected colouring.
  colour(isDrawn = true) {
    const by = this.colours.value;
    const { look, key } = coloured(this.run, by);
    this.run.look = look;
    this.root.classList.toggle("m-ordered", isOrdered(by));
    this.still.explain(key);
    if (isDrawn) this.arrange();
  }

  // Finds a job by its number and seeks to a time at which it is in the system.
  find(/** @type {Event} */ event) {
    event.preventDefault();
    const { run } = this;
    const wanted = this.sought.value.trim();
    const job = run.number.indexOf(wanted === "" ? NaN : Number(wanted));
    write(this.missed, job < 0 ? `There is no job ${wanted} here.` : "");
    if (job < 0) return;
    if (this.chosen !== job) this.pick(job);
    const { until } = run.recording;
    const isThere = run.submit[job] <= this.time && this.time < run.finish[job];
    if (!isThere) this.seek(Math.min(run.start[job], until));
  }

  // Updates all sizes and redraws.
  arrange() {
    this.theme = theme(this.root);
    this.width = this.root.clientWidth;
    this.still.arrange(this.stage, this.width);
    this.controls.draw(this.run, this.theme, this.width);
    this.draw();
    this.drawChart();
  }

  drawChart() {
    this.timeline.draw(this.theme, this.width, this.chosen);
    this.mark();
  }

  // Moves the lines of the current time.
  mark() {
    this.controls.mark(this.moment, this.gantt.view);
    this.timeline.mark(this.time, this.width);
  }

  // Draws the moment: maps, words and lists.
  draw() {
    this.moment = this.run.moment(this.time, LISTED);
    const place = this.placeFor();
    this.still.draw(this.moment, this.chosen, this.theme, place);
    write(this.why, this.chosen < 0 ? "" : why(this.run, this.chosen, this.time, place));
    this.mark();
  }

  // The nearest place for the selected job while it waits for its shape; computed once per instant.
  placeFor() {
    const { run, chosen, moment } = this;
    if (chosen < 0 || run.waitsFor(chosen, this.time) !== "shape") return null;
    const name = `${this.runs.selectedIndex} ${chosen} ${moment.instant}`;
    if (this.placed?.name !== name) this.placed = { name, place: nearest(run, chosen, moment) };
    return this.placed.place;
  }

  timeOf(/** @type {number} */ share) {
    const { from, until } = this.run.recording;
    return from + Math.min(Math.max(share, 0), 1) * (until - from);
  }

  // Seeks to a time; a seek by the user stops playback.
  seek(/** @type {number} */ time, /** @type {string} */ by = "hand") {
    if (by !== "play") this.pause();
    const { from, until } = this.run.recording;
    this.time = Math.min(Math.max(time, from), until);
    if (this.gantt.follow(this.time)) this.timeline.draw(this.theme, this.width, this.chosen);
    this.draw();
    if (by !== "play") this.tell();
  }

  // Seeks in the next frame, since input may come faster than frames.
  soon(/** @type {number} */ time) {
    if (this.wanted === undefined) {
      requestAnimationFrame(() => {
        this.seek(this.wanted);
        this.wanted = undefined;
      });
    }
    this.wanted = time;
  }

  step(/** @type {number} */ direction) {
    this.seek(this.run.neighbour(this.time, direction));
  }

  seekStart() {
    if (this.chosen >= 0) this.seek(Math.min(this.run.start[this.chosen], this.run.recording.until));
  }

  // Announces the moment once it has been constant for a while, and stores it in the address.
  tell() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => write(this.said, this.still.now.textContent), 600);
    if (this.run && this.moment) this.rememberSoon();
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
    this.controls.label(true);
    let before = performance.now();
    const frame = (now) => {
      if (!this.isPlaying) return;
      const pace = Number(this.controls.pace.value) / Math.max(1, this.run.at.length);
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
    this.controls.label(false);
  }

  // Selects a job; -1 selects none.
  pick(/** @type {number} */ job) {
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
    // Its space is kept while the time changes, so that elements below do not move.
    this.why.hidden = chosen < 0;
    this.toStart.hidden = chosen < 0 || !(run.start[chosen] <= run.recording.until);
  }

  key(/** @type {KeyboardEvent} */ event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const is = (...elements) => elements.includes(target);
    if (target.tagName === "SELECT" || target.tagName === "INPUT" && target !== this.slider) return;
    const { slider, chart } = this;
    const { from, until } = this.run.recording;
    const leap = (until - from) / 50;
    const acts = {
      ArrowRight: () => this.step(1),
      ArrowUp: is(slider) && (() => this.step(1)),
      ArrowLeft: () => this.step(-1),
      ArrowDown: is(slider) && (() => this.step(-1)),
      PageUp: is(slider, chart) && (() => this.seek(this.time + leap)),
      PageDown: is(slider, chart) && (() => this.seek(this.time - leap)),
      Home: is(slider, chart) && (() => this.seek(from)),
      End: is(slider, chart) && (() => this.seek(until)),
      " ": target.tagName !== "BUTTON" && (() => this.toggle()),
      Escape: this.chosen >= 0 && (() => this.pick(-1)),
      "+": () => this.timeline.zoom(0.5),
      "=": () => this.timeline.zoom(0.5),
      "-": () => this.timeline.zoom(2),
      0: () => this.timeline.zoom(Infinity),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  // A place in words; of a node that jobs share, with what is free of it.
  nameOf(/** @type {number} */ site, /** @type {number} */ node) {
    const { run, moment } = this;
    return run.sites[site].shared ? nodeInWords(run, moment, site, node) : placeName(run.sites[site], node);
  }

  // Shows a tooltip: the place, and the job that holds it.
  hint(/** @type {PointerEvent | null} */ event, /** @type {number} */ job, /** @type {string} */ what, nobody = "free") {
    const { run, tip } = this;
    tip.hidden = !event || (job < 0 && what === "");
    if (tip.hidden) return;
    const who = job < 0 ? nobody : `job ${run.number[job]}, ${asks(run, job)}, from ${run.clock.at(run.start[job])}`;
    write(tip, what === "" ? who : `${what}: ${who}`);
    const box = this.root.getBoundingClientRect();
    const x = Math.min(event.clientX - box.left + 14, this.width - tip.offsetWidth);
    tip.style.transform = `translate(${Math.max(0, x)}px, ${event.clientY - box.top + 16}px)`;
  }
}
