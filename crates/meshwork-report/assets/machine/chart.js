// The Gantt chart in the page: canvas, buttons, and pointer input.

import { button, make, write } from "./elements.js";
import { Gantt } from "./gantt.js";
import { orders } from "./lanes.js";
import { PAD } from "./plots.js";
import { lanes } from "./words.js";

/** Approximate number of jobs visible at first. */
const SEEN = 160;

export class Chart {
  /**
   * @param {{ pick: (job: number) => void, seek: (time: number) => void, moved: () => void,
   *   hint: (event: PointerEvent | null, job: number, words?: string) => void }} listener
   */
  constructor(listener) {
    this.listener = listener;
    this.canvas = make("canvas", { tabindex: 0, role: "img" });
    this.line = make("div", { class: "m-line" });
    this.words = make("span");
    const how = matchMedia("(pointer: coarse)").matches
      ? " Drag to move; tap a job to follow it."
      : " Drag to move; click a job to follow it. To zoom, turn the wheel while Ctrl is held, or just turn it once the chart was clicked; with Shift it moves.";
    this.how = make("span", { class: "m-how" }, how);
    this.zooms = [
      button("+", "Look closer (plus)", () => this.zoom(0.5)),
      button("−", "See more (minus)", () => this.zoom(2)),
      button("Whole run", "See the whole run (0)", () => this.zoom(Infinity)),
    ];
    this.order = make("select", { onchange: () => this.reorder() });
    const order = make("label", {}, "Rows by ", this.order);
    const zoom = make("span", { class: "m-zoom", role: "group", "aria-label": "Zoom of the Gantt chart" }, ...this.zooms);
    this.figure = make("figure", { class: "m-gantt" }, make("figcaption", {}, make("span", {}, this.words, this.how), make("span", { class: "m-zoom" }, order, zoom)),
      make("div", { class: "m-chart" }, this.canvas, this.line));
    this.time = 0;
    /** @type {Gantt} */
    this.gantt = /** @type {any} */ (null);
    this.watch();
  }

  /** Shows another run, around a time. @param {import("./run.js").Run} run @param {number} time */
  open(run, time) {
    const by = this.order.value;
    this.order.replaceChildren(...orders(run).map((own) => make("option", {}, own)));
    this.order.value = orders(run).includes(by) ? by : orders(run)[0];
    this.gantt = new Gantt(run, this.order.value);
    const { from, until } = run.recording;
    if (run.jobs > SEEN) {
      const span = ((until - from) * SEEN) / run.jobs;
      this.gantt.show(time - span / 2, span);
    }
  }

  /** Sorts the bars in another way; the visible time stays. */
  reorder() {
    const { run, view } = this.gantt;
    this.gantt = new Gantt(run, this.order.value);
    this.gantt.show(view.from, view.until - view.from);
    this.listener.moved();
  }

  watch() {
    let held = null;
    const { canvas, listener } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      held = { x: event.offsetX, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const { gantt } = this;
      if (!held) {
        listener.hint(event, gantt.at(event.offsetX, event.offsetY), gantt.rowWords(event.offsetX, event.offsetY));
        return;
      }
      if (Math.abs(event.offsetX - held.x) > 3) held.moved = true;
      if (!held.moved) return;
      gantt.pan(gantt.time(held.x) - gantt.time(event.offsetX));
      held.x = event.offsetX;
      listener.moved();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) {
        listener.pick(this.gantt.at(event.offsetX, event.offsetY));
        listener.seek(this.gantt.time(event.offsetX));
      }
      held = null;
    });
    canvas.addEventListener("pointercancel", () => (held = null));
    canvas.addEventListener("pointerleave", () => listener.hint(null, -1));
    // Until the chart is clicked, the wheel scrolls the page.
    canvas.addEventListener("wheel", (event) => {
      const isOwn = event.ctrlKey || event.metaKey || document.activeElement === canvas;
      const { from, until } = this.gantt.view;
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!isOwn && !isSideways) return;
      event.preventDefault();
      if (isSideways) this.gantt.pan(Math.sign(event.deltaX || event.deltaY) * (until - from) * 0.1);
      else this.gantt.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.gantt.time(event.offsetX));
      listener.moved();
    }, { passive: false });
  }

  zoom(/** @type {number} */ factor) {
    const { from, until } = this.gantt.view;
    const around = this.time >= from && this.time <= until ? this.time : (from + until) / 2;
    this.gantt.zoom(Math.min(factor, 1e12), around);
    this.listener.moved();
  }

  draw(/** @type {any} */ theme, /** @type {number} */ width, /** @type {number} */ chosen) {
    const { gantt } = this;
    const { run } = gantt;
    const rows = gantt.bands.reduce((sum, band) => sum + band.lanes, 0);
    gantt.draw(this.canvas, theme, width, Math.min(420, Math.max(150, 60 + rows * 14)), chosen);
    const isDense = gantt.bands.some((band) => gantt.isDense(band));
    const dense = " Rows too many to be seen apart are drawn as one, which has the colour of the job that holds most of it, or is the darker, the more of it is held.";
    write(this.words, `Gantt chart: each bar is a job${lanes(run, this.order.value)}.${isDense ? dense : ""}`);
    const { from, until } = gantt.view;
    this.canvas.setAttribute("aria-label", `Gantt chart of ${run.jobs} jobs, from time ${run.clock.at(from)} to ${
      run.clock.at(until)}. The lists have the same jobs as text.`);
  }

  /** Moves the line of the current time. @param {number} time @param {number} width */
  mark(time, width) {
    this.time = time;
    const x = this.gantt.x(time);
    this.line.style.transform = `translateX(${x}px)`;
    this.line.hidden = x < PAD - 1 || x > width - PAD + 1;
  }
}
