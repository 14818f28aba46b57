// Tables of running and waiting jobs.

import { make, write } from "./elements.js";
import { number } from "./paint.js";
import { COLOURS } from "./run.js";

/**
 * A job in a list, with the cells after its number.
 * @typedef {{ job: number, look?: number, cells: string[] }} Line
 */

/** A table of jobs, whose rows are created once and then reused. */
export class JobList {
  /**
   * @param {string} title
   * @param {string[]} columns
   * @param {(job: number) => void} [pick] Is told which job somebody chooses; without it none can be.
   */
  constructor(title, columns, pick) {
    this.title = title;
    this.pick = pick;
    this.columns = columns.length;
    /** @type {any[]} */
    this.rows = [];
    this.heading = make("caption");
    this.heads = columns.map((column) => make("th", { scope: "col" }, column));
    this.body = make("tbody");
    this.more = make("p", { class: "m-more" });
    this.table = make("table", {}, this.heading, make("thead", {}, make("tr", {}, ...this.heads)), this.body);
    this.box = make("div", { class: "m-list" }, this.table, this.more);
  }

  row() {
    const swatch = make("span", { class: "m-swatch", "aria-hidden": "true" });
    const name = make("span");
    const outer = this.pick ? make("button", { type: "button" }, swatch, name) : make("span", {}, swatch, name);
    const cells = Array.from({ length: this.columns - 1 }, () => make("td"));
    const line = { swatch, name, outer, cells, job: -1, element: make("tr", {}, make("th", { scope: "row" }, outer), ...cells) };
    if (this.pick) outer.addEventListener("click", () => this.pick(line.job));
    this.rows.push(line);
    this.body.append(line.element);
  }

  /**
   * @param {import("./run.js").Run} run
   * @param {number} chosen
   * @param {number} count How many jobs there are,
   * @param {Line[]} jobs of which these are listed.
   */
  fill(run, chosen, count, jobs) {
    write(this.heading, `${this.title}: ${number(count)}`);
    this.table.classList.toggle("m-none", jobs.length === 0);
    while (this.rows.length < jobs.length) this.row();
    // A column without any value, such as unknown ends of a run in progress, is hidden.
    const isEmpty = this.heads.map((_, k) => k > 0 && jobs.length > 0 && jobs.every(({ cells }) => !cells[k - 1]));
    this.heads.forEach((head, k) => (head.hidden = isEmpty[k]));
    this.rows.forEach((line, i) => {
      const one = jobs[i];
      if (line.element.hidden !== !one) line.element.hidden = !one;
      if (!one) return;
      line.job = one.job;
      write(line.name, String(run.number[one.job]));
      line.swatch.hidden = one.look === undefined;
      line.swatch.className = `m-swatch m-look-${(one.look || 0) % COLOURS} m-pattern-${Math.floor((one.look || 0) / COLOURS)}`;
      const isChosen = String(one.job === chosen);
      if (this.pick && line.outer.getAttribute("aria-pressed") !== isChosen) line.outer.setAttribute("aria-pressed", isChosen);
      one.cells.forEach((text, k) => write(line.cells[k], text));
      line.cells.forEach((cell, k) => (cell.hidden = isEmpty[k + 1]));
    });
    write(this.more, count > jobs.length ? `and ${number(count - jobs.length)} more` : "");
  }
}
