// The Gantt chart: every stay of every job as a bar over time. If there are more lanes than can be distinguished,
// they are merged into rows. A row has the colour of the job that holds most of it; without such a job it is darker
// the more of it is held.

import { Cells, pack } from "./lanes.js";
import { fill, sized } from "./paint.js";
import { PAD, drawAxis } from "./plots.js";
import { COLOURS, lasting, upTo } from "./run.js";

const AXIS = 18;
const HEADING = 13;
const GAP = 6;
/** Minimum height of a lane that can be distinguished from its neighbours. */
const LEGIBLE = 2.5;
/** Height of a row of merged lanes. */
const ROW = 4;

export class Gantt {
  constructor(run, by = "job") {
    this.run = run;
    const { bands, lane, where } = pack(run, by);
    this.bands = bands;
    this.lane = lane;
    /** Band of every stay. */
    this.band = where;
    this.view = { from: run.recording.from, until: run.recording.until };
    this.least = Math.max((this.view.until - this.view.from) / Math.max(50, run.jobs * 4), Number.MIN_VALUE);
    this.width = 0;
    /** @type {number[][]} */
    this.rects = [];
    /** @type {(Cells | null)[]} */
    this.cells = [];
  }

  // Zooms by a factor around a time.
  zoom(factor, around) {
    const { from, until } = this.view;
    const span = Math.max((until - from) * factor, this.least);
    this.show(around - ((around - from) / (until - from || 1)) * span, span);
  }

  pan(time) {
    this.show(this.view.from + time, this.view.until - this.view.from);
  }

  show(from, span) {
    const { recording } = this.run;
    const whole = recording.until - recording.from;
    const wide = Math.min(span, whole);
    const begin = Math.min(Math.max(from, recording.from), recording.until - wide);
    this.view = { from: begin, until: begin + wide };
  }

  // Scrolls until a time is visible.
  follow(time) {
    const { from, until } = this.view;
    if (time >= from && time <= until) return false;
    this.show(time - (until - from) * 0.2, until - from);
    return true;
  }

  x(time, width = this.width) {
    const { from, until } = this.view;
    return PAD + (until > from ? ((time - from) / (until - from)) * (width - 2 * PAD) : 0);
  }

  time(x) {
    const { from, until } = this.view;
    return from + ((x - PAD) / Math.max(1, this.width - 2 * PAD)) * (until - from);
  }

  // Computes the positions of the bands for this height.
  place(height) {
    const heading = this.bands.length > 1 ? HEADING : 0;
    const available = height - AXIS - this.bands.length * (heading + GAP);
    const all = this.bands.reduce((sum, band) => sum + Math.sqrt(band.lanes), 0);
    let y = 0;
    for (const band of this.bands) {
      band.top = y + heading;
      const most = band.ordered ? Infinity : band.lanes * 22;
      band.height = Math.min(Math.max(12, (available * Math.sqrt(band.lanes)) / all), most);
      y = band.top + band.height + GAP;
    }
    return y - GAP + AXIS;
  }

  // Whether a band has more lanes than can be distinguished.
  isDense(band) {
    return band.height / band.lanes < LEGIBLE;
  }

  draw(canvas, theme, width, height, chosen) {
    this.width = width;
    const used = this.place(height);
    const context = sized(canvas, width, used);
    this.rects = [];
    this.cells = this.bands.map(() => null);
    context.save();
    context.beginPath();
    context.rect(PAD, 0, width - 2 * PAD, used);
    context.clip();
    this.bands.forEach((band) => {
      context.fillStyle = theme.free;
      context.fillRect(PAD, band.top, width - 2 * PAD, band.height);
    });
    if (chosen >= 0) this.drawWait(context, theme, chosen);
    this.drawBars(context, theme, chosen);
    context.restore();
    context.fillStyle = theme.ink;
    context.textAlign = "left";
    if (this.bands.length > 1) {
      this.bands.forEach((band) => context.fillText(band.title, PAD, band.top - 6));
    }
    drawAxis(context, theme, this.run.clock, this.view.from, this.view.until, (time) => this.x(time), used - AXIS, width);
  }

  // Calls `visit` with every visible stay, from left to right.
  seen(visit) {
    const { run, view } = this;
    const count = upTo(run.from, view.until, run.stays);
    lasting(run.to, run.lastStays, count, view.from, (s) => {
      visit(s);
      return false;
    });
  }

  drawBars(context, theme, chosen) {
    const { run } = this;
    const names = [];
    const edged = [];
    this.bands.forEach((band, i) => this.isDense(band) && this.drawCells(context, theme, i, chosen));
    this.seen((s) => {
      const job = run.who[s];
      if (this.isDense(this.bands[this.band[s]])) return;
      const left = Math.max(this.x(run.from[s]), 0);
      const right = Math.min(this.x(Math.min(run.to[s], run.recording.until)), this.width);
      const wide = Math.max(right - left, 0.6);
      context.globalAlpha = chosen >= 0 && job !== chosen ? 0.35 : 1;
      this.pieces(s, (top, height) => {
        fill(context, theme, run.look[job], left, top, wide, height);
        if (wide >= 4 && height >= 4) edged.push([left, top, wide, height, s]);
        this.rects.push([left, top, wide, height, job]);
        const text = String(run.number[job]);
        if (height >= 11 && wide > text.length * 6 + 6) names.push([text, left, top, wide, height, job]);
      });
    });
    for (const [x, y, width, height, s] of edged) this.drawEdge(context, theme, chosen, x, y, width, height, s);
    context.fillStyle = theme.label;
    context.textAlign = "center";
    for (const [text, x, y, width, height, job] of names) {
      context.globalAlpha = chosen >= 0 && job !== chosen ? 0.5 : 1;
      context.fillText(text, x + width / 2, y + height / 2 + 0.5);
    }
    context.globalAlpha = 1;
  }

  drawEdge(context, theme, chosen, x, y, width, height, s) {
    const { run } = this;
    const job = run.who[s];
    const isChosen = job === chosen;
    context.strokeStyle = isChosen ? theme.chosen : theme.edge;
    context.globalAlpha = isChosen ? 1 : 0.55;
    context.lineWidth = isChosen ? 2 : 1;
    context.beginPath();
    // The bar of a job that is moved continues without an edge.
    const sides = [run.from[s] === run.start[job] && x + 0.5, run.to[s] === run.finish[job] && x + width - 0.5];
    for (const side of sides) {
      if (side === false) continue;
      context.moveTo(side, y);
      context.lineTo(side, y + height);
    }
    for (const side of [y + 0.5, y + height - 0.5]) {
      context.moveTo(x, side);
      context.lineTo(x + width, side);
    }
    context.stroke();
  }

  // Draws the merged lanes of a band.
  drawCells(context, theme, index, chosen) {
    const { run } = this;
    const band = this.bands[index];
    const columns = Math.max(1, Math.floor(this.width - 2 * PAD));
    const cells = new Cells(band.lanes, Math.max(1, Math.min(band.lanes, Math.floor(band.height / ROW))), columns);
    this.cells[index] = cells;
    const height = band.height / cells.rows;
    const own = [];
    this.seen((s) => {
      if (this.band[s] !== index) return;
      const [left, right] = [this.x(run.from[s]) - PAD, this.x(Math.min(run.to[s], run.recording.until)) - PAD];
      this.lanesOf(s, (first, count) => cells.add(s, first, count, left, right));
      if (run.who[s] === chosen) own.push([s, left, right]);
    });
    cells.visit((row, column, count, s, share) => {
      if (share <= 0) return;
      context.globalAlpha = (chosen >= 0 ? 0.35 : 1) * (s >= 0 ? 1 : 0.12 + 0.78 * share);
      context.fillStyle = s >= 0 ? theme.jobs[run.look[run.who[s]] % COLOURS] : theme.held;
      context.fillRect(PAD + column, band.top + row * height, count, height);
    });
    context.globalAlpha = 1;
    context.fillStyle = theme.chosen;
    const lane = band.height / band.lanes;
    for (const [s, left, right] of own) {
      this.lanesOf(s, (first, count) =>
        context.fillRect(PAD + left, band.top + first * lane, Math.max(1, right - left), Math.max(1.5, count * lane)));
    }
  }

  // Draws the wait of a selected job as a line up to the beginning of its bar.
  drawWait(context, theme, job) {
    const { run } = this;
    const end = Math.min(run.left[job], run.recording.until);
    if (end <= run.submit[job]) return;
    const stays = run.staysOf(job);
    let y = 2;
    if (stays.length > 0) this.pieces(stays[0], (top, height) => { y = top + height / 2; });
    context.strokeStyle = theme.chosen;
    context.lineWidth = 2;
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(this.x(run.submit[job]), y);
    context.lineTo(this.x(end), y);
    context.stroke();
    context.setLineDash([]);
  }

  // Calls `visit` with the first lane and the number of lanes of every piece of a stay.
  lanesOf(s, visit) {
    if (this.bands[this.band[s]].ordered) this.run.rowsOf(s, visit);
    else visit(this.lane[s], 1);
  }

  // Calls `visit` with the top and the height of every piece of a stay.
  pieces(s, visit) {
    const band = this.bands[this.band[s]];
    const lane = band.height / band.lanes;
    this.lanesOf(s, (first, count) => {
      const gap = !band.ordered && lane > 3 ? 1 : 0;
      visit(band.top + first * lane, Math.max(count * lane - gap, 0.6));
    });
  }

  // Returns the job of the bar at a point, or -1. In merged lanes it is the job that holds the lane, or the nearest
  // one.
  at(x, y) {
    const band = this.bands.findIndex(({ top, height }) => y >= top && y <= top + height);
    if (band >= 0 && this.cells?.[band]) return this.inRow(band, x, y).job;
    for (let i = this.rects.length - 1; i >= 0; i -= 1) {
      const [left, top, width, height, job] = this.rects[i];
      if (x >= left - 1 && x <= left + width + 1 && y >= top && y <= top + height) return job;
    }
    return -1;
  }

  // Describes a row of merged lanes at a time: its lanes, how many are held, and the job nearest to a point.
  inRow(index, x, y) {
    const { run } = this;
    const [band, cells, time] = [this.bands[index], this.cells[index], this.time(x)];
    const lane = Math.min(band.lanes - 1, Math.floor(((y - band.top) / band.height) * band.lanes));
    const row = cells.row(lane);
    const [first, end] = [cells.lane(row), cells.lane(row + 1)];
    const found = { first, last: end - 1, held: 0, jobs: 0, job: -1, ordered: band.ordered };
    let nearest = Infinity;
    lasting(run.to, run.lastStays, upTo(run.from, time, run.stays), time, (s) => {
      if (this.band[s] !== index) return false;
      let held = 0;
      this.lanesOf(s, (low, count) => {
        const here = Math.min(low + count, end) - Math.max(low, first);
        if (here <= 0) return;
        held += here;
        const away = lane < low ? low - lane : Math.max(0, lane - (low + count - 1));
        if (away < nearest) [nearest, found.job] = [away, run.who[s]];
      });
      found.held += held;
      if (held > 0) found.jobs += 1;
      return false;
    });
    return found;
  }

  // Text for the row of merged lanes at a point, else an empty one.
  rowWords(x, y) {
    const band = this.bands.findIndex(({ top, height }) => y >= top && y <= top + height);
    if (band < 0 || !this.cells?.[band]) return "";
    const { first, last, held, jobs, ordered } = this.inRow(band, x, y);
    const which = `${ordered ? "processor" : "lane"}${last > first ? "s" : ""} ${first}${last > first ? `–${last}` : ""}`;
    return `${which}: ${held} of ${last - first + 1} held${jobs > 1 ? `, by ${jobs} jobs` : ""}`;
  }
}
