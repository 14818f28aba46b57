// Playback controls: buttons, speed, a slider, and the plots below it, which can be dragged too.

import { button, drag, icon, make } from "./elements.js";
import { PAD, drawPlots } from "./plots.js";
import { units } from "./words.js";

const STEPS = 100000; // positions of the slider
const PACES = [1, 4, 20, 100, 500]; // instants per second

export class Controls {
  /**
   * @param {{ seek: (where: "first" | "last") => void, step: (direction: number) => void, toggle: () => void,
   *   share: (share: number) => void }} listener
   */
  constructor(listener) {
    this.first = button(icon("M2 2h2v10H2zM12 2v10L5 7z"), "To the beginning", () => listener.seek("first"));
    this.back = button(icon("M11 2v10L3 7z"), "To the event before (left arrow)", () => listener.step(-1));
    this.playing = button("", "", () => listener.toggle());
    this.on = button(icon("M3 2l8 5-8 5z"), "To the next event (right arrow)", () => listener.step(1));
    this.last = button(icon("M2 2l7 5-7 5zM10 2h2v10h-2z"), "To the end", () => listener.seek("last"));
    this.playing.className = "m-play";
    this.pace = make("select", { "aria-label": "How fast it plays" },
      ...PACES.map((pace) => make("option", { value: pace }, `${pace} ${pace === 1 ? "event" : "events"} a second`)));
    this.slider = make("input", {
      type: "range", min: 0, max: STEPS, step: 1, "aria-label": "Time of the run",
      oninput: () => listener.share(Number(this.slider.value) / STEPS),
    });
    this.group = make("div", { class: "m-controls", role: "group", "aria-label": "Play the run" },
      this.first, this.back, this.playing, this.on, this.last, this.pace);
    this.plots = make("canvas", { role: "img" });
    this.line = make("div", { class: "m-line" });
    this.seen = make("div", { class: "m-seen" });
    this.box = make("div", { class: "m-time" }, this.group, this.slider,
      make("div", { class: "m-plots" }, this.plots, this.seen, this.line));
    /** @type {import("./run.js").Run} */
    this.run = /** @type {any} */ (null);
    this.width = 0;
    drag(this.plots, (x) => listener.share((x - PAD) / (this.width - 2 * PAD)));
  }

  /** What does not change with the time. @param {import("./run.js").Run} run @param {any} theme @param {number} width */
  draw(run, theme, width) {
    this.run = run;
    this.width = width;
    drawPlots(this.plots, run, theme, width);
    this.plots.setAttribute("aria-label", `Over the time of the run, the ${units(run)} held, of ${run.processors
    }, and the number of jobs that wait, at most ${run.mostWaiting}.`);
  }

  // Position of a time on the axis of the slider.
  x(/** @type {number} */ time) {
    const { from, until } = this.run.recording;
    return PAD + (until > from ? (time - from) / (until - from) : 0) * Math.floor(this.width - 2 * PAD);
  }

  /** Marks the current time, and the part that the chart shows. @param {any} moment @param {{ from: number, until: number }} view */
  mark(moment, view) {
    const { recording, clock, processors } = this.run;
    const { from, until } = recording;
    const place = until > from ? Math.round(((moment.time - from) / (until - from)) * STEPS) : 0;
    if (Number(this.slider.value) !== place) this.slider.value = place;
    this.slider.setAttribute("aria-valuetext", `time ${clock.at(moment.time)}, ${moment.held} of ${processors} ${units(this.run)} held`);
    this.line.style.transform = `translateX(${this.x(moment.time)}px)`;
    this.seen.hidden = view.from <= from && view.until >= until;
    this.seen.style.transform = `translateX(${this.x(view.from)}px)`;
    this.seen.style.width = `${Math.max(2, this.x(view.until) - this.x(view.from))}px`;
  }

  /** Whether it plays. */
  label(/** @type {boolean} */ isPlaying) {
    const text = isPlaying ? "Pause" : "Play";
    if (this.playing.textContent.trim() === text) return;
    this.playing.replaceChildren(icon(isPlaying ? "M3 2h3v10H3zM8 2h3v10H8z" : "M3 2l8 5-8 5z"), ` ${text}`);
    this.playing.title = `${text} (space)`;
    this.playing.setAttribute("aria-label", this.playing.title);
  }
}
