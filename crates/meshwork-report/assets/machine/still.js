// The machine at one instant: a map of every site, the moment in words, and the running and waiting jobs. The player
// shows one instant after the other; a page of a running study shows the latest one.

import { make, write } from "./elements.js";
import { layouts } from "./layout.js";
import { JobList } from "./lists.js";
import { SiteMap } from "./map.js";
import { number } from "./paint.js";
import { COLOURS, KINDS } from "./run.js";
import { KIND_NAMES, asksBriefly, largest, legend, siteName, summary } from "./words.js";

/** Maximum number of jobs in each list. */
export const LISTED = 20;

const CAPTION = 44; // pixels for the words below a map,
const BESIDE = 400; // and for the lists beside it
const NARROWEST = 200; // pixels for a map with its words
const PATIENCE = 120; // milliseconds between two of them

export class Still {
  /**
   * @param {{ pick?: (job: number) => void, hint?: (event: PointerEvent | null, job: number, site: number, node: number, isOut?: boolean) => void }} listener
   * Who is told what somebody chooses, and what somebody points at.
   */
  constructor(listener = {}) {
    this.listener = listener;
    this.sites = make("div", { class: "m-sites" });
    this.legend = make("p", { class: "m-legend" });
    this.now = make("p", { class: "m-now" });
    this.key = make("ul", { class: "m-key", "aria-label": "What the map shows", hidden: true });
    this.kinds = make("select", { onchange: () => this.fillBy(this.kinds.value) });
    this.chooser = make("label", { class: "m-kinds", hidden: true }, "Nodes are filled by ", this.kinds);
    this.picture = make("div", { class: "m-maps" }, this.sites, this.chooser, this.legend, this.key);
    this.running = new JobList("Running", ["Job", "Holds", "Site", "Asks", "Since", "Until"], listener.pick);
    this.waiting = new JobList("Waiting", ["Job", "Asks", "Since"], listener.pick);
    this.lists = make("div", { class: "m-lists" }, this.running.box, this.waiting.box);
    this.listed = 0;
    /** @type {(SiteMap & { held: HTMLElement, figure: HTMLElement })[]} */
    this.maps = [];
    /** @type {any[]} */
    this.layouts = [];
    /** @type {import("./run.js").Run} */
    this.run = /** @type {any} */ (null);
    /** @type {any} */
    this.moment = null;
    this.chosen = -1;
    /** @type {any} */
    this.theme = null;
    this.longest = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.listing = undefined;
  }

  /** Switches to another run. @param {import("./run.js").Run} run */
  open(run) {
    const isSame = this.run && JSON.stringify(this.run.recording.sites) === JSON.stringify(run.recording.sites);
    this.run = run;
    if (isSame) {
      for (const map of this.maps) map.run = run;
      return;
    }
    this.maps = run.sites.map((_, i) => this.figure(i));
    this.sites.replaceChildren(...this.maps.map((map) => map.figure));
    const kinds = KINDS.filter((kind) => run.sites.some((site) => site.kinds?.includes(kind)));
    this.kinds.replaceChildren(...kinds.map((kind) => make("option", { value: kind }, KIND_NAMES[kind])));
    this.chooser.hidden = kinds.length < 2;
    const legends = new Set(run.sites.map(legend));
    write(this.legend, legends.size === 1 ? [...legends][0] : "");
  }

  /** Shows the meaning of colours and marks. @param {{ look: number, text: string }[]} colours */
  explain(colours) {
    const { marked } = this.run;
    const items = colours.map(({ look, text }) => [`m-swatch m-look-${look % COLOURS} m-pattern-${Math.floor(look / COLOURS)}`, text]);
    const has = (kind) => marked.some((own) => own.kind === kind);
    if (this.run.outages.length > 0) items.push(["m-swatch m-mark-down", "out of service"]);
    if (has("gpu")) items.push(["m-swatch m-mark-gpu", "GPU out of service, of its node"]);
    if (has("reserved")) items.push(["m-swatch m-mark-reserved", "reserved"]);
    if (has("asleep")) items.push(["m-swatch m-mark-asleep", "asleep"]);
    const partitions = [...new Set(marked.filter((own) => own.kind === "partition").map((own) => own.name))].sort();
    partitions.forEach((name, i) => items.push([`m-swatch m-mark-partition m-line-${i % 4}`, `partition ${name}`]));
    this.key.replaceChildren(...items.map(([look, text]) => make("li", {}, make("span", { class: look, "aria-hidden": "true" }), text)));
    this.key.hidden = items.length === 0;
  }

  /** Fills nodes that jobs share by another kind. */
  fillBy(/** @type {string} */ kind) {
    for (const map of this.maps) if (this.run.sites[map.site].kinds?.includes(kind)) map.kind = kind;
    if (this.moment) this.draw(this.moment, this.chosen, this.theme);
  }

  figure(/** @type {number} */ index) {
    const { run, listener } = this;
    const canvas = make("canvas", { role: "img", "aria-label": `Map of ${siteName(run, index)}` });
    const held = make("span", { class: "m-held" });
    const caption = make("figcaption", {}, make("strong", {}, siteName(run, index)), " ", held);
    const map = new SiteMap(run, index, canvas);
    if (listener.hint) {
      canvas.addEventListener("pointermove", (event) => {
        const at = map.at(event.offsetX, event.offsetY);
        listener.hint(event, at.job, index, at.node, at.isOut);
      });
      canvas.addEventListener("pointerleave", () => listener.hint(null, -1, -1, -1));
    }
    if (listener.pick) {
      canvas.addEventListener("click", (event) => listener.pick(map.at(event.offsetX, event.offsetY).job));
    }
    return Object.assign(map, { held, figure: make("figure", {}, canvas, caption) });
  }

  /** Updates all sizes. @param {HTMLElement} stage @param {number} width */
  arrange(stage, width) {
    const height = Math.min(520, Math.max(260, globalThis.innerHeight * 0.6));
    const fit = (available) => layouts(this.run.sites, Math.max(200, available), height, CAPTION);
    // The lists are beside the map unless this halves it.
    const [below, beside] = [fit(width), fit(width - BESIDE)];
    const isBeside = width > 2 * BESIDE && beside[0].cell >= 0.5 * below[0].cell;
    this.layouts = isBeside ? beside : below;
    const widest = this.maps.length > 1 ? width - BESIDE : Math.max(NARROWEST, this.layouts[0].width);
    stage.classList.toggle("m-beside", isBeside);
    stage.style.setProperty("--m-widest", `${widest}px`);
    this.now.style.minHeight = "";
    this.longest = 0;
  }

  /** Draws a moment. @param {any} moment @param {number} chosen @param {any} theme */
  draw(moment, chosen, theme, place = null) {
    const { run } = this;
    this.moment = moment;
    this.chosen = chosen;
    this.theme = theme;
    this.maps.forEach((map, i) => {
      map.place = place;
      map.draw(this.layouts[i], moment, chosen, theme);
      let held = 0;
      for (const s of moment.running) if (run.where[s] === i) held += run.heldBy[s];
      write(map.held, `${number(held)} of ${number(run.sites[i].amount)}${run.sites[i].shared ? " cores" : ""} held`);
    });
    this.say(summary(run, moment));
    this.listSoon();
  }

  // The words keep the height of the longest so far, so that elements below do not move.
  say(/** @type {string} */ text) {
    write(this.now, text);
    if (text.length <= this.longest) return;
    this.longest = text.length;
    this.now.style.minHeight = `${this.now.offsetHeight}px`;
  }

  // Tables are slow to update, so during playback they are updated eight times a second.
  listSoon() {
    clearTimeout(this.listing);
    if (performance.now() - this.listed < PATIENCE) this.listing = setTimeout(() => this.drawLists(), PATIENCE);
    else this.drawLists();
  }

  drawLists() {
    this.listed = performance.now();
    const { run, moment, chosen } = this;
    const isOne = run.sites.length === 1;
    const site = (s) => (isOne ? "" : String(run.where[s] + 1));
    const until = (job) => (run.finish[job] <= run.recording.until ? run.clock.short(run.finish[job]) : run.isLive ? "" : "the end");
    this.running.table.classList.toggle("m-by-site", !isOne);
    write(this.running.heads[1], run.isShared ? "Cores" : "Holds");
    this.waiting.fill(run, chosen, moment.waits, moment.waiting.map((job) =>
      ({ job, cells: [asksBriefly(run, job), run.clock.short(run.submit[job])] })));
    this.running.fill(run, chosen, moment.runs, largest(run, moment, LISTED).map((s) => {
      const job = run.who[s];
      const cells = [String(run.heldBy[s]), site(s), asksBriefly(run, job), run.clock.short(run.start[job]), until(job)];
      return { job, look: run.look[job], cells };
    }));
  }
}
