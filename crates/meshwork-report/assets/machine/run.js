// A recording, unpacked, with its state at any instant.
//
// An *instant* is a time with events. A *stay* is a job on processors that it holds without a change, so a job that
// is never moved has one. The state at a time includes all events up to and at that time.

import { Clock } from "./clock.js";

const [ARRIVED, REFUSED, TURNED_AWAY, STARTED, MOVED, FINISHED, INTERRUPTED, DOWN, UP] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const ARRAYS = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array };

// Number of stays or jobs per entry of the index.
const CHUNK = 256;

// Kinds of amounts that a node has, in the order in which they are offered.
export const KINDS = ["gpu", "cpu", "mem", "other"];

// Number of colours times patterns: enough that jobs running at once can be distinguished.
export const COLOURS = 8;
export const LOOKS = 3 * COLOURS;

async function inflated(base64) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser cannot unpack the recording: it is too old for that.");
  }
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A column has the lowest byte of every number first, then the next bytes. All platforms of browsers are
// little-endian.
function column(bytes, from, kind, length) {
  const numbers = new ARRAYS[kind](length);
  const target = new Uint8Array(numbers.buffer);
  const width = numbers.BYTES_PER_ELEMENT;
  for (let byte = 0; byte < width; byte += 1) {
    const plane = from + byte * length;
    for (let i = 0; i < length; i += 1) target[i * width + byte] = bytes[plane + i];
  }
  return numbers;
}

// Number of values up to this one, in a sorted list of which the first `length` count.
export function upTo(sorted, value, length) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
// Last end of every CHUNK of spans, to skip those that ended long ago.
function lastEnds(ends, length) {
  const last = new Float64Array(Math.ceil(length / CHUNK)).fill(-Infinity);
  for (let i = 0; i < length; i += 1) {
    const chunk = Math.floor(i / CHUNK);
    if (ends[i] > last[chunk]) last[chunk] = ends[i];
  }
  return last;
}

// Calls `visit` for those of the first `count` spans that end after `time`, until it returns true.
export function lasting(ends, last, count, time, visit) {
  for (let i = 0; i < count; i += 1) {
    if (i % CHUNK === 0 && last[i / CHUNK] <= time) i += CHUNK - 1;
    else if (ends[i] > time && visit(i)) return;
  }
}

/** A run, as the elements of the page need it for drawing. */
export class Run {
  // Columns of the recording.
  /** @type {Float64Array} */ at;
  /** @type {Float64Array} */ number;
  /** @type {Uint32Array} */ count;
  /** @type {Uint32Array} */ job;
  /** @type {Uint32Array} */ request;
  /** @type {Uint32Array} */ site;
  /** @type {Uint32Array} */ blocks;
  /** @type {Uint32Array} */ base;
  /** @type {Uint32Array} */ shape;
  /** @type {Uint8Array} */ kind;
  /** @type {Uint32Array | undefined} Of each placement, where jobs share nodes, how many parts it has, */ parts;
  /** @type {Uint32Array | undefined} of each part the node, */ part_node;
  /** @type {Uint32Array | undefined} cores, */ part_cpu;
  /** @type {Uint32Array | undefined} memory, */ part_mem;
  /** @type {Uint32Array | undefined} thousandths of GPUs */ part_gpu;
  /** @type {Uint32Array | undefined} and what else is counted */ part_other;
  /** @type {Uint32Array | undefined} How many answers changed by the end of each instant, */ answers;
  /** @type {Uint32Array | undefined} to which request, */ answered;
  /** @type {Uint8Array | undefined} and what they are */ answer;
  /** @type {Uint32Array | undefined} Which nodes slept, */ asleep_node;
  /** @type {Uint32Array | undefined} of which site, */ asleep_site;
  /** @type {Float64Array | undefined} from when */ asleep_from;
  /** @type {Float64Array | undefined} until when */ asleep_until;
  // Derived by `play`.
  /** @type {Float64Array} when a job joined the queue, */ submit;
  /** @type {Float64Array} left it for the last time, */ left;
  /** @type {Float64Array} first began to run, */ start;
  /** @type {Float64Array} and ended */ finish;
  /** @type {Uint8Array} 1 refused, 2 turned away */ unserved;
  /** @type {Uint8Array} its colour and pattern */ look;
  /** @type {number} */ stays;
  /** @type {Uint32Array} of each stay the job, */ who;
  /** @type {Uint32Array} the site, */ where;
  /** @type {Float64Array} the time, */ from;
  /** @type {Float64Array} */ to;
  /** @type {Uint32Array} the first block */ firstBlock;
  /** @type {Uint32Array} and the first part */ firstPart;
  /** @type {Uint32Array | undefined} who submitted it, where somebody is known */ user;
  /** @type {Uint32Array | undefined} its partition, where one is known */ partition;
  /** @type {Uint32Array} how many processors it is, or cores where jobs share nodes */ heldBy;
  /** @type {Uint32Array} after each instant: processors held, */ held;
  /** @type {Uint32Array} jobs that wait, */ waits;
  /** @type {Uint32Array} that run, */ runs;
  /** @type {Uint32Array} that were refused or turned away so far */ notServed;
  /** @type {number} */ mostWaiting;
  /** @type {{ site: number, node: number, from: number, to: number }[]} nodes that were out of service, in order of time */ outages;
  /** @type {Set<number>} stays that an outage ended */ broken;

  constructor(recording, columns, looks = new Map()) {
    Object.assign(this, columns);
    this.recording = recording;
    /** Whether the run is still going on, and this is its latest state. */
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
      // Where jobs share nodes, a processor is a core.
      site.amount = site.nodes;
      if (site.shared) {
        site.typeOf = new Uint16Array(site.nodes);
        let node = 0;
        for (const [count, type] of site.shared.of) site.typeOf.fill(type, node, (node += count));
        site.kinds = KINDS.filter((kind) => site.shared.types.some((type) => type[kind] > 0));
        site.amount = site.shared.of.reduce((sum, [count, type]) => sum + count * site.shared.types[type].cpu, 0);
      }
      this.processors += site.amount;
    }
    /** Whether jobs share nodes. */
    this.isShared = this.sites.some((site) => site.shared);
    this.shapeNodes = this.shapes.map((sides) => sides.reduce((a, b) => a * b, 1));
    this.told = this.answersTold();
    /** Temporary properties of nodes: partition, reservation, sleep. */
    this.marked = [...(recording.marked ?? []), ...this.sleeps()];
    for (const name of /** @type {const} */ (["user", "partition"])) if (this[name]?.length === 0) this[name] = undefined;
    this.play(looks);
    /** The look of a job if each job has its own. */
    this.own = this.look;
    this.lastStays = lastEnds(this.to, this.stays);
    this.lastWaits = lastEnds(this.left, this.jobs);
  }

  // Spans during which nodes slept.
  sleeps() {
    const { asleep_node: nodes = [], asleep_site: sites = [], asleep_from: from = [], asleep_until: until = [] } = this;
    return Array.from(nodes, (first, i) => ({ kind: "asleep", name: "", site: sites[i], first, count: 1, from: from[i], until: until[i] }));
  }

  // For each request, the instants at which its answer changed, and the answers.
  answersTold() {
    const told = this.asked.map(() => ({ instants: [], answers: [] }));
    const { answers = [], answered = [], answer = [] } = this;
    let next = 0;
    for (let i = 0; i < answers.length; i += 1) {
      for (const last = next + answers[i]; next < last; next += 1) {
        const { instants, answers: given } = told[answered[next]];
        instants.push(i);
        given.push(answer[next]);
      }
    }
    return told;
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
    if (!waits || !heldUp || (known !== null && known !== undefined && time > known)) return null;
    const { instants, answers } = this.told[this.request[job]];
    const last = upTo(instants, upTo(this.at, time, this.at.length) - 1, instants.length) - 1;
    return last < 0 ? null : ["nodes", "shape", heldUp][answers[last]];
  }

  // Processes all events once.
  play(known = new Map()) {
    const most = this.blocks.length;
    Object.assign(this, {
      submit: new Float64Array(this.jobs), // when a job joined the queue,
      left: new Float64Array(this.jobs).fill(Infinity), // left it for the last time,
      start: new Float64Array(this.jobs).fill(Infinity), // first began to run,
      finish: new Float64Array(this.jobs).fill(Infinity), // and ended
      unserved: new Uint8Array(this.jobs), // 1 refused, 2 turned away
      look: new Uint8Array(this.jobs), // its colour and pattern
      stays: 0,
      who: new Uint32Array(most), // of each stay the job,
      where: new Uint32Array(most), // the site,
      from: new Float64Array(most), // the time,
      to: new Float64Array(most).fill(Infinity),
      firstBlock: new Uint32Array(most + 1), // the first block
      firstPart: new Uint32Array(most + 1), // and the first part
      heldBy: new Uint32Array(most), // how many processors it is
      held: new Uint32Array(this.at.length), // after each instant: processors held,
      waits: new Uint32Array(this.at.length), // jobs that wait,
      runs: new Uint32Array(this.at.length), // that run,
      notServed: new Uint32Array(this.at.length), // that were refused or turned away so far
      mostWaiting: 0,
      outages: [],
      broken: new Set(),
    });
    const down = new Map();
    const stay = new Int32Array(this.jobs).fill(-1);
    const users = new Uint32Array(LOOKS);
    let [event, starts, block, part, nextLook] = [0, 0, 0, 0, 0];
    let [held, waits, runs, notServed] = [0, 0, 0, 0];
    const begin = (job, site, time) => {
      const s = this.stays;
      this.stays += 1;
      stay[job] = s;
      [this.who[s], this.where[s], this.from[s], this.firstBlock[s]] = [job, site, time, block];
      const end = block + this.blocks[s];
      const isPart = this.sites[site].shared;
      for (; block < end; block += 1) if (!isPart) this.heldBy[s] += this.shapeNodes[this.shape[block]];
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
            let look = known.get(this.number[job]) ?? nextLook;
            for (let k = 0; k < LOOKS && !known.has(this.number[job]); k += 1) {
              const other = (nextLook + k) % LOOKS;
              if (users[other] < users[look]) look = other;
            }
            users[look] += 1;
            nextLook = (look + 1) % LOOKS;
            this.look[job] = look;
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
            // The event is of a node.
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
    const of = (counts) => (instant < 0 ? 0 : counts[instant]);
    const running = [];
    lasting(this.to, this.lastStays, upTo(this.from, time, this.stays), time, (s) => {
      running.push(s);
      return false;
    });
    const waiting = [];
    if (of(this.waits) > 0) {
      const count = upTo(this.submit, time, this.jobs);
      // A job that is interrupted later is running here, though it will be in the queue again.
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
      notServed: of(this.notServed),
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
      const amounts = { cpu: this.part_cpu[part], mem: this.part_mem[part], gpu: this.part_gpu[part] / 1000, other: this.part_other[part] };
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
      const width = Math.min(shape[0], sides[0] - corner[0]);
      const offset = shape.map(() => 0);
      for (let d = 0; d < shape.length; ) {
        let row = 0;
        for (d = 1; d < shape.length; d += 1) row += ((corner[d] + offset[d]) % sides[d]) * strides[d];
        visit(row + corner[0], width);
        if (width < shape[0]) visit(row, shape[0] - width);
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
    if (s === undefined || this.firstBlock[s + 1] - this.firstBlock[s] !== 1 || this.sites[this.where[s]].sides.length < 2) return undefined;
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
  busiest(after, before) {
    const { from } = this.recording;
    const until = this.known();
    const [first, last] = [after, before].map((share) => upTo(this.at, from + share * (until - from), this.at.length));
    const rank = (i) => (this.waits[i] > 0 ? 1e9 : 0) + this.runs[i];
    let best = -1;
    for (let i = first; i < last; i += 1) if (best < 0 || rank(i) > rank(best)) best = i;
    return best < 0 ? from : Math.max(this.at[best], from);
  }

  // The previous or next instant, or the next end.
  neighbour(time, step) {
    const place = upTo(this.at, time, this.at.length);
    if (step > 0) return place < this.at.length ? this.at[place] : this.recording.until;
    let before = place - 1;
    while (before >= 0 && this.at[before] >= time) before -= 1;
    return Math.max(before < 0 ? this.recording.from : this.at[before], this.recording.from);
  }
}

/**
 * Unpacks a recording.
 * @param {any} recording
 * @param {Map<number, number>} [looks] The looks that jobs have already, by their numbers, where a recording goes on that was seen.
 * @returns {Promise<Run>}
 */
export async function open(recording, looks) {
  const bytes = await inflated(recording.data);
  const columns = {};
  let from = 0;
  for (const [name, kind, length] of recording.columns) {
    columns[name] = column(bytes, from, kind, length);
    from += columns[name].byteLength;
  }
  return new Run(recording, columns, looks);
}
