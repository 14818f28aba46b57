// The map of one site: every processor in the look of its job.

import { fill, sized } from "./paint.js";
import { COLOURS } from "./run.js";

// Values of cells without a job: a free processor, blank, a processor out of service.
const [FREE, NOTHING, OUT] = [-1, -2, -3];

export class SiteMap {
  /** @type {import("./run.js").Run} */ run;
  /** @type {number} */ site;
  /** @type {HTMLCanvasElement} */ canvas;

  constructor(run, site, canvas) {
    Object.assign(this, { run, site, canvas });
    this.holder = new Int32Array(run.sites[site].nodes);
    /** @type {any} The place that a job waits for, if it is drawn. */
    this.place = null;
    const { shared, kinds } = run.sites[site];
    /** Kind by which nodes that jobs share are filled. */
    this.kind = shared ? kinds[0] : "";
    /** @type {{ s: number, share: number }[][]} Who holds which share of each node, if jobs share nodes. */
    this.shares = [];
  }

  // The stay that holds each processor, or a marker for none.
  hold(moment) {
    this.holder.fill(FREE);
    for (const { site, node } of moment.down) if (site === this.site) this.holder[node] = OUT;
    for (const s of moment.running) {
      if (this.run.where[s] === this.site) {
        this.run.rowsOf(s, (first, count) => this.holder.fill(s, first, first + count));
      }
    }
    if (this.kind) this.share(moment);
  }

  // The share that each job holds of each node; the holder of a node is who has most of it.
  share(moment) {
    const { run, site, kind, holder } = this;
    this.shares = Array.from(holder, () => []);
    for (const s of moment.running) {
      if (run.where[s] !== site) continue;
      run.partsOf(s, (node, amounts) => {
        const has = run.capacity(site, node, kind);
        const [share, last] = [has > 0 ? amounts[kind] / has : 0, this.shares[node].at(-1)];
        if (last?.s === s) last.share += share;
        else this.shares[node].push({ s, share });
      });
    }
    this.shares.forEach((shares, node) => {
      if (shares.length > 0) holder[node] = shares.reduce((a, b) => (b.share > a.share ? b : a)).s;
    });
  }

  draw(layout, moment, chosen, theme) {
    this.paint(sized(this.canvas, layout.width, layout.height), layout, moment, chosen, theme);
  }

  // Draws onto a canvas or a sheet of SVG.
  paint(context, layout, moment, chosen, theme) {
    this.layout = layout;
    this.hold(moment);
    this.marks = this.marked(moment);
    for (const pane of layout.panes) {
      if (this.kind && layout.cell >= 3) this.drawShares(context, pane, chosen, theme);
      else if (layout.cell >= 1) this.drawPane(context, pane, chosen, theme);
      else this.drawDots(context, pane, chosen, theme);
    }
    context.fillStyle = theme.soft;
    for (const label of layout.labels) {
      context.textAlign = label.align;
      context.fillText(label.text, label.x, label.y);
    }
  }

  drawPane(context, pane, chosen, theme) {
    const { cell } = this.layout;
    context.fillStyle = theme.free;
    const whole = this.rectangles(pane);
    const line = cell >= 12 ? 2 : cell >= 5 ? 1 : 0;
    for (const { s, x, y, columns, rows } of whole) {
      const [left, top] = [pane.x + x * cell, pane.y + y * cell];
      if (s >= 0) fill(context, theme, this.run.look[this.run.who[s]], left, top, columns * cell, rows * cell);
      else {
        context.fillStyle = s === OUT ? theme.down : theme.free;
        context.fillRect(left, top, columns * cell, rows * cell);
      }
    }
    this.drawOut(context, pane, theme);
    this.drawMarks(context, pane, theme);
    if (cell >= 5) this.drawGrid(context, pane, theme);
    this.drawEdges(context, pane, theme, line);
    this.drawPartitions(context, pane, theme);
    if (pane.hasSwitches) this.drawSwitches(context, pane, theme);
    if (chosen >= 0) this.drawChosen(context, pane, chosen, theme);
    if (this.place?.site === this.site) this.drawPlace(context, pane, theme);
    this.drawNames(context, pane, whole, theme);
  }

  // Draws every node as a square that its jobs fill from below, each by its share of the kind.
  drawShares(context, pane, chosen, theme) {
    const { run, site, kind } = this;
    const { cell } = this.layout;
    const gap = cell >= 12 ? 1.5 : 0.5;
    for (let y = 0; y < pane.rows; y += 1) {
      for (let x = 0; x < pane.columns; x += 1) {
        const node = pane.node(x, y);
        if (node < 0) continue;
        const [left, top, side] = [pane.x + x * cell + gap, pane.y + y * cell + gap, cell - 2 * gap];
        const capacity = run.capacity(site, node, kind);
        context.fillStyle = this.holder[node] === OUT ? theme.down : theme.free;
        // A node that has nothing of the kind is a line.
        if (capacity > 0) context.fillRect(left, top, side, side);
        else context.fillRect(left, top + side - 1, side, 1);
        let bottom = top + side;
        for (const { s, share } of this.shares[node]) {
          const height = share * side;
          if (!(height > 0)) continue;
          bottom -= height;
          context.globalAlpha = chosen >= 0 && run.who[s] !== chosen ? 0.35 : 1;
          fill(context, theme, run.look[run.who[s]], left, bottom, side, height);
          context.globalAlpha = 1;
          if (cell >= 12) this.drawShare(context, s, [left, bottom, side, height], theme);
        }
        const failed = kind === "gpu" ? (this.marks.gpus.get(node) ?? 0) : 0;
        if (failed > 0) this.drawFailed(context, [left, top, side], failed / capacity, theme);
        if (cell >= 20 && capacity > 1 && capacity <= 16) this.drawUnits(context, [left, top, side], capacity, theme);
        const holds = chosen >= 0 && this.shares[node].some(({ s }) => run.who[s] === chosen);
        context.strokeStyle = holds ? theme.chosen : theme.soft;
        context.lineWidth = holds ? 2 : 1;
        context.globalAlpha = holds ? 1 : 0.4;
        if (cell >= 5) context.strokeRect(left, top, side, side);
        context.globalAlpha = 1;
      }
    }
    this.drawOut(context, pane, theme);
    this.drawMarks(context, pane, theme);
    this.drawPartitions(context, pane, theme);
    if (pane.hasSwitches) this.drawSwitches(context, pane, theme);
  }

  // Draws the upper edge of a share, and the number of its job if it fits.
  drawShare(context, s, [left, top, width, height], theme) {
    context.fillStyle = theme.edge;
    context.fillRect(left, top, width, 1);
    const text = String(this.run.number[this.run.who[s]]);
    if (text.length * 6 + 4 > width || height < 11) return;
    context.fillStyle = theme.label;
    context.textAlign = "center";
    context.fillText(text, left + width / 2, top + height / 2 + 0.5);
  }

  // Draws the share of failed GPUs at the top of a node, crossed out.
  drawFailed(context, [left, top, side], share, theme) {
    context.fillStyle = theme.down;
    context.fillRect(left, top, side, share * side);
    context.strokeStyle = theme.label;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(left, top);
    context.lineTo(left + side, top + share * side);
    context.moveTo(left, top + share * side);
    context.lineTo(left + side, top);
    context.stroke();
  }

  // Draws marks at the left of a node, one for each unit of the kind.
  drawUnits(context, [left, top, side], count, theme) {
    context.fillStyle = theme.soft;
    for (let unit = 1; unit < count; unit += 1) context.fillRect(left, top + (side * unit) / count, 3, 1);
  }

  holderAt(pane, x, y) {
    if (x < 0 || y < 0 || x >= pane.columns || y >= pane.rows) return NOTHING;
    const node = pane.node(x, y);
    return node < 0 ? NOTHING : this.holder[node];
  }

  // Splits a pane into rectangles with one holder each: parts of rows, merged with equal parts of rows above.
  rectangles(pane) {
    const done = [];
    let open = [];
    for (let y = 0; y < pane.rows; y += 1) {
      const row = [];
      for (let x = 0; x < pane.columns; ) {
        const s = this.holderAt(pane, x, y);
        const from = x;
        do x += 1;
        while (x < pane.columns && this.holderAt(pane, x, y) === s);
        if (s !== NOTHING) row.push({ s, x: from, y, columns: x - from, rows: 1 });
      }
      let above = 0;
      for (let i = 0; i < row.length; i += 1) {
        while (above < open.length && open[above].x < row[i].x) above += 1;
        const same = open[above];
        if (same && same.x === row[i].x && same.columns === row[i].columns && same.s === row[i].s) {
          same.rows += 1;
          same.taken = y;
          row[i] = same;
        }
      }
      for (const one of open) if (one.taken !== y) done.push(one);
      open = row;
    }
    return done.concat(open);
  }

  // Draws a cross on every processor out of service, so that colour is not the only sign.
  drawOut(context, pane, theme) {
    const { cell } = this.layout;
    if (cell < 5) return;
    context.strokeStyle = theme.label;
    context.lineWidth = 1;
    context.beginPath();
    const available = cell / 4;
    for (let y = 0; y < pane.rows; y += 1) {
      for (let x = 0; x < pane.columns; x += 1) {
        if (this.holderAt(pane, x, y) !== OUT) continue;
        const [left, top] = [pane.x + x * cell, pane.y + y * cell];
        context.moveTo(left + available, top + available);
        context.lineTo(left + cell - available, top + cell - available);
        context.moveTo(left + cell - available, top + available);
        context.lineTo(left + available, top + cell - available);
      }
    }
    context.stroke();
  }

  // Finds reserved and sleeping processors, failed GPUs of each node, and the members of each partition.
  marked(moment) {
    const { nodes } = this.run.sites[this.site];
    const marks = { reserved: new Uint8Array(nodes), asleep: new Uint8Array(nodes), gpus: new Map(), partitions: new Map() };
    for (const { kind, name, site, first, count } of moment.marked ?? []) {
      if (site !== this.site) continue;
      if (kind === "gpu") marks.gpus.set(first, (marks.gpus.get(first) ?? 0) + 1);
      else if (kind !== "partition") marks[kind].fill(1, first, first + count);
      else {
        if (!marks.partitions.has(name)) marks.partitions.set(name, new Uint8Array(nodes));
        marks.partitions.get(name).fill(1, first, first + count);
      }
    }
    return marks;
  }

  // Draws a stroke on every reserved processor, and a dot on every sleeping one.
  drawMarks(context, pane, theme) {
    const { cell } = this.layout;
    const { reserved, asleep } = this.marks;
    if (cell < 3) return;
    context.strokeStyle = context.fillStyle = theme.waits;
    context.lineWidth = Math.max(1, cell / 10);
    context.beginPath();
    for (let y = 0; y < pane.rows; y += 1) {
      for (let x = 0; x < pane.columns; x += 1) {
        const node = pane.node(x, y);
        const [left, top] = [pane.x + x * cell, pane.y + y * cell];
        if (node >= 0 && reserved[node]) {
          context.moveTo(left + 1, top + cell - 1);
          context.lineTo(left + cell - 1, top + 1);
        }
        if (node >= 0 && asleep[node] && this.holder[node] < 0) context.fillRect(left + cell * 0.38, top + cell * 0.38, cell * 0.24, cell * 0.24);
      }
    }
    context.stroke();
  }

  // Draws a dotted line around every partition that is not the whole site.
  drawPartitions(context, pane, theme) {
    const { cell } = this.layout;
    let which = 0;
    for (const inside of this.marks.partitions.values()) {
      const isIn = (x, y) => {
        const node = x < 0 || y < 0 || x >= pane.columns || y >= pane.rows ? -1 : pane.node(x, y);
        return Number(node >= 0 && inside[node] === 1);
      };
      context.strokeStyle = theme.held;
      context.lineWidth = cell >= 5 ? 2 : 1;
      context.setLineDash([[2, 3], [7, 3], [7, 3, 2, 3], [12, 4]][which % 4]);
      which += 1;
      if (inside.every((own) => own === 1)) continue;
      context.beginPath();
      this.edges(pane, (a, b) => a !== b, (...ends) => {
        context.moveTo(ends[0], ends[1]);
        context.lineTo(ends[2], ends[3]);
      }, isIn);
      context.stroke();
    }
    context.setLineDash([]);
  }

  // Draws a bar left of every row with a switch of its own, and a line that joins the rows of a group.
  drawSwitches(context, pane, theme) {
    const { cell } = this.layout;
    context.fillStyle = theme.held;
    for (let y = 0; y < pane.rows; y += 1) context.fillRect(pane.x - 5, pane.y + y * cell + 1, 3, Math.max(1, cell - 2));
    context.fillRect(pane.x - 6.5, pane.y + 1, 1.5, pane.rows * cell - 2);
  }

  // Draws the outline of the nearest place for a waiting job, and those of the jobs in its way.
  drawPlace(context, pane, theme) {
    const inside = new Set(this.place.nodes), jobs = new Set(this.place.jobs);
    const blocks = (s) => s >= 0 && jobs.has(this.run.who[s]);
    const nodeAt = (x, y) => (x < 0 || y < 0 || x >= pane.columns || y >= pane.rows ? -1 : pane.node(x, y));
    for (const [colour, dashes, at] of [
      [theme.blocker, [], (x, y) => Number(blocks(this.holderAt(pane, x, y)))],
      [theme.chosen, [4, 3], (x, y) => Number(inside.has(nodeAt(x, y)))],
    ]) {
      context.strokeStyle = colour;
      context.lineWidth = 3;
      context.setLineDash(dashes);
      context.beginPath();
      this.edges(pane, (a, b) => a !== b, (...ends) => {
        context.moveTo(ends[0], ends[1]);
        context.lineTo(ends[2], ends[3]);
      }, at);
      context.stroke();
    }
    context.setLineDash([]);
  }

  drawGrid(context, pane, theme) {
    const { cell } = this.layout;
    context.strokeStyle = theme.edge;
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

  // Calls `visit` with the ends of every edge between two cells that `differ`.
  edges(pane, differ, visit, of = (x, y) => this.holderAt(pane, x, y)) {
    const { cell } = this.layout;
    for (let y = 0; y <= pane.rows; y += 1) {
      for (let x = 0; x <= pane.columns; x += 1) {
        const here = of(x, y);
        const [left, top] = [pane.x + x * cell, pane.y + y * cell];
        if (differ(here, of(x - 1, y))) visit(left, top, left, top + cell);
        if (differ(here, of(x, y - 1))) visit(left, top, left + cell, top);
      }
    }
  }

  drawEdges(context, pane, theme, width) {
    if (width === 0) return;
    context.strokeStyle = theme.edge;
    context.lineWidth = width;
    context.lineCap = "square";
    context.beginPath();
    const differ = (a, b) => a !== b && (a >= 0 || b >= 0);
    this.edges(pane, differ, (...ends) => {
      context.moveTo(ends[0], ends[1]);
      context.lineTo(ends[2], ends[3]);
    });
    context.stroke();
    const { cell } = this.layout;
    // Draws a dashed frame at edges that wrap around.
    const isTorus = this.run.sites[this.site].wiring === "torus";
    context.lineWidth = 1;
    context.setLineDash(isTorus ? [3, 3] : []);
    context.strokeRect(pane.x + 0.5, pane.y + 0.5, pane.columns * cell - 1, pane.rows * cell - 1);
    context.setLineDash([]);
  }

  drawChosen(context, pane, chosen, theme) {
    const { cell } = this.layout;
    const is = (s) => s >= 0 && this.run.who[s] === chosen;
    context.fillStyle = theme.ground;
    context.globalAlpha = 0.5;
    for (const { s, x, y, columns, rows } of this.rectangles(pane)) {
      if (!is(s)) context.fillRect(pane.x + x * cell, pane.y + y * cell, columns * cell, rows * cell);
    }
    context.globalAlpha = 1;
    context.strokeStyle = theme.chosen;
    context.lineWidth = Math.max(2, Math.min(3, cell / 5));
    context.beginPath();
    this.edges(pane, (a, b) => is(a) !== is(b), (...ends) => {
      context.moveTo(ends[0], ends[1]);
      context.lineTo(ends[2], ends[3]);
    });
    context.stroke();
  }

  // Writes each job's number once, if it fits.
  drawNames(context, pane, whole, theme) {
    const { cell } = this.layout;
    const largest = new Map();
    for (const one of whole) {
      const known = largest.get(one.s);
      if (one.s >= 0 && (!known || known.columns * known.rows < one.columns * one.rows)) largest.set(one.s, one);
    }
    context.fillStyle = theme.label;
    context.textAlign = "center";
    for (const { s, x, y, columns, rows } of largest.values()) {
      const text = String(this.run.number[this.run.who[s]]);
      const [width, height] = [columns * cell, rows * cell];
      if (text.length * 6 + 4 > width || height < 11) continue;
      context.fillText(text, pane.x + x * cell + width / 2, pane.y + y * cell + height / 2 + 0.5);
    }
  }

  // With more processors than pixels, each pixel shows one of its processors.
  drawDots(context, pane, chosen, theme) {
    const { cell } = this.layout;
    const [width, height] = [Math.ceil(pane.columns * cell), Math.ceil(pane.rows * cell)];
    for (let y = 0; y < height; y += 1) {
      const row = Math.min(pane.rows - 1, Math.floor(y / cell));
      for (let x = 0; x < width; ) {
        const at = (dot) => this.holderAt(pane, Math.min(pane.columns - 1, Math.floor(dot / cell)), row);
        const s = at(x);
        const from = x;
        do x += 1;
        while (x < width && at(x) === s);
        if (s === NOTHING) continue;
        context.fillStyle = s === OUT ? theme.down : s < 0 ? theme.free : theme.jobs[this.run.look[this.run.who[s]] % COLOURS];
        context.globalAlpha = chosen >= 0 && (s < 0 || this.run.who[s] !== chosen) ? 0.4 : 1;
        context.fillRect(pane.x + from, pane.y + y, x - from, 1);
      }
    }
    context.globalAlpha = 1;
  }

  // Returns the job and the node at a point of the canvas, each -1 if there is none.
  at(px, py) {
    const { cell, panes } = this.layout;
    for (const pane of panes) {
      const [x, y] = [Math.floor((px - pane.x) / cell), Math.floor((py - pane.y) / cell)];
      let s = this.holderAt(pane, x, y);
      if (s === NOTHING) continue;
      const node = pane.node(x, y);
      if (this.kind && s >= 0 && cell >= 3) {
        // Shares lie on one another, and what is above them is free.
        let above = 1 - (py - pane.y - y * cell) / cell;
        s = this.shares[node].find(({ share }) => (above -= share) < 0)?.s ?? FREE;
      }
      return { node, job: s < 0 ? -1 : this.run.who[s], isOut: s === OUT };
    }
    return { node: -1, job: -1, isOut: false };
  }
}
