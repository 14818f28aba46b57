"use strict";
(() => {
  // plot/dates.js
  var DAY = 86400;
  var STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY, 2 * DAY, 7 * DAY, 14 * DAY];
  var MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6e3];
  var MONTH = 30.436875 * DAY;
  var MONDAY = 4 * DAY;
  var full = (second) => new Date(second * 1e3).toISOString().slice(0, 19).replace("T", " ");
  var isWritten = (second) => second >= -62167219200 && second < 253402300800;
  var dateOf = (dates, at3) => full(Math.round(dates.start + at3 * dates.seconds));
  function dateTicks({ seconds, start }, from, until, about) {
    const [first2, last] = [start + from * seconds, start + until * seconds];
    if (!(last > first2) || !isWritten(first2) || !isWritten(last)) return [];
    const raw = (last - first2) / Math.max(1, about) * 0.999;
    const found = (second, text2) => ({ at: (second - start) / seconds, text: text2 });
    const ticks2 = [];
    const step = STEPS.find((step2) => step2 >= raw);
    if (step !== void 0) {
      const shift = step % (7 * DAY) === 0 ? MONDAY : 0;
      for (let k = Math.ceil((first2 - shift) / step - 1e-9); k * step + shift <= last + step * 1e-9; k += 1) {
        const second = k * step + shift;
        ticks2.push(found(second, written(second, step)));
      }
      return ticks2;
    }
    const months = MONTHS.find((months2) => months2 * MONTH >= raw) ?? 12e3;
    const year = Number(full(first2).slice(0, 4)), month = Number(full(first2).slice(5, 7));
    for (let k = Math.floor((year * 12 + month - 1) / months); ; k += 1) {
      const second = Date.UTC(2e3, k * months - 24e3, 1) / 1e3;
      if (second > last) return ticks2;
      if (second >= first2) ticks2.push(found(second, full(second).slice(0, months % 12 === 0 ? 4 : 7)));
    }
  }
  function written(second, step) {
    const text2 = full(second);
    if (step >= DAY) return text2.slice(0, 10);
    const clock = step % 60 === 0 ? text2.slice(11, 16) : text2.slice(11);
    return /^00:00(:00)?$/.test(clock) ? text2.slice(5, 10) : clock;
  }

  // machine/clock.js
  var SECONDS = { seconds: 1, minutes: 60, hours: 3600, days: 86400 };
  var STEPS2 = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200].concat([1, 2, 5, 7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650].map((days) => days * 86400));
  var pad = (count) => String(count).padStart(2, "0");
  var Clock = class {
    /**
     * Clock of a run, as in `src/findings/clock.rs`: `t / factor` is a time in `unit`s, and 0 is `start.unix` seconds
     * after the beginning of 1970, in the time zone `start.zone`, `start.offset` seconds ahead of UTC.
     * @param {{ unit?: string | null, factor?: number, start?: { unix: number, offset?: number, zone?: string } }} [clock]
     */
    constructor(clock = {}) {
      this.seconds = clock.unit ? SECONDS[clock.unit] / (clock.factor || 1) : void 0;
      this.start = this.seconds && clock.start ? (clock.start.unix + (clock.start.offset ?? 0)) * 1e3 : null;
      this.zone = ` ${clock.start?.zone ?? "UTC"}`;
    }
    /** An instant, in full: `2001-02-03 04:05:06`, `day 3, 04:05:06`, `12.5`. */
    at(time) {
      if (!this.seconds || !Number.isFinite(time)) return number(time);
      if (this.start !== null) {
        const date = new Date(this.start + Math.round(time * this.seconds) * 1e3);
        if (Number.isFinite(date.getTime())) return date.toISOString().slice(0, 19).replace("T", " ");
      }
      const all = Math.round(time * this.seconds);
      const rest = (all % 86400 + 86400) % 86400;
      return `day ${number(Math.floor(all / 86400))}, ${pad(Math.floor(rest / 3600))}:${pad(Math.floor(rest / 60) % 60)}:${pad(rest % 60)}`;
    }
    /** An instant at the beginning of a sentence. */
    words(time) {
      const text2 = this.at(time);
      if (this.start !== null) return text2 + this.zone;
      return this.seconds ? text2[0].toUpperCase() + text2.slice(1) : `Time ${text2}`;
    }
    /** An instant in short form: without year and seconds. */
    short(time) {
      if (!this.seconds || !Number.isFinite(time)) return short(time);
      const text2 = this.at(time);
      return this.start === null ? text2.slice(0, -3).replace("day ", "d") : text2.slice(5, 16);
    }
    /** A duration: `4 h 05 min`, `3 d 2 h`, `12.5`. */
    span(time) {
      if (!this.seconds || !Number.isFinite(time)) return number(time);
      const all = time * this.seconds;
      if (Math.abs(all) < 120) return `${number(all)} s`;
      const minutes = Math.round(all / 60);
      if (minutes < 120) return `${minutes} min`;
      if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} min`;
      return `${number(Math.floor(minutes / 1440))} d ${Math.floor(minutes % 1440 / 60)} h`;
    }
    /** Round instants of an axis, about this many, with their labels. @returns {{ time: number, text: string }[]} */
    ticks(from, until, about) {
      if (!this.seconds || !(until > from)) return ticks(from, until, about).map((time) => ({ time, text: number(time) }));
      const { seconds } = this;
      const dated = this.start === null ? [] : dateTicks({ seconds, start: this.start / 1e3 }, from, until, about);
      if (dated.length > 0) return dated.map(({ at: at3, text: text2 }) => ({ time: at3, text: text2 }));
      const raw = (until - from) * seconds / Math.max(1, about);
      const step = STEPS2.find((step2) => step2 >= raw * 0.999) ?? STEPS2[STEPS2.length - 1] * Math.ceil(raw / STEPS2[STEPS2.length - 1]);
      const found = [];
      for (let k = Math.ceil(from * seconds / step - 1e-9); k * step <= until * seconds * (1 + 1e-12); k += 1) {
        const time = k * step / seconds;
        found.push({ time, text: this.mark(time, step) });
      }
      return found;
    }
    mark(time, step) {
      const text2 = this.at(time);
      const day = text2.replace(/,[^,]*$/, "");
      if (step >= 86400) return day;
      const clock = step % 60 === 0 ? text2.slice(-8, -3) : text2.slice(-8);
      return clock.startsWith("00:00") && step >= 60 ? day : clock;
    }
  };

  // machine/run.js
  var [ARRIVED, REFUSED, TURNED_AWAY, STARTED, MOVED, FINISHED, INTERRUPTED, DOWN, UP] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  var ARRAYS = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array };
  var CHUNK = 256;
  var KINDS = ["gpu", "cpu", "mem", "other"];
  var COLOURS = 8;
  var LOOKS = 3 * COLOURS;
  async function inflated(base64) {
    if (typeof DecompressionStream === "undefined") {
      throw new Error("This browser cannot unpack the recording: it is too old for that.");
    }
    const text2 = atob(base64);
    const packed = new Uint8Array(text2.length);
    for (let i = 0; i < text2.length; i += 1) packed[i] = text2.charCodeAt(i);
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
    // Columns of the recording.
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
    /** @type {Uint32Array | undefined} Of each placement, where jobs share nodes, how many parts it has, */
    parts;
    /** @type {Uint32Array | undefined} of each part the node, */
    part_node;
    /** @type {Uint32Array | undefined} cores, */
    part_cpu;
    /** @type {Uint32Array | undefined} memory, */
    part_mem;
    /** @type {Uint32Array | undefined} thousandths of GPUs */
    part_gpu;
    /** @type {Uint32Array | undefined} and what else is counted */
    part_other;
    /** @type {Uint32Array | undefined} How many answers changed by the end of each instant, */
    answers;
    /** @type {Uint32Array | undefined} to which request, */
    answered;
    /** @type {Uint8Array | undefined} and what they are */
    answer;
    /** @type {Uint32Array | undefined} Which nodes slept, */
    asleep_node;
    /** @type {Uint32Array | undefined} of which site, */
    asleep_site;
    /** @type {Float64Array | undefined} from when */
    asleep_from;
    /** @type {Float64Array | undefined} until when */
    asleep_until;
    // Derived by `play`.
    /** @type {Float64Array} when a job joined the queue, */
    submit;
    /** @type {Float64Array} left it for the last time, */
    left;
    /** @type {Float64Array} first began to run, */
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
    /** @type {Uint32Array} the first block */
    firstBlock;
    /** @type {Uint32Array} and the first part */
    firstPart;
    /** @type {Uint32Array | undefined} who submitted it, where somebody is known */
    user;
    /** @type {Uint32Array | undefined} its partition, where one is known */
    partition;
    /** @type {Uint32Array} how many processors it is, or cores where jobs share nodes */
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
    /** @type {{ site: number, node: number, from: number, to: number }[]} nodes that were out of service, in order of time */
    outages;
    /** @type {Set<number>} stays that an outage ended */
    broken;
    constructor(recording, columns2, looks2 = /* @__PURE__ */ new Map()) {
      Object.assign(this, columns2);
      this.recording = recording;
      this.isLive = false;
      this.isOver = false;
      this.clock = new Clock(recording.clock);
      this.sites = recording.sites;
      this.asked = recording.asked;
      this.shapes = recording.shapes;
      this.jobs = this.number.length;
      this.processors = 0;
      for (const site of this.sites) {
        site.nodes = site.sides.reduce((product, side) => product * side, 1);
        site.strides = [];
        site.sides.reduce((stride, side) => (site.strides.push(stride), stride * side), 1);
        site.amount = site.nodes;
        if (site.shared) {
          site.typeOf = new Uint16Array(site.nodes);
          let node = 0;
          for (const [count, type] of site.shared.of) site.typeOf.fill(type, node, node += count);
          site.kinds = KINDS.filter((kind) => site.shared.types.some((type) => type[kind] > 0));
          site.amount = site.shared.of.reduce((sum, [count, type]) => sum + count * site.shared.types[type].cpu, 0);
        }
        this.processors += site.amount;
      }
      this.isShared = this.sites.some((site) => site.shared);
      this.shapeNodes = this.shapes.map((sides) => sides.reduce((a, b) => a * b, 1));
      this.told = this.answersTold();
      this.marked = [...recording.marked ?? [], ...this.sleeps()];
      for (
        const name2 of
        /** @type {const} */
        ["user", "partition"]
      ) if (this[name2]?.length === 0) this[name2] = void 0;
      this.play(looks2);
      this.own = this.look;
      this.lastStays = lastEnds(this.to, this.stays);
      this.lastWaits = lastEnds(this.left, this.jobs);
    }
    // Spans during which nodes slept.
    sleeps() {
      const { asleep_node: nodes = [], asleep_site: sites = [], asleep_from: from = [], asleep_until: until = [] } = this;
      return Array.from(nodes, (first2, i) => ({ kind: "asleep", name: "", site: sites[i], first: first2, count: 1, from: from[i], until: until[i] }));
    }
    // For each request, the instants at which its answer changed, and the answers.
    answersTold() {
      const told3 = this.asked.map(() => ({ instants: [], answers: [] }));
      const { answers = [], answered = [], answer = [] } = this;
      let next2 = 0;
      for (let i = 0; i < answers.length; i += 1) {
        for (const last = next2 + answers[i]; next2 < last; next2 += 1) {
          const { instants, answers: given } = told3[answered[next2]];
          instants.push(i);
          given.push(answer[next2]);
        }
      }
      return told3;
    }
    /**
     * Cause of a job's wait at a time: "nodes" if too few are free, "shape" if they do not have the required shape,
     * else "priority" or "reserved"; null if it does not wait, or the cause was not recorded.
     * @param {number} job
     * @param {number} time
     * @returns {"nodes" | "shape" | "priority" | "reserved" | null}
     */
    waitsFor(job, time) {
      const { held_up: heldUp, answers_until: known } = this.recording;
      const waits = this.submit[job] <= time && time < this.left[job] && !this.runsAt(job, time);
      if (!waits || !heldUp || known !== null && known !== void 0 && time > known) return null;
      const { instants, answers } = this.told[this.request[job]];
      const last = upTo(instants, upTo(this.at, time, this.at.length) - 1, instants.length) - 1;
      return last < 0 ? null : ["nodes", "shape", heldUp][answers[last]];
    }
    // Processes all events once.
    play(known = /* @__PURE__ */ new Map()) {
      const most = this.blocks.length;
      Object.assign(this, {
        submit: new Float64Array(this.jobs),
        // when a job joined the queue,
        left: new Float64Array(this.jobs).fill(Infinity),
        // left it for the last time,
        start: new Float64Array(this.jobs).fill(Infinity),
        // first began to run,
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
        // the first block
        firstPart: new Uint32Array(most + 1),
        // and the first part
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
        mostWaiting: 0,
        outages: [],
        broken: /* @__PURE__ */ new Set()
      });
      const down = /* @__PURE__ */ new Map();
      const stay = new Int32Array(this.jobs).fill(-1);
      const users = new Uint32Array(LOOKS);
      let [event, starts, block, part, nextLook] = [0, 0, 0, 0, 0];
      let [held, waits, runs, notServed] = [0, 0, 0, 0];
      const begin = (job, site, time) => {
        const s = this.stays;
        this.stays += 1;
        stay[job] = s;
        [this.who[s], this.where[s], this.from[s], this.firstBlock[s]] = [job, site, time, block];
        const end2 = block + this.blocks[s];
        const isPart = this.sites[site].shared;
        for (; block < end2; block += 1) if (!isPart) this.heldBy[s] += this.shapeNodes[this.shape[block]];
        this.firstBlock[s + 1] = block;
        this.firstPart[s] = part;
        for (const last = part + (this.parts?.[s] ?? 0); part < last; part += 1) this.heldBy[s] += this.part_cpu[part];
        this.firstPart[s + 1] = part;
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
              this.left[job] = time;
              this.start[job] = Math.min(this.start[job], time);
              let look3 = known.get(this.number[job]) ?? nextLook;
              for (let k = 0; k < LOOKS && !known.has(this.number[job]); k += 1) {
                const other = (nextLook + k) % LOOKS;
                if (users[other] < users[look3]) look3 = other;
              }
              users[look3] += 1;
              nextLook = (look3 + 1) % LOOKS;
              this.look[job] = look3;
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
            case INTERRUPTED:
              this.left[job] = Infinity;
              this.broken.add(stay[job]);
              end(job, time);
              users[this.look[job]] -= 1;
              runs -= 1;
              waits += 1;
              break;
            case DOWN:
            case UP: {
              const site = this.site[starts];
              starts += 1;
              const key = `${site} ${job}`;
              if (this.kind[event] === DOWN) {
                down.set(key, this.outages.length);
                this.outages.push({ site, node: job, from: time, to: Infinity });
              } else if (down.has(key)) {
                this.outages[down.get(key)].to = time;
                down.delete(key);
              }
              break;
            }
          }
        }
        this.mostWaiting = Math.max(this.mostWaiting, waits);
        [this.held[i], this.waits[i]] = [held, waits];
        [this.runs[i], this.notServed[i]] = [runs, notServed];
      }
    }
    // State at a time: stays in order of starts, and the first waiting jobs in order of arrival.
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
        const runs = new Set(running.map((s) => this.who[s]));
        lasting(this.left, this.lastWaits, count, time, (job) => !runs.has(job) && waiting.push(job) >= mostWaiting);
      }
      const down = this.outages.filter(({ from, to }) => from <= time && time < to);
      return {
        time,
        instant,
        running,
        waiting,
        down,
        out: down.reduce((sum, { site, node }) => sum + this.capacity(site, node), 0),
        marked: this.marked.filter((own) => (own.from ?? -Infinity) <= time && time < (own.until ?? Infinity)),
        held: of(this.held),
        waits: of(this.waits),
        runs: of(this.runs),
        notServed: of(this.notServed)
      };
    }
    // How much of a kind a node has; a node that nobody shares is a processor.
    capacity(site, node, kind = "cpu") {
      const { shared, typeOf } = this.sites[site];
      return shared ? shared.types[typeOf[node]][kind] : 1;
    }
    // Calls `visit` with the node and the amounts, by kind, of every part of a stay.
    partsOf(s, visit) {
      for (let part = this.firstPart[s]; part < this.firstPart[s + 1]; part += 1) {
        const amounts = { cpu: this.part_cpu[part], mem: this.part_mem[part], gpu: this.part_gpu[part] / 1e3, other: this.part_other[part] };
        visit(this.part_node[part], amounts);
      }
    }
    // Whether a job holds processors at a time.
    runsAt(job, time) {
      return this.staysOf(job).some((s) => this.from[s] <= time && time < this.to[s]);
    }
    // Stays of a job.
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
    // Calls `visit` with the first node and the count of every run of consecutive nodes of a stay.
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
    // Sides of the single block with which a job starts, as in `3x5`; empty if it has several or does not start.
    shapeOf(job) {
      const [s] = this.staysOf(job);
      if (s === void 0 || this.firstBlock[s + 1] - this.firstBlock[s] !== 1 || this.sites[this.where[s]].sides.length < 2) return void 0;
      const sides = this.shapes[this.shape[this.firstBlock[s]]];
      return this.sites[this.where[s]].wiring === "hypercube" ? `2^${sides.filter((side) => side > 1).length}` : sides.join("x");
    }
    // Placement of a stay in the notation of per-job output: `6,0:2x3`.
    placeOf(s) {
      const { sides, strides } = this.sites[this.where[s]];
      const texts = [];
      for (let block = this.firstBlock[s]; block < this.firstBlock[s + 1]; block += 1) {
        const corner = sides.map((side, d) => Math.floor(this.base[block] / strides[d]) % side);
        texts.push(`${corner.join(",")}:${this.shapes[this.shape[block]].join("x")}`);
      }
      return texts;
    }
    // Time up to which reasons for waiting are recorded.
    known() {
      return this.recording.answers_until ?? this.recording.until;
    }
    // Default instant: within the part with recorded reasons, the first one at which most jobs are running, while one waits if ever.
    busiest(after2, before2) {
      const { from } = this.recording;
      const until = this.known();
      const [first2, last] = [after2, before2].map((share) => upTo(this.at, from + share * (until - from), this.at.length));
      const rank = (i) => (this.waits[i] > 0 ? 1e9 : 0) + this.runs[i];
      let best = -1;
      for (let i = first2; i < last; i += 1) if (best < 0 || rank(i) > rank(best)) best = i;
      return best < 0 ? from : Math.max(this.at[best], from);
    }
    // The previous or next instant, or the next end.
    neighbour(time, step) {
      const place2 = upTo(this.at, time, this.at.length);
      if (step > 0) return place2 < this.at.length ? this.at[place2] : this.recording.until;
      let before2 = place2 - 1;
      while (before2 >= 0 && this.at[before2] >= time) before2 -= 1;
      return Math.max(before2 < 0 ? this.recording.from : this.at[before2], this.recording.from);
    }
  };
  async function open(recording, looks2) {
    const bytes = await inflated(recording.data);
    const columns2 = {};
    let from = 0;
    for (const [name2, kind, length] of recording.columns) {
      columns2[name2] = column(bytes, from, kind, length);
      from += columns2[name2].byteLength;
    }
    return new Run(recording, columns2, looks2);
  }

  // machine/paint.js
  function theme(element) {
    const style = getComputedStyle(element);
    const get = (name2) => style.getPropertyValue(`--m-${name2}`).trim();
    const jobs2 = [];
    for (let i = 0; i < COLOURS; i += 1) jobs2.push(get(`job-${i}`));
    const names2 = ["free", "edge", "ink", "soft", "label", "ground", "held", "waits", "chosen", "down", "blocker"];
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
  function fill(context, theme2, look3, x, y, width2, height) {
    context.fillStyle = theme2.jobs[look3 % COLOURS];
    context.fillRect(x, y, width2, height);
    const pattern = Math.floor(look3 / COLOURS);
    if (pattern > 0 && width2 >= 4 && height >= 4) {
      context.fillStyle = context.tile?.(pattern) ?? tile(theme2, context, pattern);
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
    const rounded2 = Math.abs(value) >= 1e15 ? value : Math.round(value * 1e3) / 1e3;
    const [whole2, part] = String(rounded2).split(".");
    if (whole2.includes("e")) return String(rounded2);
    const grouped2 = whole2.length > 4 ? whole2.replace(/\B(?=(\d{3})+$)/g, ",") : whole2;
    return part ? `${grouped2}.${part}` : grouped2;
  }
  function short(value) {
    const decimals = Math.max(0, 6 - String(Math.trunc(Math.abs(value))).length);
    return number(decimals < 3 ? Number(value.toFixed(decimals)) : value);
  }

  // machine/elements.js
  function make(tag2, attributes, ...children) {
    const element = document.createElement(tag2);
    for (const [name2, value] of Object.entries(attributes || {})) {
      if (name2.startsWith("on")) element.addEventListener(name2.slice(2), value);
      else if (value !== false && value !== void 0) element.setAttribute(name2, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }
  function button(label, title2, act) {
    return make("button", { type: "button", title: title2, "aria-label": title2, onclick: act }, label);
  }
  function icon(path2) {
    const [svg, shape] = ["svg", "path"].map((tag2) => document.createElementNS("http://www.w3.org/2000/svg", tag2));
    svg.setAttribute("viewBox", "0 0 14 14");
    svg.setAttribute("class", "m-icon");
    svg.setAttribute("aria-hidden", "true");
    shape.setAttribute("d", path2);
    svg.append(shape);
    return svg;
  }
  function write(element, text2) {
    if (element.textContent !== text2) element.textContent = text2;
  }
  function drag(element, tell) {
    let isHeld = false;
    const at3 = (event) => tell(event.clientX - element.getBoundingClientRect().left);
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      isHeld = true;
      element.setPointerCapture(event.pointerId);
      at3(event);
    });
    element.addEventListener("pointermove", (event) => isHeld && at3(event));
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, () => isHeld = false);
  }

  // machine/layout.js
  var GAP = 14;
  var TITLE = 15;
  var LETTER = 6.2;
  var gray = (place2) => place2 ^ place2 >> 1;
  var width = (text2) => Math.ceil(String(text2).length * LETTER);
  function rows(site, cell2, available) {
    const label = cell2 >= 8 ? width(site.nodes - 1) + 6 : 0;
    const square = Math.max(16, 2 ** Math.ceil(Math.log2(Math.sqrt(2 * site.nodes))));
    const across = Math.max(1, Math.min(square, site.nodes, Math.floor((available - label) / cell2)));
    const down = Math.ceil(site.nodes / across);
    const labels = [];
    for (let y = 0; label > 0 && y < down; y += 1) {
      labels.push({ x: label - 6, y: (y + 0.5) * cell2, text: y * across, align: "right" });
    }
    const node = (x, y) => y * across + x < site.nodes ? y * across + x : -1;
    return { labels, panes: [{ x: label, y: 0, columns: across, rows: down, node }] };
  }
  function karnaugh(site, cell2) {
    const across = Math.ceil(site.sides.length / 2);
    const down = site.sides.length - across;
    const [columns2, lines] = [2 ** across, 2 ** down];
    const bits = cell2 >= 9;
    const x = bits && down > 0 ? width("".padStart(down)) + 6 : 0;
    const y = bits ? across * 10 + 4 : 0;
    const labels = [];
    for (let column2 = 0; bits && column2 < columns2; column2 += 1) {
      const text2 = gray(column2).toString(2).padStart(across, "0");
      [...text2].forEach((bit, i) => labels.push({ x: x + (column2 + 0.5) * cell2, y: i * 10 + 5, text: bit, align: "center" }));
    }
    for (let row = 0; x > 0 && row < lines; row += 1) {
      const text2 = gray(row).toString(2).padStart(down, "0");
      labels.push({ x: x - 6, y: y + (row + 0.5) * cell2, text: text2, align: "right" });
    }
    const node = (column2, row) => gray(row) * columns2 + gray(column2);
    return { labels, panes: [{ x, y, columns: columns2, rows: lines, node }] };
  }
  var SWITCHED = { fat_tree: "switch", dragonfly: "group", multiprocessor: "row" };
  var BAR = 7;
  function layers(site, cell2, available) {
    const called = SWITCHED[site.wiring];
    const bar2 = called && cell2 >= 5 ? BAR : 0;
    const [columns2, lines] = [site.sides[0], site.sides[1]];
    const size = columns2 * lines;
    const count = site.nodes / size;
    const title2 = (layer) => {
      const further = site.sides.slice(2).map((side, d) => Math.floor(layer * size / site.strides[d + 2]) % side);
      if (called) return `${called} ${further.join(",")}`;
      return further.length === 1 ? `z=${further[0]}` : further.join(",");
    };
    const pane = bar2 + Math.max(columns2 * cell2, count > 1 ? width(title2(count - 1)) : 0);
    let across = Math.max(1, Math.min(count, Math.floor((available + GAP) / (pane + GAP))));
    across = Math.ceil(count / Math.ceil(count / across));
    if (site.sides.length > 3 && across > site.sides[2]) across -= across % site.sides[2];
    const heading = count > 1 ? TITLE : 0;
    const labels = [];
    const panes = [];
    for (let layer = 0; layer < count; layer += 1) {
      const x = layer % across * (pane + GAP);
      const y = Math.floor(layer / across) * (heading + lines * cell2 + GAP / 2);
      if (heading > 0) labels.push({ x, y: y + heading / 2, text: title2(layer), align: "left" });
      const node = (column2, row) => layer * size + row * columns2 + column2;
      panes.push({ x: x + bar2, y: y + heading, columns: columns2, rows: lines, node, hasSwitches: bar2 > 0 });
    }
    return { labels, panes };
  }
  function layout(site, cell2, available) {
    let drawn;
    if (site.wiring === "hypercube") drawn = karnaugh(site, cell2);
    else if (site.sides.length === 1) drawn = rows(site, cell2, available);
    else drawn = layers(site, cell2, available);
    const far = (end) => Math.max(1, Math.ceil(Math.max(...drawn.panes.map(end))));
    drawn.width = far((pane) => pane.x + pane.columns * cell2);
    drawn.height = far((pane) => pane.y + pane.rows * cell2);
    for (const label of drawn.labels) {
      if (label.align === "left") drawn.width = Math.max(drawn.width, label.x + width(label.text));
    }
    return Object.assign(drawn, { cell: cell2 });
  }
  function layouts(sites, available, height, caption) {
    let cells = [];
    const largest2 = sites.some((site) => site.shared) ? 60 : 30;
    for (let cell2 = largest2; cell2 >= 1; cell2 -= cell2 > 12 ? 2 : 1) cells.push(cell2);
    cells = cells.concat([0.5, 0.25, 0.125, 0.0625]);
    for (const cell2 of cells) {
      const all = sites.map((site) => layout(site, cell2, available));
      let [x, y, line2] = [0, 0, 0];
      for (const one of all) {
        const taken = Math.max(one.width, 150);
        if (x > 0 && x + taken > available) {
          y += line2;
          [x, line2] = [0, 0];
        }
        x += taken + 24;
        line2 = Math.max(line2, one.height + caption);
      }
      const fits = all.every((one) => one.width <= available) && (y + line2 <= height || cell2 <= 0.0625);
      if (fits) return all;
    }
    return sites.map((site) => layout(site, cells[cells.length - 1], available));
  }

  // machine/lists.js
  var JobList = class {
    /**
     * @param {string} title
     * @param {string[]} columns
     * @param {(job: number) => void} [pick] Is told which job somebody chooses; without it none can be.
     */
    constructor(title2, columns2, pick) {
      this.title = title2;
      this.pick = pick;
      this.columns = columns2.length;
      this.rows = [];
      this.heading = make("caption");
      this.heads = columns2.map((column2) => make("th", { scope: "col" }, column2));
      this.body = make("tbody");
      this.more = make("p", { class: "m-more" });
      this.table = make("table", {}, this.heading, make("thead", {}, make("tr", {}, ...this.heads)), this.body);
      this.box = make("div", { class: "m-list" }, this.table, this.more);
    }
    row() {
      const swatch = make("span", { class: "m-swatch", "aria-hidden": "true" });
      const name2 = make("span");
      const outer = this.pick ? make("button", { type: "button" }, swatch, name2) : make("span", {}, swatch, name2);
      const cells = Array.from({ length: this.columns - 1 }, () => make("td"));
      const line2 = { swatch, name: name2, outer, cells, job: -1, element: make("tr", {}, make("th", { scope: "row" }, outer), ...cells) };
      if (this.pick) outer.addEventListener("click", () => this.pick(line2.job));
      this.rows.push(line2);
      this.body.append(line2.element);
    }
    /**
     * @param {import("./run.js").Run} run
     * @param {number} chosen
     * @param {number} count How many jobs there are,
     * @param {Line[]} jobs of which these are listed.
     */
    fill(run, chosen, count, jobs2) {
      write(this.heading, `${this.title}: ${number(count)}`);
      this.table.classList.toggle("m-none", jobs2.length === 0);
      while (this.rows.length < jobs2.length) this.row();
      const isEmpty = this.heads.map((_, k) => k > 0 && jobs2.length > 0 && jobs2.every(({ cells }) => !cells[k - 1]));
      this.heads.forEach((head, k) => head.hidden = isEmpty[k]);
      this.rows.forEach((line2, i) => {
        const one = jobs2[i];
        if (line2.element.hidden !== !one) line2.element.hidden = !one;
        if (!one) return;
        line2.job = one.job;
        write(line2.name, String(run.number[one.job]));
        line2.swatch.hidden = one.look === void 0;
        line2.swatch.className = `m-swatch m-look-${(one.look || 0) % COLOURS} m-pattern-${Math.floor((one.look || 0) / COLOURS)}`;
        const isChosen = String(one.job === chosen);
        if (this.pick && line2.outer.getAttribute("aria-pressed") !== isChosen) line2.outer.setAttribute("aria-pressed", isChosen);
        one.cells.forEach((text2, k) => write(line2.cells[k], text2));
        line2.cells.forEach((cell2, k) => cell2.hidden = isEmpty[k + 1]);
      });
      write(this.more, count > jobs2.length ? `and ${number(count - jobs2.length)} more` : "");
    }
  };

  // machine/map.js
  var [FREE, NOTHING, OUT] = [-1, -2, -3];
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
      this.place = null;
      const { shared, kinds } = run.sites[site];
      this.kind = shared ? kinds[0] : "";
      this.shares = [];
    }
    // The stay that holds each processor, or a marker for none.
    hold(moment) {
      this.holder.fill(FREE);
      for (const { site, node } of moment.down) if (site === this.site) this.holder[node] = OUT;
      for (const s of moment.running) {
        if (this.run.where[s] === this.site) {
          this.run.rowsOf(s, (first2, count) => this.holder.fill(s, first2, first2 + count));
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
        if (shares.length > 0) holder[node] = shares.reduce((a, b) => b.share > a.share ? b : a).s;
      });
    }
    draw(layout2, moment, chosen, theme2) {
      this.paint(sized(this.canvas, layout2.width, layout2.height), layout2, moment, chosen, theme2);
    }
    // Draws onto a canvas or a sheet of SVG.
    paint(context, layout2, moment, chosen, theme2) {
      this.layout = layout2;
      this.hold(moment);
      this.marks = this.marked(moment);
      for (const pane of layout2.panes) {
        if (this.kind && layout2.cell >= 3) this.drawShares(context, pane, chosen, theme2);
        else if (layout2.cell >= 1) this.drawPane(context, pane, chosen, theme2);
        else this.drawDots(context, pane, chosen, theme2);
      }
      context.fillStyle = theme2.soft;
      for (const label of layout2.labels) {
        context.textAlign = label.align;
        context.fillText(label.text, label.x, label.y);
      }
    }
    drawPane(context, pane, chosen, theme2) {
      const { cell: cell2 } = this.layout;
      context.fillStyle = theme2.free;
      const whole2 = this.rectangles(pane);
      const line2 = cell2 >= 12 ? 2 : cell2 >= 5 ? 1 : 0;
      for (const { s, x, y, columns: columns2, rows: rows2 } of whole2) {
        const [left, top] = [pane.x + x * cell2, pane.y + y * cell2];
        if (s >= 0) fill(context, theme2, this.run.look[this.run.who[s]], left, top, columns2 * cell2, rows2 * cell2);
        else {
          context.fillStyle = s === OUT ? theme2.down : theme2.free;
          context.fillRect(left, top, columns2 * cell2, rows2 * cell2);
        }
      }
      this.drawOut(context, pane, theme2);
      this.drawMarks(context, pane, theme2);
      if (cell2 >= 5) this.drawGrid(context, pane, theme2);
      this.drawEdges(context, pane, theme2, line2);
      this.drawPartitions(context, pane, theme2);
      if (pane.hasSwitches) this.drawSwitches(context, pane, theme2);
      if (chosen >= 0) this.drawChosen(context, pane, chosen, theme2);
      if (this.place?.site === this.site) this.drawPlace(context, pane, theme2);
      this.drawNames(context, pane, whole2, theme2);
    }
    // Draws every node as a square that its jobs fill from below, each by its share of the kind.
    drawShares(context, pane, chosen, theme2) {
      const { run, site, kind } = this;
      const { cell: cell2 } = this.layout;
      const gap = cell2 >= 12 ? 1.5 : 0.5;
      for (let y = 0; y < pane.rows; y += 1) {
        for (let x = 0; x < pane.columns; x += 1) {
          const node = pane.node(x, y);
          if (node < 0) continue;
          const [left, top, side] = [pane.x + x * cell2 + gap, pane.y + y * cell2 + gap, cell2 - 2 * gap];
          const capacity = run.capacity(site, node, kind);
          context.fillStyle = this.holder[node] === OUT ? theme2.down : theme2.free;
          if (capacity > 0) context.fillRect(left, top, side, side);
          else context.fillRect(left, top + side - 1, side, 1);
          let bottom = top + side;
          for (const { s, share } of this.shares[node]) {
            const height = share * side;
            if (!(height > 0)) continue;
            bottom -= height;
            context.globalAlpha = chosen >= 0 && run.who[s] !== chosen ? 0.35 : 1;
            fill(context, theme2, run.look[run.who[s]], left, bottom, side, height);
            context.globalAlpha = 1;
            if (cell2 >= 12) this.drawShare(context, s, [left, bottom, side, height], theme2);
          }
          const failed = kind === "gpu" ? this.marks.gpus.get(node) ?? 0 : 0;
          if (failed > 0) this.drawFailed(context, [left, top, side], failed / capacity, theme2);
          if (cell2 >= 20 && capacity > 1 && capacity <= 16) this.drawUnits(context, [left, top, side], capacity, theme2);
          const holds = chosen >= 0 && this.shares[node].some(({ s }) => run.who[s] === chosen);
          context.strokeStyle = holds ? theme2.chosen : theme2.soft;
          context.lineWidth = holds ? 2 : 1;
          context.globalAlpha = holds ? 1 : 0.4;
          if (cell2 >= 5) context.strokeRect(left, top, side, side);
          context.globalAlpha = 1;
        }
      }
      this.drawOut(context, pane, theme2);
      this.drawMarks(context, pane, theme2);
      this.drawPartitions(context, pane, theme2);
      if (pane.hasSwitches) this.drawSwitches(context, pane, theme2);
    }
    // Draws the upper edge of a share, and the number of its job if it fits.
    drawShare(context, s, [left, top, width2, height], theme2) {
      context.fillStyle = theme2.edge;
      context.fillRect(left, top, width2, 1);
      const text2 = String(this.run.number[this.run.who[s]]);
      if (text2.length * 6 + 4 > width2 || height < 11) return;
      context.fillStyle = theme2.label;
      context.textAlign = "center";
      context.fillText(text2, left + width2 / 2, top + height / 2 + 0.5);
    }
    // Draws the share of failed GPUs at the top of a node, crossed out.
    drawFailed(context, [left, top, side], share, theme2) {
      context.fillStyle = theme2.down;
      context.fillRect(left, top, side, share * side);
      context.strokeStyle = theme2.label;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(left, top);
      context.lineTo(left + side, top + share * side);
      context.moveTo(left, top + share * side);
      context.lineTo(left + side, top);
      context.stroke();
    }
    // Draws marks at the left of a node, one for each unit of the kind.
    drawUnits(context, [left, top, side], count, theme2) {
      context.fillStyle = theme2.soft;
      for (let unit = 1; unit < count; unit += 1) context.fillRect(left, top + side * unit / count, 3, 1);
    }
    holderAt(pane, x, y) {
      if (x < 0 || y < 0 || x >= pane.columns || y >= pane.rows) return NOTHING;
      const node = pane.node(x, y);
      return node < 0 ? NOTHING : this.holder[node];
    }
    // Splits a pane into rectangles with one holder each: parts of rows, merged with equal parts of rows above.
    rectangles(pane) {
      const done = [];
      let open3 = [];
      for (let y = 0; y < pane.rows; y += 1) {
        const row = [];
        for (let x = 0; x < pane.columns; ) {
          const s = this.holderAt(pane, x, y);
          const from = x;
          do
            x += 1;
          while (x < pane.columns && this.holderAt(pane, x, y) === s);
          if (s !== NOTHING) row.push({ s, x: from, y, columns: x - from, rows: 1 });
        }
        let above = 0;
        for (let i = 0; i < row.length; i += 1) {
          while (above < open3.length && open3[above].x < row[i].x) above += 1;
          const same = open3[above];
          if (same && same.x === row[i].x && same.columns === row[i].columns && same.s === row[i].s) {
            same.rows += 1;
            same.taken = y;
            row[i] = same;
          }
        }
        for (const one of open3) if (one.taken !== y) done.push(one);
        open3 = row;
      }
      return done.concat(open3);
    }
    // Draws a cross on every processor out of service, so that colour is not the only sign.
    drawOut(context, pane, theme2) {
      const { cell: cell2 } = this.layout;
      if (cell2 < 5) return;
      context.strokeStyle = theme2.label;
      context.lineWidth = 1;
      context.beginPath();
      const available = cell2 / 4;
      for (let y = 0; y < pane.rows; y += 1) {
        for (let x = 0; x < pane.columns; x += 1) {
          if (this.holderAt(pane, x, y) !== OUT) continue;
          const [left, top] = [pane.x + x * cell2, pane.y + y * cell2];
          context.moveTo(left + available, top + available);
          context.lineTo(left + cell2 - available, top + cell2 - available);
          context.moveTo(left + cell2 - available, top + available);
          context.lineTo(left + available, top + cell2 - available);
        }
      }
      context.stroke();
    }
    // Finds reserved and sleeping processors, failed GPUs of each node, and the members of each partition.
    marked(moment) {
      const { nodes } = this.run.sites[this.site];
      const marks = { reserved: new Uint8Array(nodes), asleep: new Uint8Array(nodes), gpus: /* @__PURE__ */ new Map(), partitions: /* @__PURE__ */ new Map() };
      for (const { kind, name: name2, site, first: first2, count } of moment.marked ?? []) {
        if (site !== this.site) continue;
        if (kind === "gpu") marks.gpus.set(first2, (marks.gpus.get(first2) ?? 0) + 1);
        else if (kind !== "partition") marks[kind].fill(1, first2, first2 + count);
        else {
          if (!marks.partitions.has(name2)) marks.partitions.set(name2, new Uint8Array(nodes));
          marks.partitions.get(name2).fill(1, first2, first2 + count);
        }
      }
      return marks;
    }
    // Draws a stroke on every reserved processor, and a dot on every sleeping one.
    drawMarks(context, pane, theme2) {
      const { cell: cell2 } = this.layout;
      const { reserved, asleep } = this.marks;
      if (cell2 < 3) return;
      context.strokeStyle = context.fillStyle = theme2.waits;
      context.lineWidth = Math.max(1, cell2 / 10);
      context.beginPath();
      for (let y = 0; y < pane.rows; y += 1) {
        for (let x = 0; x < pane.columns; x += 1) {
          const node = pane.node(x, y);
          const [left, top] = [pane.x + x * cell2, pane.y + y * cell2];
          if (node >= 0 && reserved[node]) {
            context.moveTo(left + 1, top + cell2 - 1);
            context.lineTo(left + cell2 - 1, top + 1);
          }
          if (node >= 0 && asleep[node] && this.holder[node] < 0) context.fillRect(left + cell2 * 0.38, top + cell2 * 0.38, cell2 * 0.24, cell2 * 0.24);
        }
      }
      context.stroke();
    }
    // Draws a dotted line around every partition that is not the whole site.
    drawPartitions(context, pane, theme2) {
      const { cell: cell2 } = this.layout;
      let which = 0;
      for (const inside2 of this.marks.partitions.values()) {
        const isIn = (x, y) => {
          const node = x < 0 || y < 0 || x >= pane.columns || y >= pane.rows ? -1 : pane.node(x, y);
          return Number(node >= 0 && inside2[node] === 1);
        };
        context.strokeStyle = theme2.held;
        context.lineWidth = cell2 >= 5 ? 2 : 1;
        context.setLineDash([[2, 3], [7, 3], [7, 3, 2, 3], [12, 4]][which % 4]);
        which += 1;
        if (inside2.every((own) => own === 1)) continue;
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
    drawSwitches(context, pane, theme2) {
      const { cell: cell2 } = this.layout;
      context.fillStyle = theme2.held;
      for (let y = 0; y < pane.rows; y += 1) context.fillRect(pane.x - 5, pane.y + y * cell2 + 1, 3, Math.max(1, cell2 - 2));
      context.fillRect(pane.x - 6.5, pane.y + 1, 1.5, pane.rows * cell2 - 2);
    }
    // Draws the outline of the nearest place for a waiting job, and those of the jobs in its way.
    drawPlace(context, pane, theme2) {
      const inside2 = new Set(this.place.nodes), jobs2 = new Set(this.place.jobs);
      const blocks = (s) => s >= 0 && jobs2.has(this.run.who[s]);
      const nodeAt = (x, y) => x < 0 || y < 0 || x >= pane.columns || y >= pane.rows ? -1 : pane.node(x, y);
      for (const [colour, dashes, at3] of [
        [theme2.blocker, [], (x, y) => Number(blocks(this.holderAt(pane, x, y)))],
        [theme2.chosen, [4, 3], (x, y) => Number(inside2.has(nodeAt(x, y)))]
      ]) {
        context.strokeStyle = colour;
        context.lineWidth = 3;
        context.setLineDash(dashes);
        context.beginPath();
        this.edges(pane, (a, b) => a !== b, (...ends) => {
          context.moveTo(ends[0], ends[1]);
          context.lineTo(ends[2], ends[3]);
        }, at3);
        context.stroke();
      }
      context.setLineDash([]);
    }
    drawGrid(context, pane, theme2) {
      const { cell: cell2 } = this.layout;
      context.strokeStyle = theme2.edge;
      context.lineWidth = 1;
      context.globalAlpha = 0.22;
      context.beginPath();
      for (let x = 1; x < pane.columns; x += 1) {
        context.moveTo(pane.x + x * cell2, pane.y);
        context.lineTo(pane.x + x * cell2, pane.y + pane.rows * cell2);
      }
      for (let y = 1; y < pane.rows; y += 1) {
        context.moveTo(pane.x, pane.y + y * cell2);
        context.lineTo(pane.x + pane.columns * cell2, pane.y + y * cell2);
      }
      context.stroke();
      context.globalAlpha = 1;
    }
    // Calls `visit` with the ends of every edge between two cells that `differ`.
    edges(pane, differ, visit, of = (x, y) => this.holderAt(pane, x, y)) {
      const { cell: cell2 } = this.layout;
      for (let y = 0; y <= pane.rows; y += 1) {
        for (let x = 0; x <= pane.columns; x += 1) {
          const here = of(x, y);
          const [left, top] = [pane.x + x * cell2, pane.y + y * cell2];
          if (differ(here, of(x - 1, y))) visit(left, top, left, top + cell2);
          if (differ(here, of(x, y - 1))) visit(left, top, left + cell2, top);
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
      const { cell: cell2 } = this.layout;
      const isTorus = this.run.sites[this.site].wiring === "torus";
      context.lineWidth = 1;
      context.setLineDash(isTorus ? [3, 3] : []);
      context.strokeRect(pane.x + 0.5, pane.y + 0.5, pane.columns * cell2 - 1, pane.rows * cell2 - 1);
      context.setLineDash([]);
    }
    drawChosen(context, pane, chosen, theme2) {
      const { cell: cell2 } = this.layout;
      const is = (s) => s >= 0 && this.run.who[s] === chosen;
      context.fillStyle = theme2.ground;
      context.globalAlpha = 0.5;
      for (const { s, x, y, columns: columns2, rows: rows2 } of this.rectangles(pane)) {
        if (!is(s)) context.fillRect(pane.x + x * cell2, pane.y + y * cell2, columns2 * cell2, rows2 * cell2);
      }
      context.globalAlpha = 1;
      context.strokeStyle = theme2.chosen;
      context.lineWidth = Math.max(2, Math.min(3, cell2 / 5));
      context.beginPath();
      this.edges(pane, (a, b) => is(a) !== is(b), (...ends) => {
        context.moveTo(ends[0], ends[1]);
        context.lineTo(ends[2], ends[3]);
      });
      context.stroke();
    }
    // Writes each job's number once, if it fits.
    drawNames(context, pane, whole2, theme2) {
      const { cell: cell2 } = this.layout;
      const largest2 = /* @__PURE__ */ new Map();
      for (const one of whole2) {
        const known = largest2.get(one.s);
        if (one.s >= 0 && (!known || known.columns * known.rows < one.columns * one.rows)) largest2.set(one.s, one);
      }
      context.fillStyle = theme2.label;
      context.textAlign = "center";
      for (const { s, x, y, columns: columns2, rows: rows2 } of largest2.values()) {
        const text2 = String(this.run.number[this.run.who[s]]);
        const [width2, height] = [columns2 * cell2, rows2 * cell2];
        if (text2.length * 6 + 4 > width2 || height < 11) continue;
        context.fillText(text2, pane.x + x * cell2 + width2 / 2, pane.y + y * cell2 + height / 2 + 0.5);
      }
    }
    // With more processors than pixels, each pixel shows one of its processors.
    drawDots(context, pane, chosen, theme2) {
      const { cell: cell2 } = this.layout;
      const [width2, height] = [Math.ceil(pane.columns * cell2), Math.ceil(pane.rows * cell2)];
      for (let y = 0; y < height; y += 1) {
        const row = Math.min(pane.rows - 1, Math.floor(y / cell2));
        for (let x = 0; x < width2; ) {
          const at3 = (dot) => this.holderAt(pane, Math.min(pane.columns - 1, Math.floor(dot / cell2)), row);
          const s = at3(x);
          const from = x;
          do
            x += 1;
          while (x < width2 && at3(x) === s);
          if (s === NOTHING) continue;
          context.fillStyle = s === OUT ? theme2.down : s < 0 ? theme2.free : theme2.jobs[this.run.look[this.run.who[s]] % COLOURS];
          context.globalAlpha = chosen >= 0 && (s < 0 || this.run.who[s] !== chosen) ? 0.4 : 1;
          context.fillRect(pane.x + from, pane.y + y, x - from, 1);
        }
      }
      context.globalAlpha = 1;
    }
    // Returns the job and the node at a point of the canvas, each -1 if there is none.
    at(px, py) {
      const { cell: cell2, panes } = this.layout;
      for (const pane of panes) {
        const [x, y] = [Math.floor((px - pane.x) / cell2), Math.floor((py - pane.y) / cell2)];
        let s = this.holderAt(pane, x, y);
        if (s === NOTHING) continue;
        const node = pane.node(x, y);
        if (this.kind && s >= 0 && cell2 >= 3) {
          let above = 1 - (py - pane.y - y * cell2) / cell2;
          s = this.shares[node].find(({ share }) => (above -= share) < 0)?.s ?? FREE;
        }
        return { node, job: s < 0 ? -1 : this.run.who[s], isOut: s === OUT };
      }
      return { node: -1, job: -1, isOut: false };
    }
  };

  // machine/lanes.js
  var MOST = 12;
  function orders(run) {
    const isOne = run.sites.length === 1;
    return [...run.isShared ? [] : ["processor"], "job", ...isOne && run.user ? ["user"] : [], ...isOne && run.partition ? ["partition"] : []];
  }
  var isNatural = (site) => site.sides.length === 1 && !site.shared;
  function bandsOf(run, by) {
    const band = (site, title2, ordered) => ({ site, title: title2, ordered, lanes: 0, top: 0, height: 0 });
    if (by === "user" || by === "partition") {
      const names2 = by === "user" ? run.recording.users : run.recording.partitions;
      const counts = /* @__PURE__ */ new Map();
      for (const own of run[by]) counts.set(own, (counts.get(own) ?? 0) + 1);
      const ranked = [...counts].sort(([, a], [, b]) => b - a).map(([own]) => own);
      const first2 = ranked.slice(0, ranked.length > MOST ? MOST - 1 : MOST);
      const place2 = new Map(first2.map((own, i) => [own, i]));
      const titles = first2.map((own) => `${by} ${names2[own] || "unknown"}`);
      if (ranked.length > MOST) titles.push(`${ranked.length - first2.length} others`);
      return { bands: titles.map((title2) => band(run.sites[0], title2, false)), of: (s) => place2.get(run[by][run.who[s]]) ?? titles.length - 1 };
    }
    const isOrdered2 = (site) => by === "processor" || isNatural(site);
    return { bands: run.sites.map((site, i) => band(site, `site ${i + 1}: ${site.words}`, isOrdered2(site))), of: (s) => run.where[s] };
  }
  function pack(run, by = "job") {
    const { bands, of } = bandsOf(run, by);
    const lane = new Uint32Array(run.stays);
    const where = Uint32Array.from({ length: run.stays }, (_, s) => of(s));
    const free = bands.map(() => []);
    const laneOf = /* @__PURE__ */ new Map();
    const order = Array.from({ length: run.stays }, (_, s) => s).sort((a, b) => run.to[a] - run.to[b]);
    let next2 = 0;
    for (let s = 0; s < run.stays; s += 1) {
      for (; next2 < order.length && run.to[order[next2]] <= run.from[s]; next2 += 1) {
        const [over, job2] = [order[next2], run.who[order[next2]]];
        const isOver = run.finish[job2] === run.to[over] || run.broken?.has(over);
        if (isOver && laneOf.has(job2)) {
          push(free[where[over]], laneOf.get(job2));
          laneOf.delete(job2);
        }
      }
      const [job, band] = [run.who[s], bands[where[s]]];
      if (!laneOf.has(job)) {
        const lowest = free[where[s]].length > 0 ? pop(free[where[s]]) : band.lanes;
        band.lanes = Math.max(band.lanes, lowest + 1);
        laneOf.set(job, lowest);
      }
      lane[s] = laneOf.get(job);
    }
    for (const band of bands) band.lanes = band.ordered ? band.site.nodes : Math.max(1, band.lanes);
    return { bands, lane, where };
  }
  function push(heap, number2) {
    let at3 = heap.push(number2) - 1;
    while (at3 > 0 && heap[at3 - 1 >> 1] > number2) {
      heap[at3] = heap[at3 - 1 >> 1];
      at3 = at3 - 1 >> 1;
    }
    heap[at3] = number2;
  }
  function pop(heap) {
    const lowest = heap[0];
    const last = heap.pop();
    if (heap.length === 0) return lowest;
    let at3 = 0;
    for (; ; ) {
      let child = 2 * at3 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1] < heap[child]) child += 1;
      if (heap[child] >= last) break;
      heap[at3] = heap[child];
      at3 = child;
    }
    heap[at3] = last;
    return lowest;
  }
  var Cells = class {
    /** @param {number} lanes @param {number} rows @param {number} columns */
    constructor(lanes2, rows2, columns2) {
      this.lanes = lanes2;
      this.rows = rows2;
      this.columns = columns2;
      this.held = new Float32Array(rows2 * columns2);
      this.most = new Float32Array(rows2 * columns2);
      this.best = new Int32Array(rows2 * columns2).fill(-1);
      this.own = new Float32Array(rows2 * columns2);
      this.whose = new Int32Array(rows2 * columns2).fill(-1);
    }
    /** First lane of a row. */
    lane(row) {
      return Math.ceil(row * this.lanes / this.rows);
    }
    /** Row of a lane. */
    row(lane) {
      return Math.min(this.rows - 1, Math.floor(lane * this.rows / this.lanes));
    }
    /** Adds a stay that holds `count` lanes from `first` on, from one column to another; columns may be fractions. */
    add(stay, first2, count, left, right) {
      const [begin, end] = [Math.max(0, left), Math.min(this.columns, right)];
      if (!(end > begin)) return;
      for (let row = this.row(first2); row < this.rows && this.lane(row) < first2 + count; row += 1) {
        const [low, high] = [this.lane(row), this.lane(row + 1)];
        const share = (Math.min(first2 + count, high) - Math.max(first2, low)) / (high - low);
        if (!(share > 0)) continue;
        for (let column2 = Math.floor(begin); column2 < end; column2 += 1) {
          const cell2 = row * this.columns + column2;
          const part = share * (Math.min(end, column2 + 1) - Math.max(begin, column2));
          this.held[cell2] += part;
          this.own[cell2] = this.whose[cell2] === stay ? this.own[cell2] + part : part;
          this.whose[cell2] = stay;
          if (this.own[cell2] > this.most[cell2]) [this.most[cell2], this.best[cell2]] = [this.own[cell2], stay];
        }
      }
    }
    /**
     * Calls `visit` for each run of equal neighbouring cells of a row: row, first column, number of columns, the stay
     * that holds more than half (or -1), and the held share in sixteenths.
     * @param {(row: number, column: number, count: number, stay: number, share: number) => void} visit
     */
    visit(visit) {
      for (let row = 0; row < this.rows; row += 1) {
        let [from, before2] = [0, this.look(row, 0)];
        for (let column2 = 1; column2 <= this.columns; column2 += 1) {
          const now = column2 < this.columns ? this.look(row, column2) : NaN;
          if (now === before2) continue;
          visit(row, from, column2 - from, Math.max(before2, -1), before2 >= -1 ? 1 : (-2 - before2) / 16);
          [from, before2] = [column2, now];
        }
      }
    }
    // The stay, or −2 and less for sixteenths held by several stays.
    look(row, column2) {
      const cell2 = row * this.columns + column2;
      return this.most[cell2] > 0.5 ? this.best[cell2] : -2 - Math.round(Math.min(1, this.held[cell2]) * 16);
    }
  };

  // machine/words.js
  var jobs = (count) => count === 1 ? "1 job" : `${number(count)} jobs`;
  var verb = (count, one, more) => count === 1 ? one : more;
  var name = (run, job) => `job ${run.number[job]}`;
  var units = (run) => run.isShared ? "cores" : "processors";
  var amount = (run, count) => `${number(count)} ${count === 1 ? units(run).slice(0, -1) : units(run)}`;
  var KIND_NAMES = { cpu: "cores", mem: "memory", gpu: "GPUs", other: "other" };
  var amountsOf = ({ gpu, cpu, mem }) => [gpu > 0 && `${number(gpu)} ${verb(gpu, "GPU", "GPUs")}`, `${number(cpu)} ${verb(cpu, "core", "cores")}`, mem > 0 && `${number(mem)} MiB`].filter(Boolean).join(", ");
  var list = (texts) => texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts[texts.length - 1]}`;
  function summary(run, moment) {
    const share = Math.round(100 * moment.held / run.processors);
    const is = (now, then) => run.isOver ? then : now;
    const runs = is(verb(moment.runs, "runs", "run"), "still ran");
    const waits = is(verb(moment.waits, "waits", "wait"), "waited");
    const down = moment.down.length;
    const free = run.processors - moment.held - moment.out;
    const out = down > 0 ? ` and ${number(moment.out)} out of service` : "";
    const sentences = [
      `${run.clock.words(moment.time)}${is("", ", the end")}: ${number(moment.held)} of ${amount(run, run.processors)} ${is(verb(run.processors, "is", "are"), verb(run.processors, "was", "were"))} held (${share} %), ${number(free)} ${is(verb(free, "is", "are"), verb(free, "was", "were"))} free${out}; ${jobs(moment.runs)} ${runs}, ${number(moment.waits)} ${waits}.`
    ];
    if (run.sites.length > 1) {
      const held = run.sites.map(() => 0);
      for (const s of moment.running) held[run.where[s]] += run.heldBy[s];
      sentences.push(`Held: ${run.sites.map((site, i) => `${held[i]} of ${site.amount} on site ${i + 1}`).join(", ")}.`);
    }
    const holders = largest(run, moment, 3).map((s) => `${name(run, run.who[s])} with ${number(run.heldBy[s])}`);
    if (holders.length > 0) sentences.push(`The largest: ${list(holders)}.`);
    if (moment.waiting.length > 0) {
      const first2 = moment.waiting[0];
      sentences.push(`First in the queue: ${name(run, first2)}, which ${is("asks", "asked")} for ${asks(run, first2)}.`);
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
    const { text: text2, nodes } = run.asked[run.request[job]];
    const count = amount(run, nodes);
    const words = piecesInWords(text2);
    return text2 === String(nodes) || words === count ? count : `${words} (${count})`;
  }
  function piecesInWords(text2) {
    if (!/^pieces=\d+( \w+=\S+)*$/.test(text2)) return text2;
    const { pieces, gpu = 0, cpu = 0, mem = 0, inside: inside2, ...rest } = Object.fromEntries(text2.split(" ").map((word) => word.split("=")));
    const others = Object.entries(rest).map(([key, value]) => `, ${key} ${value}`).join("");
    const each = amountsOf({ gpu: Number(gpu), cpu: Number(cpu), mem: Number(mem) });
    return `${pieces === "1" ? "" : `${number(Number(pieces))} pieces, each of `}${each}${others}${inside2 ? `, inside a ${inside2}` : ""}`;
  }
  function asksBriefly(run, job) {
    const { text: text2 } = run.asked[run.request[job]];
    const of = (name2) => new RegExp(`^(?:.* )?${name2}=([\\d.]+)`).exec(text2)?.[1];
    const [pieces, gpu, cpu] = ["pieces", "gpu", "cpu"].map(of);
    if (!run.isShared || !pieces) return text2.startsWith("roles=") ? `${text2.split("+").length} roles` : text2;
    const each = gpu ? `${gpu} ${verb(Number(gpu), "GPU", "GPUs")}` : `${cpu} ${verb(Number(cpu), "core", "cores")}`;
    return pieces === "1" ? each : `${pieces}×${each}`;
  }
  function facts(run, job) {
    const { until } = run.recording;
    const known = (time) => time <= until;
    const texts = [`Job ${run.number[job]} asks for ${asks(run, job)} and arrives at ${run.clock.at(run.submit[job])}.`];
    if (run.unserved[job] === 1) texts.push("It would not fit even the empty machine, and is refused.");
    else if (run.unserved[job] === 2) texts.push(`It is turned away at ${run.clock.at(run.left[job])}.`);
    else if (!known(run.start[job])) texts.push("It does not start in the time that is shown.");
    else {
      const stays = run.staysOf(job);
      const [first2, last] = [stays[0], stays[stays.length - 1]];
      const site = run.sites.length > 1 ? ` on site ${run.where[first2] + 1}` : "";
      const places = run.isShared ? partsInWords(run, first2) : run.placeOf(first2);
      const more = places.length > 4 ? ` and ${places.length - 4} more ${run.isShared ? "nodes" : "pieces"}` : "";
      texts.push(
        `It waits ${run.clock.span(run.start[job] - run.submit[job])} and starts at ${run.clock.at(run.start[job])}${site} with ${amount(run, run.heldBy[first2])}: ${places.slice(0, 4).join("; ")}${more}.`
      );
      if (stays.length > 1) {
        const times = stays.length === 2 ? "once" : `${stays.length - 1} times`;
        texts.push(`It is moved or resized ${times}, and then holds ${number(run.heldBy[last])}.`);
      }
      texts.push(
        known(run.finish[job]) ? `It ends at ${run.clock.at(run.finish[job])}, after ${run.clock.span(run.finish[job] - run.start[job])}.` : "It still runs at the end of what is shown."
      );
    }
    return texts.join(" ");
  }
  function partsInWords(run, s) {
    const nodes = /* @__PURE__ */ new Map();
    run.partsOf(s, (node, { cpu, mem, gpu }) => {
      const own = nodes.get(node) ?? { cpu: 0, mem: 0, gpu: 0 };
      nodes.set(node, { cpu: own.cpu + cpu, mem: own.mem + mem, gpu: own.gpu + gpu });
    });
    return [...nodes].map(([node, own]) => `${amountsOf(own)} of node ${number(node)}`);
  }
  function nodeInWords(run, moment, site, node) {
    const free = Object.fromEntries(Object.keys(KIND_NAMES).map((kind) => [kind, run.capacity(site, node, kind)]));
    const held = /* @__PURE__ */ new Map();
    for (const s of moment.running) {
      if (run.where[s] !== site) continue;
      run.partsOf(s, (own, amounts) => {
        if (own !== node) return;
        for (const kind of Object.keys(free)) free[kind] -= amounts[kind];
        held.set(s, name(run, run.who[s]));
      });
    }
    const failed = (moment.marked ?? []).filter((own) => own.kind === "gpu" && own.site === site && own.first === node).length;
    free.gpu -= failed;
    const names2 = [...held.values()];
    const who = names2.length > 6 ? [...names2.slice(0, 6), `${names2.length - 6} more`] : names2;
    return `${placeName(run.sites[site], node)}, ${amountsOf(free)} free${failed > 0 ? `, ${number(failed)} ${verb(failed, "GPU", "GPUs")} out of service` : ""}${who.length > 0 ? `, held by ${list(who)}` : ""}`;
  }
  function why(run, job, time, place2 = null) {
    const cause = run.waitsFor(job, time);
    if (!cause) {
      const waits = run.recording.held_up && run.submit[job] <= time && time < run.left[job] && !run.runsAt(job, time);
      return waits && time > run.known() ? `It waits; reasons for waiting were recorded up to ${run.clock.at(run.known())} only.` : "";
    }
    const { held, out } = run.moment(time, 0);
    const free = run.processors - held - out;
    const many = `${number(free)} ${verb(free, "is", "are")} free`;
    const anySite = run.sites.length > 1 ? " on all sites together" : "";
    const texts = {
      nodes: `too few ${units(run)} are free for it: ${many}${anySite}.`,
      shape: run.isShared ? `enough cores are free for it (${many}${anySite}), but something else is not, or not where its pieces would fit.` : `enough processors are free for it (${many}${anySite}), but in no shape that it may have.`,
      priority: "it could start, but others come before it.",
      reserved: `it could start, but ${units(run)} are kept for jobs that come before it.`
    };
    return `At ${run.clock.at(time)} it waits: ${texts[cause]}${place2 ? ` ${nearestPlace(run, place2)}` : ""}`;
  }
  function nearestPlace(run, { site, corner, sides, at: at3, jobs: there }) {
    const on = run.sites.length > 1 ? ` on site ${site + 1}` : "";
    const named = there.slice(0, 4).map((job) => name(run, job));
    if (there.length > 4) named.push(`${number(there.length - 4)} more`);
    const until = at3 <= run.recording.until ? `until ${run.clock.at(at3)}` : "to the end of what is shown";
    const where = sides.length > 1 && sides.every((side) => side <= 2) && run.sites[site].wiring === "hypercube" ? "" : ` ${sides.join("x")} at ${corner.join(",")}${on}`;
    return `The nearest place${where}, outlined on the map, is held by ${list(named)} ${until}.`;
  }
  function siteName(run, site) {
    const { words, speed } = run.sites[site];
    const which = run.sites.length > 1 ? `Site ${site + 1}: ` : "";
    return `${which}${words}${speed === 1 ? "" : `, speed ${number(speed)}`}`;
  }
  function lanes(run, by = "job") {
    if (by === "processor") return " on the processors that it holds, in the order of their numbers";
    if (by !== "job") return `, below the others of its ${by}`;
    const ordered = run.sites.filter(isNatural).length;
    if (ordered === run.sites.length) return " on the processors that it holds";
    if (ordered === 0) return " on a row of its own";
    return ", on sites of one dimension on the processors that it holds, elsewhere on a row of its own";
  }
  function placeName(site, node) {
    if (site.shared) return `node ${number(node)} (${site.shared.types[site.typeOf[node]].name})`;
    if (site.sides.length === 1) return `processor ${number(node)}`;
    if (site.wiring === "hypercube") return `processor ${number(node)} (${node.toString(2).padStart(site.sides.length, "0")})`;
    const corner = site.sides.map((side, d) => Math.floor(node / site.strides[d]) % side);
    return `processor ${number(node)} (${corner.join(",")})`;
  }
  var PARTS = {
    fat_tree: "A row is a leaf switch, the bar at its left, with its processors; each layer is a subtree of its own.",
    dragonfly: "A row is a router, the bar at its left, with its processors; each layer is a group, with its number above it.",
    twisted_torus: "Processors stand by their coordinates; the edges of the short sides are joined further along the long ones.",
    multiprocessor: "A row is a node with its processors; rows and layers follow the coordinates of the nodes."
  };
  function legend(site) {
    const parts = PARTS[site.wiring] && (site.sides.length > 2 ? PARTS[site.wiring] : PARTS[site.wiring].replace(/; each layer is[^.]*/, ""));
    if (site.shared) {
      const lacks = site.kinds.some((kind) => site.shared.types.some((type) => !(type[kind] > 0)));
      const empty = lacks ? " An empty outline is a node that has none of it." : "";
      const filled = site.kinds.length === 1 ? `the ${KIND_NAMES[site.kinds[0]]}` : "what is chosen";
      return `Each square is a node; a job fills it from below by its share of ${filled}.${empty} ${parts?.replaceAll("processors", "nodes") ?? ""}`.trimEnd();
    }
    if (parts) return parts;
    if (site.wiring === "hypercube") {
      return "The hypercube is drawn as a Karnaugh map: processors side by side differ in one bit, so a subcube is made of few rectangles.";
    }
    const joined = site.wiring === "torus" ? " Dashed edges are joined to the opposite ones." : "";
    if (site.sides.length === 1) return "Processors are numbered along the rows.";
    if (site.sides.length === 2) return `Processor 0,0 is at the top left.${joined}`;
    return `Each layer is a plane of the first two dimensions, with the further coordinates above it.${joined}`;
  }

  // machine/still.js
  var LISTED = 20;
  var CAPTION = 44;
  var BESIDE = 400;
  var NARROWEST = 200;
  var PATIENCE = 120;
  var Still = class {
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
      this.maps = [];
      this.layouts = [];
      this.run = /** @type {any} */
      null;
      this.moment = null;
      this.chosen = -1;
      this.theme = null;
      this.longest = 0;
      this.listing = void 0;
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
      const items = colours.map(({ look: look3, text: text2 }) => [`m-swatch m-look-${look3 % COLOURS} m-pattern-${Math.floor(look3 / COLOURS)}`, text2]);
      const has = (kind) => marked.some((own) => own.kind === kind);
      if (this.run.outages.length > 0) items.push(["m-swatch m-mark-down", "out of service"]);
      if (has("gpu")) items.push(["m-swatch m-mark-gpu", "GPU out of service, of its node"]);
      if (has("reserved")) items.push(["m-swatch m-mark-reserved", "reserved"]);
      if (has("asleep")) items.push(["m-swatch m-mark-asleep", "asleep"]);
      const partitions = [...new Set(marked.filter((own) => own.kind === "partition").map((own) => own.name))].sort();
      partitions.forEach((name2, i) => items.push([`m-swatch m-mark-partition m-line-${i % 4}`, `partition ${name2}`]));
      this.key.replaceChildren(...items.map(([look3, text2]) => make("li", {}, make("span", { class: look3, "aria-hidden": "true" }), text2)));
      this.key.hidden = items.length === 0;
    }
    /** Fills nodes that jobs share by another kind. */
    fillBy(kind) {
      for (const map of this.maps) if (this.run.sites[map.site].kinds?.includes(kind)) map.kind = kind;
      if (this.moment) this.draw(this.moment, this.chosen, this.theme);
    }
    figure(index) {
      const { run, listener } = this;
      const canvas = make("canvas", { role: "img", "aria-label": `Map of ${siteName(run, index)}` });
      const held = make("span", { class: "m-held" });
      const caption = make("figcaption", {}, make("strong", {}, siteName(run, index)), " ", held);
      const map = new SiteMap(run, index, canvas);
      if (listener.hint) {
        canvas.addEventListener("pointermove", (event) => {
          const at3 = map.at(event.offsetX, event.offsetY);
          listener.hint(event, at3.job, index, at3.node, at3.isOut);
        });
        canvas.addEventListener("pointerleave", () => listener.hint(null, -1, -1, -1));
      }
      if (listener.pick) {
        canvas.addEventListener("click", (event) => listener.pick(map.at(event.offsetX, event.offsetY).job));
      }
      return Object.assign(map, { held, figure: make("figure", {}, canvas, caption) });
    }
    /** Updates all sizes. @param {HTMLElement} stage @param {number} width */
    arrange(stage, width2) {
      const height = Math.min(520, Math.max(260, globalThis.innerHeight * 0.6));
      const fit = (available) => layouts(this.run.sites, Math.max(200, available), height, CAPTION);
      const [below, beside] = [fit(width2), fit(width2 - BESIDE)];
      const isBeside = width2 > 2 * BESIDE && beside[0].cell >= 0.5 * below[0].cell;
      this.layouts = isBeside ? beside : below;
      const widest = this.maps.length > 1 ? width2 - BESIDE : Math.max(NARROWEST, this.layouts[0].width);
      stage.classList.toggle("m-beside", isBeside);
      stage.style.setProperty("--m-widest", `${widest}px`);
      this.now.style.minHeight = "";
      this.longest = 0;
    }
    /** Draws a moment. @param {any} moment @param {number} chosen @param {any} theme */
    draw(moment, chosen, theme2, place2 = null) {
      const { run } = this;
      this.moment = moment;
      this.chosen = chosen;
      this.theme = theme2;
      this.maps.forEach((map, i) => {
        map.place = place2;
        map.draw(this.layouts[i], moment, chosen, theme2);
        let held = 0;
        for (const s of moment.running) if (run.where[s] === i) held += run.heldBy[s];
        write(map.held, `${number(held)} of ${number(run.sites[i].amount)}${run.sites[i].shared ? " cores" : ""} held`);
      });
      this.say(summary(run, moment));
      this.listSoon();
    }
    // The words keep the height of the longest so far, so that elements below do not move.
    say(text2) {
      write(this.now, text2);
      if (text2.length <= this.longest) return;
      this.longest = text2.length;
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
      const site = (s) => isOne ? "" : String(run.where[s] + 1);
      const until = (job) => run.finish[job] <= run.recording.until ? run.clock.short(run.finish[job]) : run.isLive ? "" : "the end";
      this.running.table.classList.toggle("m-by-site", !isOne);
      write(this.running.heads[1], run.isShared ? "Cores" : "Holds");
      this.waiting.fill(run, chosen, moment.waits, moment.waiting.map((job) => ({ job, cells: [asksBriefly(run, job), run.clock.short(run.submit[job])] })));
      this.running.fill(run, chosen, moment.runs, largest(run, moment, LISTED).map((s) => {
        const job = run.who[s];
        const cells = [String(run.heldBy[s]), site(s), asksBriefly(run, job), run.clock.short(run.start[job]), until(job)];
        return { job, look: run.look[job], cells };
      }));
    }
  };

  // report/dom.js
  function make2(tag2, attributes = {}, ...children) {
    const element = document.createElement(tag2);
    for (const [name2, value] of Object.entries(attributes)) element.setAttribute(name2, value);
    element.append(...children);
    return element;
  }
  function find(root, selector) {
    const element = root.querySelector(selector);
    if (!(element instanceof HTMLElement)) throw new Error(`the page has no ${selector}`);
    return element;
  }

  // plot/numbers.js
  function grouped(text2) {
    const [whole2, part] = text2.split(".");
    if (whole2.replace("−", "").length < 5) return text2;
    const far = whole2.replace(/\B(?=(\d{3})+$)/g, ",");
    return part ? `${far}.${part}` : far;
  }
  function digits(number2, most) {
    return String(Number(number2.toPrecision(most))).replace("-", "−");
  }
  function tick(number2) {
    const size = Math.abs(number2);
    for (
      const [power, letter] of
      /** @type {[number, string][]} */
      [[1e12, "T"], [1e9, "B"], [1e6, "M"]]
    ) {
      if (size >= power) return grouped(digits(number2 / power, 4)) + letter;
    }
    if (size > 0 && size < 1e-4) return number2.toExponential().replaceAll("-", "−");
    return grouped(digits(number2, 6));
  }
  function brief(number2) {
    const size = Math.abs(number2);
    if (size > 0 && (size < 1e-4 || size >= 1e15)) return number2.toExponential(3).replaceAll("-", "−").replace("+", "");
    return grouped(size >= 1e5 ? String(Math.round(number2)).replace("-", "−") : digits(number2, 5));
  }
  function fixed(number2, decimals) {
    const power = 10 ** decimals;
    return grouped((Math.floor(number2 * power + 0.5) / power).toFixed(decimals).replace("-", "−"));
  }
  function rounded(mean, half) {
    if (half === null) return brief(mean);
    const decimals = 1 - Math.floor(Math.log10(half));
    if (!(half > 0) || decimals > 6 || Math.abs(mean) >= 1e15) return `${brief(mean)} ± ${brief(half)}`;
    return `${fixed(mean, Math.max(0, decimals))} ± ${fixed(half, Math.max(0, decimals))}`;
  }
  function percent(mean, low, high) {
    const signed = (number2, decimals2) => (number2 > 0 ? "+" : "") + fixed(number2, decimals2);
    const decimals = (size) => size > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(size)))) : 0;
    if (low === null || high === null) return `${signed(mean, decimals(Math.abs(mean)))} %`;
    const own = decimals(Number.isFinite(high) ? high - low : 100);
    return `${signed(mean, own)} % (${signed(low, own)} to ${Number.isFinite(high) ? signed(high, own) : "∞"})`;
  }
  var ratioOf = (percent2) => 1 + percent2 / 100;
  var percentOf = (ratio) => Number((100 * (ratio - 1)).toPrecision(9)) + 0;
  var ratioTicks = (from, until, most) => logTicks(ratioOf(from), ratioOf(until), most).map(percentOf);
  function linearTicks(from, until, about) {
    const span = until - from;
    if (!(span > 0)) return [from];
    const raw = span / Math.max(1, about);
    const power = Math.floor(Math.log10(raw));
    const error = raw / 10 ** power;
    const factor = error >= Math.sqrt(50) ? 10 : error >= Math.sqrt(10) ? 5 : error >= Math.SQRT2 ? 2 : 1;
    const at3 = (k) => power < 0 ? k * factor / 10 ** -power : k * factor * 10 ** power;
    const ticks2 = [];
    for (let k = Math.ceil(from / at3(1) - 1e-9); at3(k) <= until + at3(1) * 1e-9; k += 1) ticks2.push(at3(k) + 0);
    return ticks2;
  }
  var SETS = (
    /** @type {[number[], number][]} */
    [
      [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], 1],
      [[1, 2, 3, 5, 7], 1],
      [[1, 2, 5], 1],
      [[1, 3], 1],
      [[1], 1],
      [[1], 2],
      [[1], 3],
      [[1], 10]
    ]
  );
  function logTicks(from, until, most) {
    const [first2, last] = [Math.floor(Math.log10(from)), Math.ceil(Math.log10(until))];
    let finer = linearTicks(from, until, most - 1).filter((number2) => number2 > 0);
    for (const [marks, step2] of SETS) {
      const ticks2 = [];
      for (let power = first2; power <= last; power += 1) {
        if (power % step2 !== 0) continue;
        for (const mark2 of marks) {
          const number2 = power < 0 ? mark2 / 10 ** -power : mark2 * 10 ** power;
          if (number2 >= from && number2 <= until) ticks2.push(number2);
        }
      }
      if (ticks2.length < 2) break;
      if (ticks2.length <= most) return ticks2;
      finer = ticks2;
    }
    const step = Math.ceil(finer.length / Math.max(2, most));
    return finer.filter((_, i) => i % step === 0);
  }

  // plot/svg.js
  function escaped(text2) {
    return text2.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  }
  function at(length) {
    const rounded2 = Math.floor(length * 100 + 0.5) / 100;
    return String(rounded2 === 0 ? 0 : rounded2);
  }
  var SIZE = 12;
  function wide(text2, size = SIZE) {
    let sum = 0;
    for (const letter of text2) {
      if ("ijl.,:;'|!()[]tfr -".includes(letter)) sum += 0.36;
      else if ("mwMW—…%±−+=<>".includes(letter)) sum += 0.92;
      else if (letter >= "A" && letter <= "Z") sum += 0.72;
      else sum += 0.63;
    }
    return sum * size;
  }
  function shortened(text2, available, size = SIZE) {
    if (wide(text2, size) <= available) return text2;
    const letters = [...text2];
    while (letters.length > 1 && wide(`${letters.join("")}…`, size) > available) letters.pop();
    return `${letters.join("").trimEnd()}…`;
  }
  function line([x1, y1, x2, y2], stroke, width2 = 1, more = "") {
    return `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke="${stroke}" stroke-width="${at(width2)}"${more}/>
`;
  }
  function rect([x, y, width2, height], fill3, more = "") {
    return `<rect x="${at(x)}" y="${at(y)}" width="${at(Math.max(0, width2))}" height="${at(Math.max(0, height))}" fill="${fill3}"${more}/>
`;
  }
  function text([x, y], words, fill3, anchor = "start", more = "") {
    return `<text x="${at(x)}" y="${at(y)}" fill="${fill3}" text-anchor="${anchor}"${more}>${escaped(words)}</text>
`;
  }
  function path(pieces, stroke, width2, more = "") {
    const drawn = pieces.filter((piece) => piece.length > 1);
    if (drawn.length === 0) return "";
    const d = drawn.map((piece) => piece.map(([x, y], i) => `${i === 0 ? "M" : "L"}${at(x)} ${at(y)}`).join("")).join("");
    return `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${at(width2)}" stroke-linejoin="round"${more}/>
`;
  }
  function beyond([x, y], [dx, dy], stroke) {
    const back = (side) => [x - 5 * dx + side * dy, y - 5 * dy + side * dx];
    return path([[back(4), [x, y], back(-4)]], stroke, 1.5);
  }
  var DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2", "1 3", "9 3 2 3 2 3", "14 3 4 3", "5 5"];
  function dashed(number2) {
    const dashes = DASHES[number2 % DASHES.length];
    return dashes ? ` stroke-dasharray="${dashes}"` : "";
  }
  function sample(number2, [x, y], stroke) {
    return path([[[x - 13, y], [x + 13, y]]], stroke, 2, dashed(number2));
  }
  var SHAPES = (
    /** @type {number[][][]} */
    [
      [],
      [[-0.89, -0.89], [0.89, -0.89], [0.89, 0.89], [-0.89, 0.89]],
      [[0, -1.25], [1.15, 0.8], [-1.15, 0.8]],
      [[0, -1.35], [1.05, 0], [0, 1.35], [-1.05, 0]],
      [[1.25, 0], [-0.8, 1.15], [-0.8, -1.15]],
      [[0, 1.25], [1.15, -0.8], [-1.15, -0.8]],
      [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
      [[0.6, -1.04], [1.2, 0], [0.6, 1.04], [-0.6, 1.04], [-1.2, 0], [-0.6, -1.04]],
      [[-0.57, -1.13], [0, -0.57], [0.57, -1.13], [1.13, -0.57], [0.57, 0], [1.13, 0.57], [0.57, 1.13], [0, 0.57], [-0.57, 1.13], [-1.13, 0.57], [-0.57, 0], [-1.13, -0.57]],
      [[0, -1.2], [1.14, -0.37], [0.71, 0.97], [-0.71, 0.97], [-1.14, -0.37]]
    ]
  );
  var COLOURS2 = SHAPES.length;
  function mark(number2, [x, y], radius, stroke, fill3, more = "") {
    const shape = SHAPES[number2 % COLOURS2];
    const paint = `fill="${fill3}" stroke="${stroke}" stroke-width="1.5"${more}/>
`;
    if (shape.length === 0) return `<circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}" ${paint}`;
    const corners = shape.map(([dx, dy]) => `${at(x + dx * radius)},${at(y + dy * radius)}`).join(" ");
    return `<polygon points="${corners}" ${paint}`;
  }

  // plot/view.js
  var hasPercent = (view) => view.series.some((series) => (series.percent?.length ?? 0) > 0);
  function pointsOf(view, inPercent = false) {
    return view.series.flatMap((series) => series.x.map((x, i) => {
      const share = inPercent ? series.percent?.[i] : void 0;
      const mean = share ? share[0] : series.mean[i];
      const ends = share ? share[1] === null ? null : [share[1], share[2] ?? Infinity] : null;
      const half = share ? ends && (ends[1] - ends[0]) / 2 : series.half?.[i] ?? null;
      const [low, high] = ends ?? [mean - (half ?? 0), mean + (half ?? 0)];
      return {
        x,
        mean,
        half,
        low,
        high,
        replications: series.replications?.[i] ?? 0,
        once: series.once?.[i] ?? false,
        name: series.name,
        label: series.labels?.[i],
        colour: series.colour,
        panel: series.panel
      };
    }));
  }
  var isClear = (point) => point.half !== null && (point.low > 0 || point.high < 0);
  var isPartial = (view, point) => view.expected !== void 0 && !point.once && point.replications > 0 && point.replications < view.expected;
  function placeOf(view, x) {
    if (view.x.names?.length) return view.x.names[x];
    return view.x.dates ? dateOf(view.x.dates, x) : String(x);
  }
  var wordsOf = (point, inPercent = false) => inPercent ? percent(point.mean, point.half === null ? null : point.low, point.half === null ? null : point.high) : rounded(point.mean, point.half);
  var labelOf = (scale2) => scale2.unit ? `${scale2.label} (${scale2.unit})` : scale2.label;
  function canBeLog(view, inPercent = hasPercent(view)) {
    if (view.differences) return inPercent && view.series.every((series) => (series.percent ?? []).every(([mean]) => mean > -100));
    if (view.fixed) return false;
    if (view.style === "steps") return view.series.some((series) => series.x.some((x) => x > 0));
    return view.series.every((series) => series.mean.every((mean) => mean > 0));
  }
  var isLog = (view) => (view.style === "steps" ? view.x.log : view.y.log) ?? false;
  function padded(low, high) {
    const available = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
    if (low === 0 && high === 0) return [0, available];
    return [low === 0 ? 0 : low - available, high === 0 ? 0 : high + available];
  }
  function extent(numbers) {
    let [least, most] = [Infinity, -Infinity];
    for (const number2 of numbers) {
      least = Math.min(least, number2);
      most = Math.max(most, number2);
    }
    return [least, most];
  }
  var cut = (bound, mean, spread) => Math.abs(bound - mean) <= Math.abs(spread) ? bound : mean + spread / 2;
  function measured(view, points, log) {
    if (log && view.differences) {
      const ratios = points.map((point) => ({ ...point, mean: ratioOf(point.mean), low: ratioOf(point.low), high: ratioOf(point.high) }));
      const [from2, until2] = measured({ ...view, differences: false }, ratios, log);
      return [percentOf(Math.min(from2, 1)), percentOf(Math.max(until2, 1))];
    }
    const bounds = (view.bounds ?? []).map((bound) => bound.y).filter((y) => !log || y > 0);
    const [least, most] = extent(points.map((point) => point.mean).concat(bounds));
    if (view.style === "steps") return [Math.min(least, 0), most > 0 && most <= 1 ? 1 : most * 1.05 || 1];
    const [low, high] = [Math.min(least, extent(points.map((point) => point.low))[0]), Math.max(most, extent(points.map((point) => point.high))[1])];
    if (log) {
      const positive = extent(points.map((point) => point.low > 0 ? point.low : point.mean))[0];
      return [Math.max(Math.min(positive, least), least / 3) / 1.1, Math.min(high, most * 3) * 1.1];
    }
    const spread = Math.max(most, 0) - Math.min(least, 0) || Math.abs(most) || 1;
    const from = Math.max(cut(low, least, -spread), least >= 0 && !view.differences ? 0 : -Infinity);
    const until = cut(high, most, spread);
    if (view.differences) {
      const margin = 0.1 * spread;
      return padded(Math.min(from, 0, Math.max(low, -margin)), Math.max(until, 0, Math.min(high, margin)));
    }
    if (view.style === "rows") return padded(Math.min(from, 0), Math.max(until, 0));
    return from > 0 && least < 0.6 * most ? padded(0, until) : padded(from, until);
  }
  function along(view, points, log) {
    const all = view.x.grid?.length ? view.x.grid : points.map((point) => point.x);
    const [least, most] = extent(log ? all.filter((x) => x > 0) : all);
    if (least < most) return [least, most];
    return log ? [least / 2, most * 2] : [least - 0.5, most + 0.5];
  }
  function scale([from, until], [first2, last], log, isRatio = false) {
    const of = (number2) => log ? Math.log10(isRatio ? ratioOf(number2) : number2) : number2;
    return (number2) => {
      const inside2 = Math.min(Math.max(number2, from), until);
      return first2 + (last - first2) * (of(inside2) - of(from)) / (of(until) - of(from));
    };
  }

  // plot/panel.js
  var SMALL = 11;
  var BOLD = 13;
  var SMALLER = ' font-size="11"';
  var NAMED = 420;
  var NAME = 0.4;
  var BETWEEN = 13;
  var CLEAR = 5;
  function common(view, log, inPercent = hasPercent(view), isFree = false) {
    const points = pointsOf(view, inPercent);
    const order = new Map([...new Set(points.map((point) => point.x))].map((x) => {
      const means = points.filter((point) => point.x === x).map((point) => point.mean);
      return [x, means.reduce((sum, mean) => sum + mean, 0) / means.length];
    }));
    return { points, log, inPercent, isFree, order, domain: measured(view, points, log) };
  }
  function panelOf(view, common2, panel, width2, theme2) {
    const points = common2.points.filter((point) => point.panel === panel);
    if (common2.isFree) common2 = { ...common2, domain: measured(view, points, common2.log) };
    const bounds = (view.bounds ?? []).filter((bound) => bound.panel === panel && (!common2.log || bound.y > 0));
    if (view.style === "rows") return rowsOf(view, common2, points, bounds, width2, theme2);
    return curvesOf(view, common2, points, bounds, width2, theme2);
  }
  var colourOf = (theme2, number2) => theme2.colours[number2 % COLOURS2];
  function look(view, point, colour, theme2) {
    const fill3 = view.differences && !isClear(point) ? theme2.paper : colour;
    return { fill: fill3, more: isPartial(view, point) ? ' opacity="0.45"' : "" };
  }
  function ticksAlong(view, points, log, domain, width2) {
    const dated = view.x.dates && !log ? dateTicks(view.x.dates, domain[0], domain[1], Math.max(2, Math.floor(width2 / 90))) : [];
    return dated.length > 0 ? dated : numbersAlong(view, points, log, domain, width2).map((number2) => ({ at: number2, text: tick(number2) }));
  }
  function numbersAlong(view, points, log, domain, width2) {
    if (view.style === "lines") {
      const all = view.x.grid?.length ? view.x.grid : points.map((point) => point.x);
      const values = [...new Set(all)].sort((a, b) => a - b);
      const place2 = scale(domain, [0, width2], log);
      let available = Infinity;
      for (let i = 1; i < values.length; i += 1) {
        const need = (wide(tick(values[i - 1]), SMALL) + wide(tick(values[i]), SMALL)) / 2 + 8;
        available = Math.min(available, place2(values[i]) - place2(values[i - 1]) - need);
      }
      if (available >= 0) return values;
    }
    return log ? logTicks(domain[0], domain[1], Math.max(2, Math.floor(width2 / 60))) : linearTicks(domain[0], domain[1], Math.max(2, Math.floor(width2 / 80)));
  }
  function whiskerOf(view, point, [from, until]) {
    const isThere = point.half !== null && point.half > 0 && point.low <= until && point.high >= from;
    return { isThere, isBelow: isThere && point.low < from && (view.differences || from !== 0), isAbove: isThere && point.high > until };
  }
  var measureOf = (view, inPercent) => inPercent ? `${view.y.label} (%)` : labelOf(view.y);
  var inside = (x, half, width2) => Math.max(half, Math.min(width2 - half, x));
  function tickBelow([x, y], words, width2, theme2) {
    return text([inside(x, wide(words, SMALL) / 2, width2), y], words, theme2.soft, "middle", SMALLER);
  }
  function curvesOf(view, { points: all, domain, log, inPercent }, points, bounds, width2, theme2) {
    const isSteps = view.style === "steps";
    const isUpLog = log && !isSteps;
    const names2 = view.x.names ?? [];
    const isAlongLog = isSteps ? log : view.x.log ?? false;
    const height = Math.floor(Math.min(380, Math.max(230, width2 * 0.6)));
    const upTicks = inPercent ? ratioTicks : logTicks;
    const up = isUpLog ? upTicks(domain[0], domain[1], 8) : linearTicks(domain[0], domain[1], 6);
    const left = Math.max(30, ...up.map((number2) => wide(tick(number2), SMALL) + 14));
    const colours = [...new Set(points.map((point) => point.colour))];
    const titles = new Map(view.series.map((series) => [series.colour, series.name]));
    const isNamed = view.style === "lines" && colours.length > 1 && width2 >= NAMED;
    const name2 = isNamed ? Math.min(NAME * width2, Math.max(...colours.map((number2) => wide(titles.get(number2) ?? "", SMALL)))) : 0;
    const [top, bottom, right] = [26, height - 42, width2 - 18 - name2];
    const y = scale(domain, [bottom, top], isUpLog, inPercent);
    const step = (right - left) / Math.max(1, names2.length);
    const reach = along(view, all, isAlongLog);
    const numbers = scale(reach, [left + 8, right - 8], isAlongLog);
    const x = (place2) => names2.length > 0 ? left + (place2 + 0.5) * step : numbers(place2);
    let svg = "";
    for (const number2 of up) {
      svg += line([left, y(number2), right, y(number2)], theme2.line);
      svg += text([left - 7, y(number2) + 4], tick(number2), theme2.soft, "end", SMALLER);
    }
    svg += line([left, bottom, right, bottom], theme2.soft);
    if (names2.length > 0) {
      const widest = Math.max(...names2.map((name3) => wide(name3, SMALL)));
      const every = Math.max(1, Math.ceil(Math.min(widest + 8, 90) / step));
      names2.forEach((name3, place2) => {
        if (place2 % every === 0) svg += text([x(place2), bottom + 17], shortened(name3, step * every - 4, SMALL), theme2.soft, "middle", SMALLER);
      });
    } else {
      for (const { at: number2, text: words } of ticksAlong(view, all, isAlongLog, reach, right - left - 16)) {
        svg += line([x(number2), bottom, x(number2), bottom + 5], theme2.soft);
        svg += tickBelow([x(number2), bottom + 17], words, width2, theme2);
      }
    }
    svg += text([0, 12], measureOf(view, inPercent), theme2.ink);
    svg += labelBelow(view.x, (left + right) / 2, height - 6, theme2);
    if (domain[0] < 0 && domain[1] > 0) svg += line([left, y(0), right, y(0)], theme2.ink);
    const hits = [];
    const ends = [];
    for (const [order, number2] of colours.entries()) {
      const own = points.filter((point) => point.colour === number2);
      const last = own[own.length - 1];
      ends.push({ x: x(last.x), y: y(last.mean), name: titles.get(number2) ?? "", colour: colourOf(theme2, number2) });
      const colour = colourOf(theme2, number2);
      svg += `<g data-series="${number2}">
`;
      if (isSteps) {
        svg += path([stepsOf(own.map((point) => [x(point.x), y(point.mean)]))], colour, 1.75, dashed(number2));
      } else {
        const beside = 2 * (order - (colours.length - 1) / 2);
        for (const point of own) {
          const whisker = whiskerOf(view, point, domain);
          if (!whisker.isThere) continue;
          const at3 = x(point.x) + beside;
          svg += line([at3, y(point.low), at3, y(point.high)], colour, 1.5, ' stroke-opacity="0.55"');
          if (whisker.isBelow) svg += beyond([at3, y(point.low)], [0, 1], colour);
          if (whisker.isAbove) svg += beyond([at3, y(point.high)], [0, -1], colour);
        }
        if (view.style === "lines") svg += path(runsOf(view, own).map((run) => run.map((point) => [x(point.x), y(point.mean)])), colour, 1.75);
        for (const point of own) {
          const { fill: fill3, more } = look(view, point, colour, theme2);
          svg += mark(number2, [x(point.x), y(point.mean)], 3.4, colour, fill3, more);
        }
      }
      svg += "</g>\n";
      for (const point of own) hits.push({ x: x(point.x), y: y(point.mean), point });
    }
    if (isNamed) svg += namesOf(ends, bottom, [right, name2], theme2);
    svg += labelsOf(points.map((point) => ({ x: x(point.x), y: y(point.mean), label: point.label ?? "" })), [left, right, top, bottom], theme2);
    for (const bound of bounds) {
      svg += drawnBound([x(bound.x), y(bound.y)], [0, bound.is_upper ? 1 : -1], colourOf(theme2, view.series[bound.series].colour));
    }
    return { svg, width: width2, height, hits };
  }
  function namesOf(ends, bottom, [left, width2], theme2) {
    const sorted = [...ends].sort((a, b) => a.y - b.y);
    const places = sorted.map((end) => end.y);
    for (let i = 1; i < places.length; i += 1) places[i] = Math.max(places[i], places[i - 1] + BETWEEN);
    let lowest = bottom;
    for (let i = places.length - 1; i >= 0; i -= 1) {
      places[i] = Math.min(places[i], lowest);
      lowest = places[i] - BETWEEN;
    }
    let svg = "";
    for (const [i, { x, y, name: name2, colour }] of sorted.entries()) {
      svg += line([x + 5, y, left + 4, places[i]], colour, 1, ' stroke-opacity="0.6"');
      svg += text([left + 7, places[i] + 4], shortened(name2, width2 + 8, SMALL), theme2.ink, "start", SMALLER);
    }
    return svg;
  }
  function labelsOf(points, [left, right, top, bottom], theme2) {
    const taken = points.map(({ x, y }) => [x - CLEAR, x + CLEAR, y - CLEAR, y + CLEAR]);
    let svg = "";
    for (const { x, y, label } of points) {
      if (!label) continue;
      const width2 = wide(label, SMALL);
      const places = [[x + 8, y + 4], [x - 8 - width2, y + 4]];
      for (const level of [y - 8, y + 17]) for (const begin of [x - width2 / 2, x - 4, x + 4 - width2]) places.push([begin, level]);
      const boxOf = ([x2, y2]) => [x2, x2 + width2, y2 - 9, y2 + 2];
      const isFree = ([from, until, above, below]) => from >= left && until <= right && above >= top && below <= bottom && taken.every((box) => until <= box[0] || from >= box[1] || below <= box[2] || above >= box[3]);
      const place2 = places.find((place3) => isFree(boxOf(place3)));
      if (!place2) continue;
      taken.push(boxOf(place2));
      svg += text(place2, label, theme2.ink, "start", SMALLER);
    }
    return svg;
  }
  function labelBelow(scale2, middle, bottom, theme2) {
    const words = labelOf(scale2);
    const key = scale2.key?.includes(".") ? `<tspan dx="7" font-size="9.5" fill="${theme2.soft}">${escaped(scale2.key)}</tspan>` : "";
    return `<text x="${at(middle)}" y="${at(bottom)}" fill="${theme2.ink}" text-anchor="middle">${escaped(words)}${key}</text>
`;
  }
  function runsOf(view, points) {
    const order = view.x.grid?.length ? new Map(view.x.grid.map((x, i) => [x, i])) : null;
    const runs = (
      /** @type {Point[][]} */
      []
    );
    let before2 = -2;
    for (const point of points) {
      const place2 = order ? order.get(point.x) ?? -2 : point.x;
      if (runs.length > 0 && place2 === before2 + 1) runs[runs.length - 1].push(point);
      else runs.push([point]);
      before2 = place2;
    }
    return runs;
  }
  function stepsOf(points) {
    return points.flatMap(([x, y], i) => i === 0 ? [[x, y]] : [[x, points[i - 1][1]], [x, y]]);
  }
  function drawnBound([x, y], [dx, dy], colour) {
    return line([x - 9 * dy, y - 9 * dx, x + 9 * dy, y + 9 * dx], colour, 2.5) + line([x, y, x + 9 * dx, y + 9 * dy], colour, 1.5) + beyond([x + 9 * dx, y + 9 * dy], [dx, dy], colour);
  }
  function roomyLogTicks([from, until], available, x, inPercent) {
    const half = (number2) => wide(tick(number2), SMALL) / 2;
    for (let most = Math.max(3, Math.floor(available / 40)); ; most -= 1) {
      const ticks2 = (inPercent ? ratioTicks : logTicks)(from, until, most);
      const isApart = ticks2.every((number2, i) => i === 0 || x(number2) - x(ticks2[i - 1]) >= half(number2) + half(ticks2[i - 1]) + 6);
      if (isApart || most <= 2) return ticks2;
    }
  }
  function rowsOf(view, { domain, log, inPercent, order }, points, bounds, width2, theme2) {
    const names2 = view.x.names ?? [];
    const colours = [...new Set(points.map((point) => point.colour))].sort((a, b) => a - b);
    const isOne = !view.colour;
    const places = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
    if (view.sorted && isOne) {
      places.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0) || a - b);
    }
    const bar2 = isOne ? 20 : colours.length > 4 ? 14 : 17;
    const widest = Math.max(...places.map((place2) => wide(names2[place2]))) + 10;
    const isBeside = isOne && widest <= width2 * 0.42;
    const head = isBeside ? 4 : isOne ? 18 : 24;
    const step = bar2 * (isOne ? 1 : colours.length) + head;
    const left = isBeside ? widest : 8;
    const said = width2 - left >= 260 ? Math.max(...points.map((point) => wide(wordsOf(point, inPercent), SMALL))) + 10 : 0;
    const right = width2 - Math.max(22, said);
    const top = 6, bottom = top + places.length * step + 4, height = bottom + 42;
    const x = scale(domain, [left, right], log, inPercent);
    const isBars = !log && !view.differences;
    const hasZero = !log || inPercent;
    const zero = hasZero ? x(0) : left;
    const ticks2 = log ? roomyLogTicks(domain, right - left, x, inPercent) : linearTicks(domain[0], domain[1], Math.max(2, Math.floor((right - left) / 70)));
    let svg = "";
    for (const number2 of ticks2) {
      svg += line([x(number2), top, x(number2), bottom], theme2.line);
      svg += tickBelow([x(number2), bottom + 15], tick(number2), width2, theme2);
    }
    if (hasZero) svg += line([zero, top, zero, bottom], theme2.ink);
    const weight = `${isOne ? "" : ' font-weight="600"'} paint-order="stroke" stroke="${theme2.paper}" stroke-width="5"`;
    const hits = [];
    for (const [row, place2] of places.entries()) {
      const begin = top + row * step + head;
      if (isBeside) svg += text([left - 10, begin + bar2 / 2 + 2], names2[place2], theme2.ink, "end");
      else svg += text([left + 4, begin - 6], shortened(names2[place2], width2 - left - 12, isOne ? void 0 : BOLD), theme2.ink, "start", weight);
      for (const point of points) {
        if (point.x !== place2) continue;
        const index = isOne ? 0 : colours.indexOf(point.colour);
        const number2 = isOne ? view.x.colours?.[place2] ?? point.colour : point.colour;
        const colour = colourOf(theme2, number2);
        const { fill: fill3, more } = look(view, point, colour, theme2);
        const y = begin + (index + 0.5) * bar2 - (isOne ? 2 : 0);
        if (isBars) svg += rect([Math.min(zero, x(point.mean)), y - bar2 / 2 + 2, Math.abs(x(point.mean) - zero), bar2 - 4], colour, more);
        const whisker = whiskerOf(view, point, domain);
        const stroke = isBars ? theme2.ink : colour;
        if (whisker.isThere) svg += line([x(point.low), y, x(point.high), y], stroke, 1.5);
        if (whisker.isBelow) svg += beyond([x(point.low), y], [-1, 0], stroke);
        if (whisker.isAbove) svg += beyond([x(point.high), y], [1, 0], stroke);
        if (!isBars) svg += mark(number2, [x(point.mean), y], 4, colour, fill3, more);
        for (const bound of bounds) {
          if (bound.x !== place2 || view.series[bound.series].colour !== point.colour) continue;
          svg += drawnBound([x(bound.y), y], [bound.is_upper ? -1 : 1, 0], theme2.ink);
        }
        if (said > 0) svg += text([right + 8, y + 4], wordsOf(point, inPercent), theme2.soft, "start", SMALLER);
        hits.push({ x: x(point.mean), y, point });
      }
    }
    const measure = measureOf(view, inPercent);
    svg += text([inside((left + right) / 2, wide(measure) / 2, width2), height - 8], measure, theme2.ink, "middle");
    return { svg, width: width2, height, hits };
  }

  // plot/figure.js
  var PAGE = {
    ink: "var(--ink)",
    soft: "var(--soft)",
    line: "var(--line)",
    paper: "var(--paper)",
    colours: Array.from({ length: COLOURS2 }, (_, number2) => `var(--c${number2})`)
  };
  var PAPER = {
    ink: "#23231f",
    soft: "#66655e",
    line: "#e4e1d9",
    paper: "#ffffff",
    colours: ["#2a6db3", "#c8501e", "#1a8468", "#9a4a9c", "#a97f00", "#3d9fcd", "#7c5a3a", "#6d7480", "#c12a63", "#5f7f1d"]
  };
  var FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
  var MARGIN = 12;
  var GAP2 = 24;
  var LINE = 20;
  function panelsOf(view) {
    return [...new Set(view.series.map((series) => series.panel))].sort((a, b) => a - b);
  }
  function legendOf(view) {
    return [...new Map(view.series.map((series) => [series.colour, series.name]))].sort(([a], [b]) => a - b);
  }
  var canPart = (view) => ["lines", "steps"].includes(view.style) && !view.panel && legendOf(view).length > 2;
  var parted = (view) => ({
    ...view,
    panel: view.colour,
    panels: view.series.map(({ name: name2 }) => name2),
    series: view.series.map((series, panel) => ({ ...series, panel })),
    bounds: view.bounds?.map((bound) => ({ ...bound, panel: bound.series }))
  });
  var panelName = (view, panel) => view.panel ? `${view.panel.label} = ${view.panels?.[panel]}` : "";
  function figureOf(view, log, width2 = 720, inPercent = hasPercent(view), isFree = false) {
    const theme2 = PAPER;
    const available = width2 - 2 * MARGIN;
    let y = MARGIN + 14;
    let svg = text([MARGIN, y], shortened(view.title, available, 15), theme2.ink, "start", ' font-size="15" font-weight="600"');
    y += 10;
    if (view.colour) {
      let x = MARGIN;
      y += LINE - 4;
      svg += text([x, y], view.colour.label, theme2.soft);
      x += wide(view.colour.label) + 14;
      for (const [number2, name2] of legendOf(view)) {
        const own = view.style === "steps" ? 34 : 16;
        const words = shortened(name2, available - own - 4);
        if (x + own + wide(words) > width2 - MARGIN) {
          x = MARGIN;
          y += LINE;
        }
        const colour = theme2.colours[number2 % COLOURS2];
        svg += view.style === "steps" ? sample(number2, [x + 14, y - 4], colour) : mark(number2, [x + 6, y - 4], 4, colour, colour);
        svg += text([x + own, y], words, theme2.ink);
        x += own + wide(words) + 16;
      }
      y += 12;
    }
    const shown2 = panelsOf(view);
    const columns2 = shown2.length > 1 && width2 >= 600 ? 2 : 1;
    const each = (available - GAP2 * (columns2 - 1)) / columns2;
    const all = common(view, log, inPercent, isFree);
    let tallest = 0;
    for (const [i, panel] of shown2.entries()) {
      if (i % columns2 === 0 && i > 0) {
        y += tallest + 14;
        tallest = 0;
      }
      const x = MARGIN + i % columns2 * (each + GAP2);
      const name2 = panelName(view, panel);
      const head = name2 ? 18 : 0;
      if (name2) svg += text([x, y + 13], shortened(name2, each), theme2.ink, "start", ' font-weight="600"');
      const drawn = panelOf(view, all, panel, each, theme2);
      svg += `<g transform="translate(${at(x)} ${at(y + head)})">
${drawn.svg}</g>
`;
      tallest = Math.max(tallest, head + drawn.height);
    }
    const height = y + tallest + MARGIN;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${at(width2)}" height="${at(height)}" viewBox="0 0 ${at(width2)} ${at(height)}" font-family="${FONT}" font-size="12">
<title>${escaped(view.title)}</title>
<desc>${escaped(view.sentence)}</desc>
${rect([0, 0, width2, height], theme2.paper)}${svg}</svg>
`;
  }

  // report/hand.js
  function hand(name2, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name2;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  }
  function handText(name2, text2, kind) {
    hand(name2, new Blob([text2], { type: `${kind};charset=utf-8` }));
  }
  async function png(svg, fine = 3) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth * fine, image.naturalHeight * fine];
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done, fail) => canvas.toBlob((blob) => blob ? done(blob) : fail(new Error("no picture came of it")), "image/png"));
  }
  var fileName = (...parts) => parts.filter(Boolean).join("-").toLowerCase().replace(/[^\p{L}\p{N}._=]+/gu, "-").replace(/^-+|-+$/g, "");

  // report/save.js
  function cell(value) {
    const text2 = value === null || value === void 0 ? "" : String(value);
    return /[",\r\n]/.test(text2) ? `"${text2.replaceAll('"', '""')}"` : text2;
  }
  function csv(rows2) {
    return rows2.map((row) => `${row.map(cell).join(",")}
`).join("");
  }
  function headOf({ key, label, unit }) {
    return (key || label) + (unit && /second|minute|hour|day/.test(unit) ? ` (${unit})` : "");
  }
  function numbersOf(view) {
    const hasIntervals = view.series.some((series) => (series.half?.length ?? 0) > 0);
    const hasLabels = view.series.some((series) => (series.labels?.length ?? 0) > 0);
    const hasPanels = Boolean(view.panel) && panelsOf(view).length > 0;
    const heads = [hasPanels ? view.panel?.key : null, hasLabels ? view.colour?.label : null, view.colour?.key, headOf(view.x), headOf(view.y), ...hasIntervals ? ["half_width", "replications"] : []];
    const rows2 = pointsOf(view).map((point) => [
      ...hasPanels ? [view.panels?.[point.panel]] : [],
      ...hasLabels ? [point.label] : [],
      ...view.colour ? [point.name] : [],
      placeOf(view, point.x),
      point.mean,
      ...hasIntervals ? [point.half, point.replications] : []
    ]);
    return { heads: heads.filter((head) => head !== null && head !== void 0), rows: rows2 };
  }

  // report/state.js
  var listeners = (
    /** @type {(() => void)[]} */
    []
  );
  function parsed(hash) {
    return new URLSearchParams(hash.startsWith("#?") ? hash.slice(2) : "");
  }
  function recalled(name2) {
    return parsed(location.hash).get(name2);
  }
  function remember(name2, value) {
    const all = parsed(location.hash);
    if (value === null) all.delete(name2);
    else all.set(name2, value);
    const text2 = all.toString();
    const hash = text2 === "" ? "" : `#?${text2}`;
    if (hash !== location.hash) history.replaceState(history.state, "", hash === "" ? location.pathname + location.search : hash);
  }
  function onChange(call) {
    if (listeners.push(call) > 1) return;
    addEventListener("hashchange", () => {
      if (location.hash.startsWith("#?")) for (const listener of listeners) listener();
    });
  }

  // report/tables.js
  var FEW = 12;
  function keyOf(text2) {
    const number2 = /^[-+−]?[\d,]*\.?\d+(e[-+]?\d+)?/.exec(text2.trim());
    return number2 ? Number(number2[0].replaceAll(",", "").replace("−", "-")) : text2.trim();
  }
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number" || b === "-") return -1;
    if (typeof b === "number" || a === "-") return 1;
    return a.localeCompare(b);
  }
  function sort(table, column2, isDown) {
    const body = table.tBodies[0];
    const rows2 = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column2]?.textContent ?? "") }));
    rows2.sort((a, b) => isDown && a.key !== "-" && b.key !== "-" ? compare(b.key, a.key) : compare(a.key, b.key));
    body.append(...rows2.map(({ row }) => row));
    [...table.tHead?.rows[0].cells ?? []].forEach((head, i) => {
      if (i === column2) head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }
  function prepareTables(root) {
    for (const table of root.querySelectorAll("details.numbers table, figure details table")) {
      if (!(table instanceof HTMLTableElement) || table.tHead?.querySelector("button")) continue;
      const count = table.tBodies[0]?.rows.length ?? 0;
      if (count < 3) continue;
      [...table.tHead?.rows[0].cells ?? []].forEach((head, column2) => {
        const button2 = make2("button", { type: "button" }, ...head.childNodes);
        button2.addEventListener("click", () => sort(table, column2, head.getAttribute("aria-sort") === "ascending"));
        head.append(button2);
      });
      const box = table.closest(".scroll");
      if (count < FEW || !box || box.previousElementSibling?.matches(".filter")) continue;
      box.before(make2("div", { class: "filter" }, search(box), sorter(table)));
    }
  }
  function search(box) {
    const input = make2("input", { type: "search", autocomplete: "off" });
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of box.querySelectorAll("tbody tr")) {
        const text2 = row.textContent?.toLowerCase() ?? "";
        if (row instanceof HTMLElement) row.hidden = !words.every((word) => text2.includes(word));
      }
    });
    return make2("label", {}, "Rows with ", input);
  }
  function sorter(table) {
    const heads = [...table.tHead?.rows[0].cells ?? []].map((head) => head.textContent ?? "");
    const names2 = heads.flatMap((name2) => [`${name2} ↑`, `${name2} ↓`]);
    const select = make2("select", {}, make2("option", {}, "as in the file"), ...names2.map((name2) => make2("option", {}, name2)));
    const rows2 = [...table.tBodies[0].rows];
    select.addEventListener("change", () => {
      const chosen = select.selectedIndex - 1;
      if (chosen >= 0) sort(table, Math.floor(chosen / 2), chosen % 2 === 1);
      else table.tBodies[0].append(...rows2);
    });
    return make2("label", {}, "Order ", select);
  }

  // report/tip.js
  var REACH = 40;
  function told(view, point, { panel, inPercent }) {
    const lines = [...panel ? [panel] : [], ...point.label ? [point.label] : [], `${view.x.label}: ${view.x.names?.length || view.x.dates ? placeOf(view, point.x) : brief(point.x)}`];
    if (view.colour) lines.push(`${view.colour.label}: ${point.name}`);
    lines.push(`${inPercent ? view.y.label : labelOf(view.y)}: ${wordsOf(point, inPercent)}`);
    if (isPartial(view, point)) lines.push(`of ${point.replications} of ${view.expected} replications so far`);
    else if (point.replications > 1) lines.push(`of ${point.replications} replications`);
    return lines;
  }
  function tips(panel, svg, view, drawn, place2) {
    const tip = make2("div", { class: "tip", role: "status" });
    let current = -1;
    tip.hidden = true;
    panel.append(tip);
    const stress = (colour) => {
      const lines = svg.querySelectorAll("g[data-series]");
      if (lines.length < 3) return;
      for (const line2 of lines) line2.setAttribute("opacity", colour === null || Number(line2.getAttribute("data-series")) === colour ? "1" : "0.25");
    };
    const hide = () => {
      tip.hidden = true;
      current = -1;
      stress(null);
    };
    const tell = (which) => {
      const box = svg.getBoundingClientRect();
      const size = box.width / drawn.width || 1;
      const hit = drawn.hits[which];
      current = which;
      stress(hit.point.colour);
      tip.replaceChildren(...told(view, hit.point, place2).map((line2) => make2("span", {}, line2)));
      tip.hidden = false;
      const outer = panel.getBoundingClientRect();
      const left = Math.min(hit.x * size + 12, outer.width - tip.offsetWidth - 2);
      const top = box.top - outer.top + hit.y * size - tip.offsetHeight - 8;
      tip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
    };
    const show = (event) => {
      const box = svg.getBoundingClientRect();
      const size = box.width / drawn.width || 1;
      const [x, y] = [(event.clientX - box.left) / size, (event.clientY - box.top) / size];
      let [nearest2, distance] = [-1, Infinity];
      for (const [which, hit] of drawn.hits.entries()) {
        const away = view.style === "rows" ? Math.abs(hit.y - y) : Math.hypot(hit.x - x, hit.y - y);
        if (away < distance) [nearest2, distance] = [which, away];
      }
      if (nearest2 < 0 || distance > REACH) hide();
      else tell(nearest2);
    };
    svg.addEventListener("pointermove", show);
    svg.addEventListener("pointerdown", show);
    svg.addEventListener("pointerleave", hide);
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const count = drawn.hits.length;
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (step === void 0 || count === 0) return;
      event.preventDefault();
      tell(current < 0 ? step > 0 ? 0 : count - 1 : (current + step + count) % count);
    });
  }

  // report/figures.js
  var PANEL = 290;
  var GAP3 = 24;
  var MOST_ROWS = 2e3;
  var SCALE = "scale";
  var SCALES = ["linear", "logarithmic", "own in each panel"];
  var UNIT = "in";
  var UNITS = ["percent", "absolute"];
  var LINES = "lines";
  var PARTS2 = ["in one panel", "a panel each"];
  var HAIRBALL = 4;
  var ALONG = "along";
  var OWN = ["metric", ALONG, SCALE, UNIT, LINES];
  var states = /* @__PURE__ */ new Map();
  var findings = /* @__PURE__ */ new Map();
  var queue = [];
  var names = 0;
  function stateOf(element) {
    const state2 = states.get(element);
    if (!state2) throw new Error("this is no figure");
    return state2;
  }
  function indexOf(choice, chosen) {
    const at3 = choice.values.indexOf(chosen.get(choice.key) ?? "");
    return at3 < 0 ? choice.first ?? 0 : at3;
  }
  var indicesOf = (figure2, chosen) => figure2.choices.map((choice) => indexOf(choice, chosen));
  var viewAt = (figure2, at3) => figure2.views.find((view) => view.at.every((index, i) => index === null || index === at3[i]));
  var alongOf = (figure2) => figure2.choices.findIndex(({ key }) => key === ALONG);
  function viewOf(figure2, chosen) {
    const at3 = indicesOf(figure2, chosen);
    const along2 = alongOf(figure2);
    return viewAt(figure2, at3) ?? (along2 < 0 ? void 0 : viewAt(figure2, at3.with(along2, 0)));
  }
  var percentOf2 = (view, chosen) => hasPercent(view) && chosen.get(UNIT) !== UNITS[1];
  function logOf(view, chosen) {
    const scale2 = chosen.get(SCALE);
    return canBeLog(view, percentOf2(view, chosen)) && (scale2 === SCALES[1] || scale2 !== SCALES[0] && isLog(view));
  }
  var isHairball = (view) => canPart(view) && view.style === "steps" && Boolean(view.fixed) && view.series.length > HAIRBALL;
  function shownOf(figure2, chosen) {
    const view = viewOf(figure2, chosen);
    const isParted = view && canPart(view) && (chosen.has(LINES) ? chosen.get(LINES) === PARTS2[1] : isHairball(view));
    return view && isParted ? parted(view) : view;
  }
  function lookOf(view, chosen) {
    return {
      log: logOf(view, chosen),
      inPercent: percentOf2(view, chosen),
      isFree: panelsOf(view).length > 1 && chosen.get(SCALE) === SCALES[2]
    };
  }
  function panelElement(view, all, panel, width2) {
    const name2 = panelName(view, panel);
    const place2 = make2("div", { class: "panel" });
    if (name2) place2.append(make2("p", {}, name2));
    const drawn = panelOf(view, all, panel, width2, PAGE);
    place2.insertAdjacentHTML(
      "beforeend",
      `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width2}" height="${drawn.height}" viewBox="0 0 ${width2} ${drawn.height}">${drawn.svg}</svg>`
    );
    const svg = (
      /** @type {SVGElement} */
      place2.lastElementChild
    );
    svg.setAttribute("aria-label", name2 ? `${name2}. ${view.sentence}` : view.sentence);
    tips(place2, svg, view, drawn, { panel: name2, inPercent: all.inPercent });
    return place2;
  }
  function drawPanels(panels, view, { log, inPercent, isFree }, width2) {
    const shown2 = panelsOf(view);
    const columns2 = Math.max(1, Math.min(shown2.length, Math.floor((width2 + GAP3) / (PANEL + GAP3))));
    panels.style.gridTemplateColumns = `repeat(${columns2}, minmax(0, 1fr))`;
    const available = Math.floor((width2 - GAP3 * (columns2 - 1)) / columns2);
    const all = common(view, log, inPercent, isFree);
    panels.replaceChildren(...shown2.map((panel) => panelElement(view, all, panel, Math.max(200, available))));
  }
  function legendElement(view) {
    const key = view.colour?.label ?? "";
    const list2 = make2("ul", { class: "legend", "aria-label": key }, make2("li", { class: "key" }, key));
    for (const [number2, name2] of legendOf(view)) {
      const item = make2("li", {}, name2);
      const colour = PAGE.colours[number2 % PAGE.colours.length];
      const drawn = view.style === "steps" ? `<svg xmlns="http://www.w3.org/2000/svg" class="line" viewBox="-14 -5 28 10" aria-hidden="true">${sample(number2, [0, 0], colour)}</svg>` : `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-9 -9 18 18" aria-hidden="true">${mark(number2, [0, 0], 5.5, colour, colour)}</svg>`;
      item.insertAdjacentHTML("afterbegin", drawn);
      list2.append(item);
      if (view.style !== "rows") single(item, number2);
    }
    return list2;
  }
  function single(item, number2) {
    const show = (isAlone) => {
      for (const line2 of item.closest("figure")?.querySelectorAll(".panels g[data-series]") ?? []) {
        line2.setAttribute("opacity", isAlone && Number(line2.getAttribute("data-series")) !== number2 ? "0.12" : "1");
      }
    };
    item.tabIndex = 0;
    for (const kind of ["pointerenter", "focus"]) item.addEventListener(kind, () => show(true));
    for (const kind of ["pointerleave", "blur"]) item.addEventListener(kind, () => show(false));
  }
  function draw(element) {
    const state2 = stateOf(element);
    state2.isWaiting = false;
    const { figure: figure2, chosen } = state2;
    const view = shownOf(figure2, chosen);
    const panels = find(element, ".panels"), legend2 = find(element, ".legends");
    const caption = find(element, "figcaption");
    const numbers = (
      /** @type {HTMLDetailsElement} */
      find(element, "details")
    );
    panels.replaceChildren();
    legend2.replaceChildren();
    numbers.hidden = find(element, ".save").hidden = !view;
    state2.width = element.clientWidth;
    if (!view) {
      caption.textContent = "Nothing was measured here, or the page would have grown too large: the files beside it have all numbers.";
      return;
    }
    if (element.parentElement) pair(element.parentElement);
    state2.width = element.clientWidth;
    const look3 = lookOf(view, chosen);
    caption.textContent = sentenceOf(view, look3.log, look3.inPercent);
    fillLook(element, view);
    offer(element, view);
    if (view.colour) legend2.append(legendElement(view));
    drawPanels(panels, view, look3, state2.width);
    if (numbers.open) fillNumbers(numbers, viewOf(figure2, chosen) ?? view);
  }
  function pair(home) {
    let alone = (
      /** @type {Element | null} */
      null
    );
    for (const element of home.children) {
      const state2 = states.get(element);
      if (!state2) continue;
      const view = shownOf(state2.figure, state2.chosen);
      const isWide = view !== void 0 && panelsOf(view).length > 1;
      if (isWide || alone) {
        alone?.classList.toggle("wide", isWide);
        element.classList.toggle("wide", isWide);
        alone = null;
      } else {
        alone = element;
      }
    }
    alone?.classList.add("wide");
  }
  function sentenceOf(view, log, inPercent = hasPercent(view)) {
    const text2 = inPercent ? view.sentence : view.sentence.replace(/ In percent, with intervals of the ratio,[^.]*\./, "");
    return text2.replace(" The scale is logarithmic.", "") + (log ? " The scale is logarithmic." : "");
  }
  function fillNumbers(details, view) {
    const { heads, rows: rows2 } = numbersOf(view);
    const keys = heads.length - (heads.includes("half_width") ? 3 : 1);
    const head = make2("tr");
    heads.forEach((text2, i) => head.append(make2("th", { scope: "col", class: i < keys ? "" : "n" }, String(text2).replaceAll("_", " "))));
    const body = make2("tbody");
    for (const row of rows2.slice(0, MOST_ROWS)) {
      const line2 = make2("tr");
      row.forEach((value, i) => {
        const text2 = value === null || value === void 0 ? "-" : String(value);
        line2.append(i === keys - 1 ? make2("th", { scope: "row" }, text2) : make2("td", { class: i < keys ? "" : "n" }, text2));
      });
      body.append(line2);
    }
    const table = make2("table", {}, make2("caption", {}, make2("span", {}, view.sentence)), make2("thead", {}, head), body);
    const scroll = make2("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of the plot" }, table);
    const more = rows2.length > MOST_ROWS ? [make2("p", {}, `${rows2.length - MOST_ROWS} more rows are in the CSV.`)] : [];
    details.replaceChildren(
      /** @type {Element} */
      details.firstElementChild,
      scroll,
      ...more
    );
    prepareTables(details);
  }
  async function save(element, kind) {
    const { figure: figure2, chosen } = stateOf(element);
    const view = shownOf(figure2, chosen);
    if (!view) return;
    const name2 = fileName(figure2.id, ...figure2.choices.flatMap((choice, i) => choice.values[view.at[i] ?? -1] ?? []));
    if (kind === "CSV") {
      const { heads, rows: rows2 } = numbersOf(viewOf(figure2, chosen) ?? view);
      handText(`${name2}.csv`, csv([heads, ...rows2]), "text/csv");
      return;
    }
    const { log, inPercent, isFree } = lookOf(view, chosen);
    const svg = figureOf(view, log, void 0, inPercent, isFree);
    if (kind === "SVG") handText(`${name2}.svg`, svg, "image/svg+xml");
    else hand(`${name2}.png`, await png(svg));
  }
  function place(figure2, level) {
    const element = make2("figure", { id: figure2.id });
    const kinds = ["SVG", "PNG", "CSV"].map((kind) => {
      const button2 = make2("button", { type: "button", "aria-label": `Save ${figure2.heading} as ${kind}` }, kind);
      button2.addEventListener("click", () => save(element, kind));
      return button2;
    });
    element.append(
      make2(level === "3" ? "h3" : "h4", { class: "small" }),
      make2("div", { class: "choices" }),
      make2("figcaption", { "aria-live": "polite" }),
      make2("div", { class: "legends" }),
      make2("div", { class: "panels" }),
      make2("p", { class: "save" }, "Save: ", ...kinds),
      make2("details", {}, make2("summary", {}, "These numbers as a table"))
    );
    states.set(element, { chosen: /* @__PURE__ */ new Map(), width: 0, figure: figure2, isWaiting: false });
    const numbers = (
      /** @type {HTMLDetailsElement} */
      find(element, "details")
    );
    numbers.addEventListener("toggle", () => {
      const { figure: figure3, chosen } = stateOf(element);
      const view = viewOf(figure3, chosen);
      if (numbers.open && view) fillNumbers(numbers, view);
    });
    recall(element);
    resized.observe(element);
    return element;
  }
  var address = (figure2, key) => `${figure2.id}.${key}`;
  function recall(element) {
    const { figure: figure2, chosen } = stateOf(element);
    chosen.clear();
    for (const { key, values } of [...figure2.choices, { key: SCALE, values: SCALES }, { key: UNIT, values: UNITS }, { key: LINES, values: PARTS2 }]) {
      const value = recalled(address(figure2, key));
      if (value !== null && values.includes(value)) chosen.set(key, value);
    }
  }
  function chooser(element, choice, value, first2) {
    const { figure: figure2, chosen } = stateOf(element);
    const select = make2("select", { id: `choice-${names += 1}`, "data-key": choice.key });
    for (const value2 of choice.values) select.append(make2("option", {}, value2));
    select.value = value;
    select.addEventListener("change", () => {
      chosen.set(choice.key, select.value);
      remember(address(figure2, choice.key), select.value === first2 ? null : select.value);
      draw(element);
      if (!OWN.includes(choice.key)) chooseInAll(element, choice.key, select.value);
    });
    return make2("label", { for: select.id }, `${choice.label} `, select);
  }
  function chooseInAll(element, key, value) {
    const home = element.parentElement;
    for (const [other, { figure: figure2, chosen }] of states) {
      const choice = figure2.choices.find((choice2) => choice2.key === key);
      if (!(other instanceof HTMLElement) || other === element || other.parentElement !== home || !choice?.values.includes(value)) continue;
      chosen.set(key, value);
      remember(address(figure2, key), value === choice.values[choice.first ?? 0] ? null : value);
      fillChoices(other);
      draw(other);
    }
    if (home) sayFinding(home);
  }
  function sayFinding(home) {
    const place2 = home.closest("section")?.querySelector(".finding");
    const all = findings.get(home) ?? [];
    const values = /* @__PURE__ */ new Map();
    for (const element of home.children) {
      const state2 = states.get(element);
      if (!state2) continue;
      indicesOf(state2.figure, state2.chosen).forEach((at3, i) => {
        const choice = state2.figure.choices[i];
        if (!values.has(choice.key)) values.set(choice.key, choice.values[at3]);
      });
    }
    const found = all.find(({ at: at3 }) => at3.every(([key, value]) => !values.has(key) || values.get(key) === value));
    if (!place2 || !found) return;
    const text2 = found.text.replaceAll(" %", " %");
    if (place2.textContent !== text2) place2.textContent = text2;
    place2.classList.toggle("open", !found.is_clear);
  }
  function fillChoices(element) {
    const { figure: figure2, chosen } = stateOf(element);
    const row = find(element, ".choices");
    const active = document.activeElement;
    const had = active instanceof HTMLElement && active.closest(".choices") === row ? active.dataset.key : null;
    row.replaceChildren(...figure2.choices.map((choice) => {
      const label = choice.key === ALONG ? { ...choice, label: "x axis" } : choice;
      return chooser(element, label, choice.values[indexOf(choice, chosen)], choice.values[choice.first ?? 0]);
    }), make2("span", { class: "of-scale" }));
    const view = shownOf(figure2, chosen);
    if (view) fillLook(element, view);
    if (had) row.querySelector(`[data-key="${CSS.escape(had)}"]`)?.focus();
  }
  function offer(element, view) {
    const { figure: figure2, chosen } = stateOf(element);
    const at3 = indicesOf(figure2, chosen);
    figure2.choices.forEach(({ key }, which) => {
      const select = (
        /** @type {HTMLSelectElement} */
        find(element, `[data-key="${CSS.escape(key)}"]`)
      );
      select.parentElement.hidden = view.at[which] === null;
      if (key !== ALONG) return;
      [...select.options].forEach((option, i) => option.disabled = !viewAt(figure2, at3.with(which, i)));
      select.selectedIndex = view.at[which] ?? 0;
    });
  }
  function fillLook(element, view) {
    const place2 = find(element, ".of-scale");
    const { log, inPercent, isFree } = lookOf(view, stateOf(element).chosen);
    const scales = [SCALES[0], ...canBeLog(view, inPercent) ? [SCALES[1]] : [], ...panelsOf(view).length > 1 ? [SCALES[2]] : []];
    const all = (
      /** @type {[string, string[], string, string][]} */
      []
    );
    const { figure: figure2, chosen } = stateOf(element);
    const own = viewOf(figure2, chosen) ?? view;
    if (canPart(own)) all.push([LINES, PARTS2, PARTS2[Number(view !== own)], PARTS2[Number(isHairball(own))]]);
    if (hasPercent(view)) all.push([UNIT, UNITS, UNITS[Number(!inPercent)], UNITS[0]]);
    if (scales.length > 1) all.push([SCALE, scales, isFree ? SCALES[2] : SCALES[Number(log)], SCALES[Number(isLog(view) && canBeLog(view, inPercent))]]);
    const offered = JSON.stringify(all.map(([key, values, , first2]) => [key, values, first2]));
    if (place2.dataset.offered !== offered) {
      place2.dataset.offered = offered;
      place2.replaceChildren(...all.map(([key, values, value, first2]) => chooser(element, { key, label: key, values }, value, first2)));
    }
    for (const [key, , value] of all) find(place2, `[data-key="${key}"]`).value = value;
  }
  function next() {
    const element = queue.shift();
    if (element?.isConnected && stateOf(element).isWaiting) draw(element);
    if (queue.length === 0) return;
    if ("requestIdleCallback" in window) requestIdleCallback(next, { timeout: 100 });
    else setTimeout(next, 1);
  }
  function drawRest() {
    for (const element of queue.splice(0)) if (element.isConnected && stateOf(element).isWaiting) draw(element);
  }
  function drawFor(element, width2) {
    if (!(element instanceof HTMLElement)) return;
    const { figure: figure2, chosen } = stateOf(element);
    const view = shownOf(figure2, chosen);
    if (width2 === null) draw(element);
    else if (view) drawPanels(find(element, ".panels"), view, lookOf(view, chosen), width2);
  }
  function shownFigures() {
    return [...states].filter(([element]) => element.isConnected).map(([element, { figure: figure2, chosen }]) => ({ element, figure: figure2, chosen }));
  }
  var resized = new ResizeObserver((entries) => requestAnimationFrame(() => {
    for (const { target } of entries) {
      const state2 = states.get(target);
      if (target instanceof HTMLElement && state2 && !state2.isWaiting && target.isConnected && target.clientWidth > 0 && Math.abs(target.clientWidth - state2.width) > 1) draw(target);
    }
  }));
  function drawFigures(root, data2) {
    for (const section of data2.sections) {
      const home = root.querySelector(`.figures[data-section="${CSS.escape(section.id)}"]`);
      if (!(home instanceof HTMLElement)) continue;
      const old = new Map([...home.querySelectorAll("figure")].map((element) => [element.id, element]));
      for (const figure2 of section.figures) {
        const element = old.get(figure2.id) ?? place(figure2, home.dataset.level);
        old.delete(figure2.id);
        const state2 = stateOf(element);
        state2.figure = figure2;
        find(element, ".small").textContent = figure2.heading;
        home.append(element);
        fillChoices(element);
        if (!state2.isWaiting) queue.push(element);
        state2.isWaiting = true;
      }
      pair(home);
      findings.set(home, section.findings ?? []);
      sayFinding(home);
      for (const element of old.values()) {
        resized.unobserve(element);
        states.delete(element);
        element.remove();
      }
    }
    next();
  }
  function followLinks() {
    onChange(() => {
      for (const { element } of shownFigures()) {
        if (!(element instanceof HTMLElement)) continue;
        recall(element);
        fillChoices(element);
        draw(element);
      }
      for (const home of findings.keys()) sayFinding(home);
    });
  }

  // live/live.js
  var SECOND = 1e3;
  var state = document.getElementById("live-state");
  var bar = (
    /** @type {HTMLProgressElement} */
    document.getElementById("live-bar")
  );
  var figure = document.getElementById("live-machine");
  var still;
  var tag = null;
  var told2 = "";
  var lastMachine = "";
  var lastSizes = "";
  var misses = 0;
  var shown = null;
  var looks = /* @__PURE__ */ new Map();
  var whole = (number2) => number2.toLocaleString("en");
  var several = (number2, one, more) => `${whole(number2)} ${number2 === 1 ? one : more}`;
  function say(text2) {
    if (text2 !== told2) state.textContent = text2;
    told2 = text2;
  }
  function fill2(fresh) {
    const page = new DOMParser().parseFromString(`<main>${fresh.results}</main>`, "text/html");
    for (const section of page.querySelectorAll("section.study")) {
      const home = document.getElementById(section.id);
      if (!home) continue;
      home.querySelector(".runs")?.replaceWith(section.querySelector(".runs") ?? "");
      home.querySelector(".asked dl")?.replaceWith(section.querySelector(".asked dl") ?? "");
      for (const part of [".finding", ".warnings", ".sayings", ".notes", ".failures"]) {
        const own = home.querySelector(part), other = section.querySelector(part);
        if (own && other) own.replaceWith(other);
        else if (own) own.remove();
        else if (other && part === ".failures") home.querySelector(".asked").before(other);
        else if (other && part !== ".sayings") home.querySelector(".body").before(other);
      }
      for (const table of section.querySelectorAll("details.numbers table")) {
        const own = document.getElementById(table.id);
        if (own) own.replaceWith(table);
        else home.querySelector(".asked").before(table.closest("details"));
      }
      prepareTables(home);
    }
    drawFigures(document, fresh.data);
  }
  async function ask(path2, headers = {}) {
    const response = await fetch(path2, { headers, cache: "no-store" });
    if (response.status === 304) return null;
    if (!response.ok) throw new Error(response.statusText);
    if (path2 === "/report.json") tag = response.headers.get("ETag");
    return response.json();
  }
  async function showMachine(machine) {
    figure.hidden = !machine;
    if (!machine) return;
    const same = JSON.stringify(machine);
    if (same === lastMachine) return;
    lastMachine = same;
    const run = await open(machine.recording, looks);
    run.isLive = true;
    run.isOver = machine.ended;
    const moment = run.moment(machine.time, LISTED);
    moment.waits = machine.waiting;
    looks = new Map(moment.running.map((s) => [run.number[run.who[s]], run.look[run.who[s]]]));
    const where = [machine.scenario, `replication ${machine.replication}`].filter(Boolean).join(", ");
    const ended = several(machine.finished, "job", "jobs");
    figure.querySelector("figcaption").textContent = machine.ended ? `One of the runs, as it ended: ${where}, after ${ended}.` : `A run in progress: ${where}. ${ended} ${machine.finished === 1 ? "has" : "have"} ended in it so far.`;
    still.open(run);
    shown = { moment };
    arrange();
  }
  function arrange() {
    if (!shown || figure.hidden) return;
    const stage = find(figure, ".machine");
    const theme2 = theme(stage);
    const sizes = `${stage.clientWidth} ${JSON.stringify(still.run.recording.sites)}`;
    if (sizes !== lastSizes) still.arrange(stage, stage.clientWidth);
    lastSizes = sizes;
    still.draw(shown.moment, -1, theme2);
  }
  function follow() {
    still = new Still();
    const { now, picture: picture2, lists } = still;
    find(figure, ".machine").replaceChildren(now, picture2, lists);
    addEventListener("resize", arrange);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", arrange);
    look2();
  }
  var first = null;
  function timeLeft(now) {
    if (!first || first.total !== now.total) first = { at: performance.now(), done: now.done, total: now.total, jobs: now.jobs };
    const [done, elapsed] = [now.done - first.done, (performance.now() - first.at) / SECOND];
    if (done < 1 || now.ended) return "";
    const seconds = elapsed / done * (now.total - now.done);
    const words = seconds < 100 ? `${Math.round(seconds)} s` : seconds < 6e3 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
    const rate = Number(((now.jobs - first.jobs) / elapsed).toPrecision(2));
    return ` About ${words} left${rate > 0 ? `, at ${whole(rate)} jobs a second` : ""}.`;
  }
  function showProgress(now) {
    const share = now.total > 0 ? now.done / now.total : 0;
    bar.value = share;
    bar.hidden = now.ended;
    document.body.classList.toggle("is-running", !now.ended);
    const failed = now.failed > 0 ? `, ${several(now.failed, "failed", "failed")}` : "";
    const which = now.studies > 1 && !now.ended ? `${now.study}: ` : "";
    say(now.ended ? `All ${several(now.done, "run has", "runs have")} ended${failed}. The numbers below are the last ones.` : `${which}${whole(now.done)} of ${several(now.total, "run has", "runs have")} ended${failed}.${timeLeft(now)}`);
  }
  async function look2() {
    try {
      const now = await ask("/machine.json");
      misses = 0;
      showProgress(now);
      await showMachine(now.machine);
      const fresh = await ask("/report.json", tag ? { "If-None-Match": tag } : {});
      if (fresh) fill2(fresh);
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
    setTimeout(look2, SECOND);
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
  function curve(context, theme2, colour, data2, top, height, full2, words) {
    const y = (value) => top + height - (full2 > 0 ? value / full2 * height : 0);
    const { mean, least, most } = data2;
    context.fillStyle = colour;
    context.globalAlpha = 0.25;
    for (let x = 0; x < mean.length; x += 1) context.fillRect(PAD + x, y(mean[x]), 1, top + height - y(mean[x]));
    context.globalAlpha = 0.35;
    for (let x = 0; x < mean.length; x += 1) context.fillRect(PAD + x, y(most[x]), 1, y(least[x]) - y(most[x]));
    context.globalAlpha = 1;
    context.strokeStyle = colour;
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
    const { held, waits, gap, axis } = HEIGHTS;
    const height = gap + held + gap + waits + axis;
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
      `${run.isShared ? "Cores" : "Processors"} held, of ${number(run.processors)}`
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
    if (run.known() < until && run.recording.held_up) {
      const left = x(run.known());
      context.fillStyle = theme2.soft;
      context.globalAlpha = 0.16;
      context.fillRect(left, second, PAD + inner - left, waits);
      context.globalAlpha = 1;
      context.fillStyle = theme2.soft;
      context.textAlign = "right";
      const text2 = "grey: reasons for waiting were not recorded";
      const isWide = width2 > 2 * (2 * PAD + context.measureText(text2).width);
      context.fillText(isWide ? text2 : "grey: not recorded", width2 - PAD, second - 7);
    }
    drawAxis(context, theme2, run.clock, from, until, x, second + waits, width2);
  }
  function drawAxis(context, theme2, clock, from, until, x, y, width2) {
    context.fillStyle = context.strokeStyle = theme2.soft;
    context.textAlign = "center";
    context.beginPath();
    for (const { time, text: text2 } of clock.ticks(from, until, width2 / 110)) {
      const at3 = Math.round(x(time)) + 0.5;
      context.moveTo(at3, y);
      context.lineTo(at3, y + 4);
      const half = text2.length * 3;
      context.fillText(text2, Math.min(Math.max(at3, half + 1), width2 - half - 1), y + 11);
    }
    context.lineWidth = 1;
    context.stroke();
  }

  // machine/gantt.js
  var AXIS = 18;
  var HEADING = 13;
  var GAP4 = 6;
  var LEGIBLE = 2.5;
  var ROW = 4;
  var Gantt = class {
    constructor(run, by = "job") {
      this.run = run;
      const { bands, lane, where } = pack(run, by);
      this.bands = bands;
      this.lane = lane;
      this.band = where;
      this.view = { from: run.recording.from, until: run.recording.until };
      this.least = Math.max((this.view.until - this.view.from) / Math.max(50, run.jobs * 4), Number.MIN_VALUE);
      this.width = 0;
      this.rects = [];
      this.cells = [];
    }
    // Zooms by a factor around a time.
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
      const wide2 = Math.min(span, whole2);
      const begin = Math.min(Math.max(from, recording.from), recording.until - wide2);
      this.view = { from: begin, until: begin + wide2 };
    }
    // Scrolls until a time is visible.
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
    // Computes the positions of the bands for this height.
    place(height) {
      const heading = this.bands.length > 1 ? HEADING : 0;
      const available = height - AXIS - this.bands.length * (heading + GAP4);
      const all = this.bands.reduce((sum, band) => sum + Math.sqrt(band.lanes), 0);
      let y = 0;
      for (const band of this.bands) {
        band.top = y + heading;
        const most = band.ordered ? Infinity : band.lanes * 22;
        band.height = Math.min(Math.max(12, available * Math.sqrt(band.lanes) / all), most);
        y = band.top + band.height + GAP4;
      }
      return y - GAP4 + AXIS;
    }
    // Whether a band has more lanes than can be distinguished.
    isDense(band) {
      return band.height / band.lanes < LEGIBLE;
    }
    draw(canvas, theme2, width2, height, chosen) {
      this.width = width2;
      const used2 = this.place(height);
      const context = sized(canvas, width2, used2);
      this.rects = [];
      this.cells = this.bands.map(() => null);
      context.save();
      context.beginPath();
      context.rect(PAD, 0, width2 - 2 * PAD, used2);
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
        this.bands.forEach((band) => context.fillText(band.title, PAD, band.top - 6));
      }
      drawAxis(context, theme2, this.run.clock, this.view.from, this.view.until, (time) => this.x(time), used2 - AXIS, width2);
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
    drawBars(context, theme2, chosen) {
      const { run } = this;
      const names2 = [];
      const edged = [];
      this.bands.forEach((band, i) => this.isDense(band) && this.drawCells(context, theme2, i, chosen));
      this.seen((s) => {
        const job = run.who[s];
        if (this.isDense(this.bands[this.band[s]])) return;
        const left = Math.max(this.x(run.from[s]), 0);
        const right = Math.min(this.x(Math.min(run.to[s], run.recording.until)), this.width);
        const wide2 = Math.max(right - left, 0.6);
        context.globalAlpha = chosen >= 0 && job !== chosen ? 0.35 : 1;
        this.pieces(s, (top, height) => {
          fill(context, theme2, run.look[job], left, top, wide2, height);
          if (wide2 >= 4 && height >= 4) edged.push([left, top, wide2, height, s]);
          this.rects.push([left, top, wide2, height, job]);
          const text2 = String(run.number[job]);
          if (height >= 11 && wide2 > text2.length * 6 + 6) names2.push([text2, left, top, wide2, height, job]);
        });
      });
      for (const [x, y, width2, height, s] of edged) this.drawEdge(context, theme2, chosen, x, y, width2, height, s);
      context.fillStyle = theme2.label;
      context.textAlign = "center";
      for (const [text2, x, y, width2, height, job] of names2) {
        context.globalAlpha = chosen >= 0 && job !== chosen ? 0.5 : 1;
        context.fillText(text2, x + width2 / 2, y + height / 2 + 0.5);
      }
      context.globalAlpha = 1;
    }
    drawEdge(context, theme2, chosen, x, y, width2, height, s) {
      const { run } = this;
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
    // Draws the merged lanes of a band.
    drawCells(context, theme2, index, chosen) {
      const { run } = this;
      const band = this.bands[index];
      const columns2 = Math.max(1, Math.floor(this.width - 2 * PAD));
      const cells = new Cells(band.lanes, Math.max(1, Math.min(band.lanes, Math.floor(band.height / ROW))), columns2);
      this.cells[index] = cells;
      const height = band.height / cells.rows;
      const own = [];
      this.seen((s) => {
        if (this.band[s] !== index) return;
        const [left, right] = [this.x(run.from[s]) - PAD, this.x(Math.min(run.to[s], run.recording.until)) - PAD];
        this.lanesOf(s, (first2, count) => cells.add(s, first2, count, left, right));
        if (run.who[s] === chosen) own.push([s, left, right]);
      });
      cells.visit((row, column2, count, s, share) => {
        if (share <= 0) return;
        context.globalAlpha = (chosen >= 0 ? 0.35 : 1) * (s >= 0 ? 1 : 0.12 + 0.78 * share);
        context.fillStyle = s >= 0 ? theme2.jobs[run.look[run.who[s]] % COLOURS] : theme2.held;
        context.fillRect(PAD + column2, band.top + row * height, count, height);
      });
      context.globalAlpha = 1;
      context.fillStyle = theme2.chosen;
      const lane = band.height / band.lanes;
      for (const [s, left, right] of own) {
        this.lanesOf(s, (first2, count) => context.fillRect(PAD + left, band.top + first2 * lane, Math.max(1, right - left), Math.max(1.5, count * lane)));
      }
    }
    // Draws the wait of a selected job as a line up to the beginning of its bar.
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
    // Calls `visit` with the first lane and the number of lanes of every piece of a stay.
    lanesOf(s, visit) {
      if (this.bands[this.band[s]].ordered) this.run.rowsOf(s, visit);
      else visit(this.lane[s], 1);
    }
    // Calls `visit` with the top and the height of every piece of a stay.
    pieces(s, visit) {
      const band = this.bands[this.band[s]];
      const lane = band.height / band.lanes;
      this.lanesOf(s, (first2, count) => {
        const gap = !band.ordered && lane > 3 ? 1 : 0;
        visit(band.top + first2 * lane, Math.max(count * lane - gap, 0.6));
      });
    }
    // Returns the job of the bar at a point, or -1. In merged lanes it is the job that holds the lane, or the nearest
    // one.
    at(x, y) {
      const band = this.bands.findIndex(({ top, height }) => y >= top && y <= top + height);
      if (band >= 0 && this.cells?.[band]) return this.inRow(band, x, y).job;
      for (let i = this.rects.length - 1; i >= 0; i -= 1) {
        const [left, top, width2, height, job] = this.rects[i];
        if (x >= left - 1 && x <= left + width2 + 1 && y >= top && y <= top + height) return job;
      }
      return -1;
    }
    // Describes a row of merged lanes at a time: its lanes, how many are held, and the job nearest to a point.
    inRow(index, x, y) {
      const { run } = this;
      const [band, cells, time] = [this.bands[index], this.cells[index], this.time(x)];
      const lane = Math.min(band.lanes - 1, Math.floor((y - band.top) / band.height * band.lanes));
      const row = cells.row(lane);
      const [first2, end] = [cells.lane(row), cells.lane(row + 1)];
      const found = { first: first2, last: end - 1, held: 0, jobs: 0, job: -1, ordered: band.ordered };
      let nearest2 = Infinity;
      lasting(run.to, run.lastStays, upTo(run.from, time, run.stays), time, (s) => {
        if (this.band[s] !== index) return false;
        let held = 0;
        this.lanesOf(s, (low, count) => {
          const here = Math.min(low + count, end) - Math.max(low, first2);
          if (here <= 0) return;
          held += here;
          const away = lane < low ? low - lane : Math.max(0, lane - (low + count - 1));
          if (away < nearest2) [nearest2, found.job] = [away, run.who[s]];
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
      const { first: first2, last, held, jobs: jobs2, ordered } = this.inRow(band, x, y);
      const which = `${ordered ? "processor" : "lane"}${last > first2 ? "s" : ""} ${first2}${last > first2 ? `–${last}` : ""}`;
      return `${which}: ${held} of ${last - first2 + 1} held${jobs2 > 1 ? `, by ${jobs2} jobs` : ""}`;
    }
  };

  // machine/chart.js
  var SEEN = 160;
  var Chart = class {
    /**
     * @param {{ pick: (job: number) => void, seek: (time: number) => void, moved: () => void,
     *   hint: (event: PointerEvent | null, job: number, words?: string) => void }} listener
     */
    constructor(listener) {
      this.listener = listener;
      this.canvas = make("canvas", { tabindex: 0, role: "img" });
      this.line = make("div", { class: "m-line" });
      this.words = make("span");
      const how = matchMedia("(pointer: coarse)").matches ? " Drag to move; tap a job to follow it." : " Drag to move; click a job to follow it. To zoom, turn the wheel while Ctrl is held, or just turn it once the chart was clicked; with Shift it moves.";
      this.how = make("span", { class: "m-how" }, how);
      this.zooms = [
        button("+", "Look closer (plus)", () => this.zoom(0.5)),
        button("−", "See more (minus)", () => this.zoom(2)),
        button("Whole run", "See the whole run (0)", () => this.zoom(Infinity))
      ];
      this.order = make("select", { onchange: () => this.reorder() });
      const order = make("label", {}, "Rows by ", this.order);
      const zoom = make("span", { class: "m-zoom", role: "group", "aria-label": "Zoom of the Gantt chart" }, ...this.zooms);
      this.figure = make(
        "figure",
        { class: "m-gantt" },
        make("figcaption", {}, make("span", {}, this.words, this.how), make("span", { class: "m-zoom" }, order, zoom)),
        make("div", { class: "m-chart" }, this.canvas, this.line)
      );
      this.time = 0;
      this.gantt = /** @type {any} */
      null;
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
        const span = (until - from) * SEEN / run.jobs;
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
      canvas.addEventListener("pointercancel", () => held = null);
      canvas.addEventListener("pointerleave", () => listener.hint(null, -1));
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
    zoom(factor) {
      const { from, until } = this.gantt.view;
      const around = this.time >= from && this.time <= until ? this.time : (from + until) / 2;
      this.gantt.zoom(Math.min(factor, 1e12), around);
      this.listener.moved();
    }
    draw(theme2, width2, chosen) {
      const { gantt } = this;
      const { run } = gantt;
      const rows2 = gantt.bands.reduce((sum, band) => sum + band.lanes, 0);
      gantt.draw(this.canvas, theme2, width2, Math.min(420, Math.max(150, 60 + rows2 * 14)), chosen);
      const isDense = gantt.bands.some((band) => gantt.isDense(band));
      const dense = " Rows too many to be seen apart are drawn as one, which has the colour of the job that holds most of it, or is the darker, the more of it is held.";
      write(this.words, `Gantt chart: each bar is a job${lanes(run, this.order.value)}.${isDense ? dense : ""}`);
      const { from, until } = gantt.view;
      this.canvas.setAttribute("aria-label", `Gantt chart of ${run.jobs} jobs, from time ${run.clock.at(from)} to ${run.clock.at(until)}. The lists have the same jobs as text.`);
    }
    /** Moves the line of the current time. @param {number} time @param {number} width */
    mark(time, width2) {
      this.time = time;
      const x = this.gantt.x(time);
      this.line.style.transform = `translateX(${x}px)`;
      this.line.hidden = x < PAD - 1 || x > width2 - PAD + 1;
    }
  };

  // machine/colours.js
  function colourings(run) {
    return ["job", "size", ...run.user ? ["user"] : [], "wait"];
  }
  var isOrdered = (by) => by === "size" || by === "wait";
  function coloured(run, by) {
    const look3 = new Uint8Array(run.jobs);
    if (by === "size") {
      const sizes = Array.from(run.request, (request) => run.asked[request].nodes);
      const most = Math.floor(Math.log2(Math.max(1, ...sizes)));
      const each = Math.ceil((most + 1) / COLOURS);
      const classOf = (size) => Math.floor(Math.floor(Math.log2(Math.max(1, size))) / each);
      sizes.forEach((size, job) => look3[job] = classOf(size));
      const text2 = (own) => {
        const [first2, last] = [2 ** (own * each), 2 ** ((own + 1) * each) - 1];
        return last > first2 ? `${number(first2)} to ${number(last)} ${units(run)}` : `${number(first2)} ${first2 > 1 ? units(run) : units(run).slice(0, -1)}`;
      };
      return { look: look3, key: used(look3, text2) };
    }
    if (by === "wait") {
      const waits = Array.from(run.submit, (submit, job) => Math.max(0, Math.min(run.start[job], run.recording.until) - submit));
      const most = Math.max(0, ...waits);
      const bounds = Array.from({ length: COLOURS - 1 }, (_, k) => k === 0 ? 0 : most / 4 ** (COLOURS - 1 - k));
      waits.forEach((wait, job) => look3[job] = bounds.findIndex((bound) => wait <= bound) < 0 ? COLOURS - 1 : bounds.findIndex((bound) => wait <= bound));
      const text2 = (own) => own === 0 ? "no wait" : own === COLOURS - 1 ? `longer, up to ${run.clock.span(most)}` : `up to ${run.clock.span(bounds[own])}`;
      return { look: look3, key: used(look3, text2) };
    }
    if (by === "user" && run.user) {
      const counts = /* @__PURE__ */ new Map();
      for (const user of run.user) counts.set(user, (counts.get(user) ?? 0) + 1);
      const ranked = [...counts].sort(([, a], [, b]) => b - a).map(([user]) => user);
      const place2 = new Map(ranked.map((user, rank) => [user, Math.min(rank, LOOKS - 1)]));
      run.user.forEach((user, job) => look3[job] = place2.get(user));
      const text2 = (own) => own === LOOKS - 1 && ranked.length > LOOKS ? "all others" : run.recording.users[ranked[own]] || "unknown";
      return { look: look3, key: used(look3, text2) };
    }
    return { look: run.own, key: [] };
  }
  function used(look3, text2) {
    return [...new Set(look3)].sort((a, b) => a - b).map((own) => ({ look: own, text: text2(own) }));
  }

  // machine/controls.js
  var STEPS3 = 1e5;
  var PACES = [1, 4, 20, 100, 500];
  var Controls = class {
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
      this.pace = make(
        "select",
        { "aria-label": "How fast it plays" },
        ...PACES.map((pace) => make("option", { value: pace }, `${pace} ${pace === 1 ? "event" : "events"} a second`))
      );
      this.slider = make("input", {
        type: "range",
        min: 0,
        max: STEPS3,
        step: 1,
        "aria-label": "Time of the run",
        oninput: () => listener.share(Number(this.slider.value) / STEPS3)
      });
      this.group = make(
        "div",
        { class: "m-controls", role: "group", "aria-label": "Play the run" },
        this.first,
        this.back,
        this.playing,
        this.on,
        this.last,
        this.pace
      );
      this.plots = make("canvas", { role: "img" });
      this.line = make("div", { class: "m-line" });
      this.seen = make("div", { class: "m-seen" });
      this.box = make(
        "div",
        { class: "m-time" },
        this.group,
        this.slider,
        make("div", { class: "m-plots" }, this.plots, this.seen, this.line)
      );
      this.run = /** @type {any} */
      null;
      this.width = 0;
      drag(this.plots, (x) => listener.share((x - PAD) / (this.width - 2 * PAD)));
    }
    /** What does not change with the time. @param {import("./run.js").Run} run @param {any} theme @param {number} width */
    draw(run, theme2, width2) {
      this.run = run;
      this.width = width2;
      drawPlots(this.plots, run, theme2, width2);
      this.plots.setAttribute("aria-label", `Over the time of the run, the ${units(run)} held, of ${run.processors}, and the number of jobs that wait, at most ${run.mostWaiting}.`);
    }
    // Position of a time on the axis of the slider.
    x(time) {
      const { from, until } = this.run.recording;
      return PAD + (until > from ? (time - from) / (until - from) : 0) * Math.floor(this.width - 2 * PAD);
    }
    /** Marks the current time, and the part that the chart shows. @param {any} moment @param {{ from: number, until: number }} view */
    mark(moment, view) {
      const { recording, clock, processors } = this.run;
      const { from, until } = recording;
      const place2 = until > from ? Math.round((moment.time - from) / (until - from) * STEPS3) : 0;
      if (Number(this.slider.value) !== place2) this.slider.value = place2;
      this.slider.setAttribute("aria-valuetext", `time ${clock.at(moment.time)}, ${moment.held} of ${processors} ${units(this.run)} held`);
      this.line.style.transform = `translateX(${this.x(moment.time)}px)`;
      this.seen.hidden = view.from <= from && view.until >= until;
      this.seen.style.transform = `translateX(${this.x(view.from)}px)`;
      this.seen.style.width = `${Math.max(2, this.x(view.until) - this.x(view.from))}px`;
    }
    /** Whether it plays. */
    label(isPlaying) {
      const text2 = isPlaying ? "Pause" : "Play";
      if (this.playing.textContent.trim() === text2) return;
      this.playing.replaceChildren(icon(isPlaying ? "M3 2h3v10H3zM8 2h3v10H8z" : "M3 2l8 5-8 5z"), ` ${text2}`);
      this.playing.title = `${text2} (space)`;
      this.playing.setAttribute("aria-label", this.playing.title);
    }
  };

  // machine/nearest.js
  var MOST2 = 2e7;
  function turned(sides) {
    if (sides.length < 2) return [sides];
    const seen = /* @__PURE__ */ new Map();
    sides.forEach((side, i) => {
      for (const rest of turned(sides.filter((_, k) => k !== i))) seen.set([side, ...rest].join("x"), [side, ...rest]);
    });
    return [...seen.values()];
  }
  function blocksOf(site, text2) {
    const dimensions = site.sides.length;
    const cube = /^2\^(\d+)$/.exec(text2);
    if (cube) {
      if (site.wiring !== "hypercube") return [];
      return turned(Array.from({ length: dimensions }, (_, d) => d < Number(cube[1]) ? 2 : 1));
    }
    if (!/^\d+(x\d+)*$/.test(text2) || !["mesh", "torus", "twisted_torus", "flat", "ring"].includes(site.wiring)) return [];
    const sides = text2.split("x").map(Number);
    if (sides.length === 1 && dimensions > 1) return [];
    while (sides.length < dimensions) sides.push(1);
    return turned(sides).filter((block) => block.every((side, d) => side <= site.sides[d]));
  }
  function nearest(run, job, moment) {
    if (run.isShared) return null;
    const text2 = run.shapeOf?.(job) ?? run.asked[run.request[job]].text;
    let best = null;
    run.sites.forEach((site, index) => {
      const blocks = blocksOf(site, text2);
      const size = blocks[0]?.reduce((product, side) => product * side, 1) ?? 0;
      if (size === 0 || blocks.length * site.nodes * size > MOST2) return;
      const ends = new Float64Array(site.nodes).fill(-Infinity);
      const whose = new Int32Array(site.nodes).fill(-1);
      for (const s of moment.running) {
        if (run.where[s] !== index) continue;
        run.rowsOf(s, (first2, count) => {
          ends.fill(run.finish[run.who[s]], first2, first2 + count);
          whose.fill(run.who[s], first2, first2 + count);
        });
      }
      for (const { site: of, node } of moment.down) if (of === index) ends[node] = NaN;
      const isRing = site.wiring === "torus" || site.wiring === "twisted_torus";
      for (const sides of blocks) {
        for (let base = 0; base < site.nodes; base += 1) {
          const corner = site.sides.map((side, d) => Math.floor(base / site.strides[d]) % side);
          if (sides.some((side, d) => corner[d] > 0 && (side === site.sides[d] || corner[d] + side > site.sides[d] && !isRing))) continue;
          const nodes = nodesOf(site, corner, sides);
          let [at3, held] = [-Infinity, 0];
          for (const node of nodes) {
            if (Number.isNaN(ends[node])) at3 = NaN;
            else if (ends[node] > -Infinity) [at3, held] = [Math.max(at3, ends[node]), held + 1];
          }
          if (held === 0 || Number.isNaN(at3) || best && (at3 > best.at || at3 === best.at && held >= best.held)) continue;
          best = { site: index, nodes, sides, corner, at: at3, held, jobs: [...new Set(nodes.map((node) => whose[node]).filter((own) => own >= 0))] };
        }
      }
    });
    return best;
  }
  function nodesOf(site, corner, sides) {
    let nodes = [0];
    sides.forEach((length, d) => {
      const own = Array.from({ length }, (_, k) => (corner[d] + k) % site.sides[d] * site.strides[d]);
      nodes = own.flatMap((offset) => nodes.map((node) => node + offset));
    });
    return nodes;
  }

  // machine/sheet.js
  var escaped2 = (text2) => String(text2).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  var at2 = (length) => String(Math.round(length * 100) / 100);
  var Sheet = class {
    constructor() {
      this.parts = [];
      this.way = [];
      this.dashes = [];
      this.fillStyle = this.strokeStyle = "#000";
      this.globalAlpha = this.lineWidth = 1;
      this.lineCap = "butt";
      this.textAlign = "left";
    }
    alpha() {
      return this.globalAlpha < 1 ? ` opacity="${at2(this.globalAlpha)}"` : "";
    }
    fillRect(x, y, width2, height) {
      this.parts.push(`<rect x="${at2(x)}" y="${at2(y)}" width="${at2(width2)}" height="${at2(height)}" fill="${this.fillStyle}"${this.alpha()}/>`);
    }
    strokeRect(x, y, width2, height) {
      this.parts.push(`<rect x="${at2(x)}" y="${at2(y)}" width="${at2(width2)}" height="${at2(height)}" fill="none"${this.line()}/>`);
    }
    line() {
      const dashes = this.dashes.length > 0 ? ` stroke-dasharray="${this.dashes.join(" ")}"` : "";
      return ` stroke="${this.strokeStyle}" stroke-width="${at2(this.lineWidth)}" stroke-linecap="${this.lineCap}"${dashes}${this.alpha()}`;
    }
    beginPath() {
      this.way = [];
    }
    moveTo(x, y) {
      this.way.push(`M${at2(x)} ${at2(y)}`);
    }
    lineTo(x, y) {
      this.way.push(`L${at2(x)} ${at2(y)}`);
    }
    stroke() {
      if (this.way.length > 0) this.parts.push(`<path d="${this.way.join("")}" fill="none"${this.line()}/>`);
    }
    setLineDash(dashes) {
      this.dashes = dashes;
    }
    fillText(text2, x, y) {
      const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
      this.parts.push(`<text x="${at2(x)}" y="${at2(y + 3.5)}" text-anchor="${anchor}" fill="${this.fillStyle}"${this.alpha()}>${escaped2(text2)}</text>`);
    }
    /** Patterns of the second and third use of each colour. */
    tile(pattern) {
      return `url(#m-tile-${pattern})`;
    }
    toString() {
      return this.parts.join("\n");
    }
  };
  function tiles(theme2) {
    const ink = `stroke="${theme2.label}" fill="${theme2.label}"`;
    return `<defs>
<pattern id="m-tile-1" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M-8 8L0 0M0 8L8 0M8 8L16 0" ${ink} opacity="0.45"/></pattern>
<pattern id="m-tile-2" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M1.2 1.2h1.6v1.6h-1.6zM5.2 5.2h1.6v1.6h-1.6z" fill="${theme2.label}" opacity="0.45"/></pattern>
</defs>`;
  }
  function picture({ moment, chosen, theme: theme2, still: still2 }, lines) {
    const parts = [];
    const top = 12 + 16 * lines.length;
    let [x, widest, tallest] = [12, 0, 0];
    still2.maps.forEach((map, i) => {
      const layout2 = still2.layouts[i];
      const sheet = new Sheet();
      map.paint(sheet, layout2, moment, chosen, theme2);
      const names2 = [map.figure.querySelector("strong")?.textContent ?? "", map.held.textContent ?? ""].filter(Boolean);
      names2.forEach((text2, k) => {
        sheet.fillStyle = k === 0 ? theme2.ink : theme2.soft;
        sheet.textAlign = "left";
        sheet.fillText(text2, 0, layout2.height + 14 + 14 * k);
      });
      parts.push(`<g transform="translate(${at2(x)} ${top})">
${sheet}
</g>`);
      x += Math.max(layout2.width, 150) + 24;
      widest = x - 12;
      tallest = Math.max(tallest, layout2.height + 14 * names2.length + 10);
    });
    const words = lines.map((line2, i) => `<text x="12" y="${20 + 16 * i}" fill="${i === 0 ? theme2.ink : theme2.soft}"${i === 0 ? ' font-weight="600"' : ""}>${escaped2(line2)}</text>`);
    const width2 = Math.ceil(Math.max(widest, 24 + Math.max(...lines.map((line2) => line2.length)) * 5.6));
    const height = Math.ceil(top + tallest + 6);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width2}" height="${height}" viewBox="0 0 ${width2} ${height}" font-family="system-ui, sans-serif" font-size="10">
${tiles(theme2)}
<rect width="${width2}" height="${height}" fill="${theme2.ground || "#fff"}"/>
${words.join("\n")}
${parts.join("\n")}
</svg>
`;
  }

  // machine/save.js
  function saving(player) {
    const save2 = async (kind) => {
      const { run, moment, still: still2 } = player();
      const by = run.isShared ? `; nodes are filled by ${[...new Set(still2.maps.map((map) => KIND_NAMES[map.kind]))].join(" or ")}` : "";
      const { scenario, replication, title: title2 } = run.recording;
      const which = title2 || `scenario ${scenario}`;
      const words = `${run.clock.words(moment.time)}: ${moment.held} of ${run.processors} ${units(run)} held, ${moment.runs} jobs run, ${moment.waits} wait${by}`;
      const svg = picture(player(), [replication > 1 ? `${which}, replication ${replication}` : which, words]);
      const name2 = fileName("machine", which, `at ${run.clock.at(moment.time)}`);
      if (kind === "CSV") handText(`${name2}.csv`, momentCsv(run, moment), "text/csv");
      else if (kind === "SVG") handText(`${name2}.svg`, svg, "image/svg+xml");
      else hand(`${name2}.png`, await png(svg));
    };
    const one = (kind) => make("button", { type: "button", "aria-label": `Save the map as ${kind}`, onclick: () => save2(kind) }, kind);
    return make("span", { class: "m-save" }, "Save the map: ", one("SVG"), " ", one("PNG"), " ", one("CSV"));
  }
  function momentCsv(run, moment) {
    const whole2 = run.moment(moment.time, Infinity);
    const asks2 = (job) => run.asked[run.request[job]].text;
    const known = (time) => time <= run.recording.until ? time : null;
    const running = whole2.running.map((s) => {
      const job = run.who[s];
      return [run.number[job], "runs", asks2(job), run.submit[job], run.start[job], known(run.finish[job]), run.where[s] + 1, run.heldBy[s], run.placeOf(s).join(" ")];
    });
    const waiting = whole2.waiting.map((job) => [run.number[job], "waits", asks2(job), run.submit[job]]);
    return csv([["job", "state", "asks", "submit", "start", "end", "site", "processors", "placement"], ...running, ...waiting]);
  }

  // machine/player.js
  function drawMachine(element, recordings) {
    const player = new Player(element, [].concat(recordings));
    element.machine = player;
    return player;
  }
  function title(recording) {
    const replication = recording.replication > 1 ? `, replication ${recording.replication}` : "";
    return `${recording.scenario}. ${recording.title || "the only scenario"}${replication}`;
  }
  var Player = class {
    /** @param {HTMLElement} root @param {any[]} recordings */
    constructor(root, recordings) {
      this.root = root;
      this.recordings = recordings;
      this.chosen = -1;
      this.isPlaying = false;
      this.time = NaN;
      this.width = 0;
      this.opened = /* @__PURE__ */ new Map();
      this.run = /** @type {any} */
      void 0;
      this.moment = void 0;
      this.wanted = void 0;
      this.name = `${root.closest("section.study")?.id || "machine"}.machine`;
      root.classList.add("machine");
      root.replaceChildren();
      this.build();
      this.watch();
      this.ready = this.recall();
    }
    // Access for tests.
    get maps() {
      return this.still.maps;
    }
    get layouts() {
      return this.still.layouts;
    }
    get gantt() {
      return this.timeline.gantt;
    }
    get chart() {
      return this.timeline.canvas;
    }
    get slider() {
      return this.controls.slider;
    }
    build() {
      this.runs = make(
        "select",
        { onchange: () => this.choose(this.runs.selectedIndex) },
        ...this.recordings.map((recording) => make("option", {}, title(recording)))
      );
      const chooser2 = make("label", { class: "m-runs" }, "Run ", this.runs);
      chooser2.hidden = this.recordings.length < 2;
      this.colours = make("select", { onchange: () => this.colour() });
      this.sought = make("input", { type: "search", inputmode: "numeric", size: 8, autocomplete: "off" });
      this.missed = make("span", { role: "status" });
      const find2 = make(
        "form",
        { class: "m-find", onsubmit: (event) => this.find(event) },
        make("label", {}, "Job ", this.sought),
        " ",
        make("button", { type: "submit" }, "Find"),
        " ",
        this.missed
      );
      const head = make("div", { class: "m-head" }, chooser2, make("label", {}, "Colours by ", this.colours), find2);
      this.notes = make("p", { class: "m-notes" });
      this.said = make("p", { class: "m-unseen", role: "status", "aria-live": "polite" });
      this.still = new Still({
        pick: (job) => this.pick(job),
        hint: (event, job, site, node, isOut) => this.hint(event, job, node < 0 ? "" : this.nameOf(site, node), isOut ? "out of service" : "free")
      });
      this.controls = new Controls({
        seek: (where) => this.seek(where === "first" ? this.run.recording.from : this.run.recording.until),
        step: (direction) => this.step(direction),
        toggle: () => this.toggle(),
        share: (share) => this.soon(this.timeOf(share))
      });
      this.timeline = new Chart({
        pick: (job) => this.pick(job),
        seek: (time) => this.seek(time),
        moved: () => this.drawChart(),
        hint: (event, job, words) => this.hint(event, job, words ?? "")
      });
      this.facts = make("p", { class: "m-facts", role: "status", "aria-live": "polite" });
      this.why = make("p", { class: "m-why" });
      this.toStart = make("button", { type: "button", onclick: () => this.seekStart() }, "Go to its start");
      this.letGo = make("button", { type: "button", onclick: () => this.pick(-1) }, "Let it go");
      this.job = make("div", { class: "m-job" }, this.facts, this.why, this.toStart, this.letGo);
      this.tip = make("div", { class: "m-tip", hidden: true, "aria-hidden": "true" });
      this.controls.group.append(saving(() => this));
      const { now, picture: picture2, lists } = this.still;
      this.stage = make("div", { class: "m-stage" }, now, picture2, this.controls.box, this.job, lists, this.timeline.figure);
      this.root.append(head, this.notes, this.stage, this.said, this.tip);
    }
    // Registers all input other than buttons.
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
    async choose(index) {
      this.pause();
      const recording = this.recordings[index];
      try {
        if (!this.opened.has(index)) this.opened.set(index, await open(recording));
      } catch (error) {
        this.stage.hidden = true;
        this.notes.replaceChildren(make("span", {}, error.message));
        return;
      }
      const isAnother = this.run !== void 0 && this.run !== this.opened.get(index);
      const run = this.run = this.opened.get(index);
      this.runs.selectedIndex = index;
      this.chosen = -1;
      this.tellJob();
      this.stage.hidden = false;
      const dated = (words, time) => run.clock.seconds ? run.clock.at(Number(time.replaceAll(",", ""))) : words;
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
      this.controls.pace.selectedIndex = run.at.length > 2e3 ? 2 : 1;
      this.timeline.open(run, this.time);
      this.arrange();
      this.tell();
      if (isAnother) this.rememberSoon();
    }
    // Applies the selected colouring.
    colour(isDrawn = true) {
      const by = this.colours.value;
      const { look: look3, key } = coloured(this.run, by);
      this.run.look = look3;
      this.root.classList.toggle("m-ordered", isOrdered(by));
      this.still.explain(key);
      if (isDrawn) this.arrange();
    }
    // Finds a job by its number and seeks to a time at which it is in the system.
    find(event) {
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
      const place2 = this.placeFor();
      this.still.draw(this.moment, this.chosen, this.theme, place2);
      write(this.why, this.chosen < 0 ? "" : why(this.run, this.chosen, this.time, place2));
      this.mark();
    }
    // The nearest place for the selected job while it waits for its shape; computed once per instant.
    placeFor() {
      const { run, chosen, moment } = this;
      if (chosen < 0 || run.waitsFor(chosen, this.time) !== "shape") return null;
      const name2 = `${this.runs.selectedIndex} ${chosen} ${moment.instant}`;
      if (this.placed?.name !== name2) this.placed = { name: name2, place: nearest(run, chosen, moment) };
      return this.placed.place;
    }
    timeOf(share) {
      const { from, until } = this.run.recording;
      return from + Math.min(Math.max(share, 0), 1) * (until - from);
    }
    // Seeks to a time; a seek by the user stops playback.
    seek(time, by = "hand") {
      if (by !== "play") this.pause();
      const { from, until } = this.run.recording;
      this.time = Math.min(Math.max(time, from), until);
      if (this.gantt.follow(this.time)) this.timeline.draw(this.theme, this.width, this.chosen);
      this.draw();
      if (by !== "play") this.tell();
    }
    // Seeks in the next frame, since input may come faster than frames.
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
      let before2 = performance.now();
      const frame = (now) => {
        if (!this.isPlaying) return;
        const pace = Number(this.controls.pace.value) / Math.max(1, this.run.at.length);
        const time = this.time + (now - before2) / 1e3 * pace * (until - from);
        before2 = now;
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
      this.why.hidden = chosen < 0;
      this.toStart.hidden = chosen < 0 || !(run.start[chosen] <= run.recording.until);
    }
    key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const target = (
        /** @type {HTMLElement} */
        event.target
      );
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
        0: () => this.timeline.zoom(Infinity)
      };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    }
    // A place in words; of a node that jobs share, with what is free of it.
    nameOf(site, node) {
      const { run, moment } = this;
      return run.sites[site].shared ? nodeInWords(run, moment, site, node) : placeName(run.sites[site], node);
    }
    // Shows a tooltip: the place, and the job that holds it.
    hint(event, job, what, nobody = "free") {
      const { run, tip } = this;
      tip.hidden = !event || job < 0 && what === "";
      if (tip.hidden) return;
      const who = job < 0 ? nobody : `job ${run.number[job]}, ${asks(run, job)}, from ${run.clock.at(run.start[job])}`;
      write(tip, what === "" ? who : `${what}: ${who}`);
      const box = this.root.getBoundingClientRect();
      const x = Math.min(event.clientX - box.left + 14, this.width - tip.offsetWidth);
      tip.style.transform = `translate(${Math.max(0, x)}px, ${event.clientY - box.top + 16}px)`;
    }
  };

  // report/links.js
  function open2(hash) {
    const target = hash.startsWith("#?") ? null : document.getElementById(decodeURIComponent(hash.slice(1)));
    for (let details = target?.closest("details"); details; details = details.parentElement?.closest("details")) details.open = true;
  }
  function openTargets() {
    const contents = document.querySelector(".contents details");
    if (contents instanceof HTMLDetailsElement && !matchMedia("(min-width: 80rem)").matches) contents.open = false;
    addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
      if (link) open2(link.getAttribute("href") ?? "");
    });
    open2(location.hash);
  }

  // report/paper.js
  var ROWS = 60;
  var VIEWS = 12;
  var SHEET = 680;
  var HALF = 328;
  var undo = [];
  function before() {
    if (undo.length > 0) return;
    drawRest();
    for (const details of document.querySelectorAll("details:not([open])")) {
      const isTable = details.classList.contains("numbers");
      const isShort = details.querySelectorAll("tbody tr").length <= ROWS;
      if (!(details instanceof HTMLDetailsElement) || details.closest("figure, nav") || isTable && !isShort) continue;
      details.open = true;
      undo.push(() => details.open = false);
    }
    for (const { element, figure: figure2, chosen } of shownFigures()) {
      const now = indicesOf(figure2, chosen);
      const metric = figure2.choices.findIndex((choice) => choice.key === "metric");
      drawFor(element, metric >= 0 || element.classList.contains("wide") ? SHEET : HALF);
      undo.push(() => drawFor(element, null));
      if (metric < 0) continue;
      const others = figure2.views.filter((view) => view.at.every((at3, i) => i === metric ? at3 !== now[i] : at3 === null || at3 === now[i])).slice(0, VIEWS);
      const place2 = make2("div", { class: "others" });
      for (const view of others) {
        const panels = make2("div", { class: "panels" });
        const isWide = new Set(view.series.map((series) => series.panel)).size > 1;
        const box = make2("figure", isWide ? { class: "wide" } : {}, make2("h4", {}, view.y.label), panels, make2("figcaption", {}, sentenceOf(view, isLog(view))));
        drawPanels(panels, view, { log: isLog(view) }, isWide ? SHEET : HALF);
        const legend2 = view.colour ? [legendElement(view)] : [];
        panels.prepend(make2("div", { class: "together" }, find(box, "h4"), ...legend2, ...[...panels.children].slice(0, 2)));
        place2.append(box);
      }
      element.append(place2);
      undo.push(() => place2.remove());
    }
    for (const table of document.querySelectorAll("details.numbers[open] table")) {
      if (table instanceof HTMLTableElement) split(table);
    }
  }
  function split(table) {
    const head = table.tHead?.rows[0], rows2 = [...table.tBodies[0]?.rows ?? []];
    if (!head || rows2.length === 0) return;
    const keys = [...rows2[0].cells].findIndex((cell2) => cell2.tagName === "TH") + 1;
    table.classList.add("beside");
    const widths = [...head.cells].map((cell2) => cell2.offsetWidth);
    table.classList.remove("beside");
    const own = widths.slice(0, keys).reduce((sum, width2) => sum + width2, 0);
    const parts = (
      /** @type {number[][]} */
      [[]]
    );
    let taken = own;
    for (let column2 = keys; column2 < widths.length; column2 += 1) {
      if (taken + widths[column2] > SHEET && parts[parts.length - 1].length > 0) {
        parts.push([]);
        taken = own;
      }
      parts[parts.length - 1].push(column2);
      taken += widths[column2];
    }
    if (parts.length < 2) return;
    const place2 = make2("div", { class: "parts" });
    for (const columns2 of parts) {
      const copy = (
        /** @type {HTMLTableElement} */
        table.cloneNode(true)
      );
      copy.removeAttribute("id");
      for (const row of copy.rows) {
        [...row.cells].forEach((cell2, i) => {
          if (i >= keys && !columns2.includes(i)) cell2.remove();
        });
      }
      if (columns2 !== parts[0]) find(copy, "caption").remove();
      place2.append(copy);
    }
    table.after(place2);
    table.hidden = true;
    undo.push(() => {
      place2.remove();
      table.hidden = false;
    });
  }
  function after() {
    for (const step of undo.splice(0)) step();
  }
  function preparePaper() {
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
  }

  // main.js
  var data = document.getElementById("report-data");
  if (data) drawFigures(document, JSON.parse(data.textContent ?? "{}"));
  followLinks();
  preparePaper();
  prepareTables(document);
  openTargets();
  for (const recordings of document.querySelectorAll("script.recordings")) {
    drawMachine(
      /** @type {HTMLElement} */
      recordings.previousElementSibling,
      JSON.parse(recordings.textContent ?? "[]")
    );
  }
  if (document.getElementById("live-state")) follow();
  Object.assign(globalThis, { drawFigures });
})();
