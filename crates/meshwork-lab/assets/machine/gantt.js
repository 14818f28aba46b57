// The Gantt chart: every stay of every job as a bar over time.
//
// Where processors have one natural order, a bar lies on the processors that it holds. Elsewhere a job takes the lowest
// lane that is free when it begins; lanes are no processors.

import { fill, sized } from "./paint.js";
import { PAD, drawAxis } from "./plots.js";
import { lasting, upTo } from "./run.js";

const AXIS = 18;
const HEADING = 13;
const GAP = 6;

export class Gantt {
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
    const laneOf = new Map();
    const ends = [];
    const order = Array.from({ length: run.stays }, (_, s) => s).sort((a, b) => run.to[a] - run.to[b]);
    let next = 0;
    for (let s = 0; s < run.stays; s += 1) {
      for (; next < order.length && run.to[order[next]] <= run.from[s]; next += 1) ends.push(order[next]);
      for (const over of ends.splice(0)) {
        const job = run.who[over];
        if (run.finish[job] === run.to[over] && laneOf.has(job)) {
          push(free[run.where[over]], laneOf.get(job));
          laneOf.delete(job);
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

  // Moves on so that a time is seen.
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

  // Where the bands of the sites lie, in so much height.
  place(height) {
    const heading = this.bands.length > 1 ? HEADING : 0;
    const room = height - AXIS - this.bands.length * (heading + GAP);
    const all = this.bands.reduce((sum, band) => sum + Math.sqrt(band.lanes), 0);
    let y = 0;
    for (const band of this.bands) {
      band.top = y + heading;
      const most = band.ordered ? Infinity : band.lanes * 22;
      band.height = Math.min(Math.max(12, (room * Math.sqrt(band.lanes)) / all), most);
      y = band.top + band.height + GAP;
    }
    return y - GAP + AXIS;
  }

  draw(canvas, theme, width, height, chosen) {
    this.width = width;
    const used = this.place(height);
    const context = sized(canvas, width, used);
    this.rects = [];
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
      this.bands.forEach((band, i) => context.fillText(`site ${i + 1}: ${band.site.words}`, PAD, band.top - 6));
    }
    drawAxis(context, theme, this.view.from, this.view.until, (time) => this.x(time), used - AXIS, width);
  }

  drawBars(context, theme, chosen) {
    const { run, view } = this;
    const count = upTo(run.from, view.until, run.stays);
    const names = [];
    const edged = [];
    lasting(run.to, run.lastStays, count, view.from, (s) => {
      const job = run.who[s];
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
      return false;
    });
    context.lineWidth = 1;
    for (const [x, y, width, height, s] of edged) {
      const job = run.who[s];
      const isChosen = job === chosen;
      context.strokeStyle = isChosen ? theme.chosen : theme.edge;
      context.globalAlpha = isChosen ? 1 : 0.55;
      context.lineWidth = isChosen ? 2 : 1;
      context.beginPath();
      // Where a job is only moved, its bar goes on.
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
    context.fillStyle = theme.label;
    context.textAlign = "center";
    for (const [text, x, y, width, height, job] of names) {
      context.globalAlpha = chosen >= 0 && job !== chosen ? 0.5 : 1;
      context.fillText(text, x + width / 2, y + height / 2 + 0.5);
    }
    context.globalAlpha = 1;
  }

  // From its arrival until its start a chosen job is a line, where its bar begins.
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
      const [left, top, width, height, job] = this.rects[i];
      if (x >= left - 1 && x <= left + width + 1 && y >= top && y <= top + height) return job;
    }
    return -1;
  }
}
// A heap of numbers, the lowest on top.
export function push(heap, number) {
  let at = heap.push(number) - 1;
  while (at > 0 && heap[(at - 1) >> 1] > number) {
    heap[at] = heap[(at - 1) >> 1];
    at = (at - 1) >> 1;
  }
  heap[at] = number;
}

export function pop(heap) {
  const lowest = heap[0];
  const last = heap.pop();
  if (heap.length === 0) return lowest;
  let at = 0;
  for (;;) {
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
