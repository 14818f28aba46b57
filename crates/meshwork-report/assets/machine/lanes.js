// Lanes of the Gantt chart, and merging of lanes.
//
// If processors have one natural order, a bar covers the processors that it holds. Otherwise a job takes the lowest
// lane that is free at its start, and lanes are not processors.

/**
 * The lanes of a site, a user or a partition.
 * @typedef {{ site: any, title: string, ordered: boolean, lanes: number, top: number, height: number }} Band
 */

/** Maximum number of users or partitions with a band of their own. */
const MOST = 12;

/** Ways of sorting bars, as words: by held processors, by job in lanes, or by user or partition. The first is the default. */
export function orders(/** @type {any} */ run) {
  const isOne = run.sites.length === 1;
  return [...(run.isShared ? [] : ["processor"]), "job", ...(isOne && run.user ? ["user"] : []), ...(isOne && run.partition ? ["partition"] : [])];
}

/** Whether processors have one natural order, and one holder each. */
export const isNatural = (/** @type {any} */ site) => site.sides.length === 1 && !site.shared;

/** Bands of a run, and a function that gives the band of a stay. @returns {{ bands: Band[], of: (stay: number) => number }} */
function bandsOf(/** @type {any} */ run, /** @type {string} */ by) {
  const band = (site, title, ordered) => ({ site, title, ordered, lanes: 0, top: 0, height: 0 });
  if (by === "user" || by === "partition") {
    const names = by === "user" ? run.recording.users : run.recording.partitions;
    const counts = new Map();
    for (const own of run[by]) counts.set(own, (counts.get(own) ?? 0) + 1);
    const ranked = [...counts].sort(([, a], [, b]) => b - a).map(([own]) => own);
    const first = ranked.slice(0, ranked.length > MOST ? MOST - 1 : MOST);
    const place = new Map(first.map((own, i) => [own, i]));
    const titles = first.map((own) => `${by} ${names[own] || "unknown"}`);
    if (ranked.length > MOST) titles.push(`${ranked.length - first.length} others`);
    return { bands: titles.map((title) => band(run.sites[0], title, false)), of: (s) => place.get(run[by][run.who[s]]) ?? titles.length - 1 };
  }
  const isOrdered = (site) => by === "processor" || isNatural(site);
  return { bands: run.sites.map((site, i) => band(site, `site ${i + 1}: ${site.words}`, isOrdered(site))), of: (s) => run.where[s] };
}

/** Assigns each stay a band and a lane; a job keeps its lane while it is running. */
export function pack(/** @type {any} */ run, by = "job") {
  const { bands, of } = bandsOf(run, by);
  const lane = new Uint32Array(run.stays);
  const where = Uint32Array.from({ length: run.stays }, (_, s) => of(s));
  const free = bands.map(() => []);
  const laneOf = new Map();
  const order = Array.from({ length: run.stays }, (_, s) => s).sort((a, b) => run.to[a] - run.to[b]);
  let next = 0;
  for (let s = 0; s < run.stays; s += 1) {
    for (; next < order.length && run.to[order[next]] <= run.from[s]; next += 1) {
      const [over, job] = [order[next], run.who[order[next]]];
      const isOver = run.finish[job] === run.to[over] || run.broken?.has(over);
      if (isOver && laneOf.has(job)) {
        push(free[where[over]], laneOf.get(job));
        laneOf.delete(job);
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

/** Adds a number to a heap with the lowest on top. */
export function push(/** @type {number[]} */ heap, /** @type {number} */ number) {
  let at = heap.push(number) - 1;
  while (at > 0 && heap[(at - 1) >> 1] > number) {
    heap[at] = heap[(at - 1) >> 1];
    at = (at - 1) >> 1;
  }
  heap[at] = number;
}

/** Removes the lowest number. @returns {number} */
export function pop(/** @type {number[]} */ heap) {
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

/**
 * Merged lanes as cells of rows and columns: the held share of each, and the stay that holds most of it.
 */
export class Cells {
  /** @param {number} lanes @param {number} rows @param {number} columns */
  constructor(lanes, rows, columns) {
    this.lanes = lanes;
    this.rows = rows;
    this.columns = columns;
    this.held = new Float32Array(rows * columns);
    this.most = new Float32Array(rows * columns);
    this.best = new Int32Array(rows * columns).fill(-1);
    // The stay being added, and its share of each cell.
    this.own = new Float32Array(rows * columns);
    this.whose = new Int32Array(rows * columns).fill(-1);
  }

  /** First lane of a row. */
  lane(/** @type {number} */ row) {
    return Math.ceil((row * this.lanes) / this.rows);
  }

  /** Row of a lane. */
  row(/** @type {number} */ lane) {
    return Math.min(this.rows - 1, Math.floor((lane * this.rows) / this.lanes));
  }

  /** Adds a stay that holds `count` lanes from `first` on, from one column to another; columns may be fractions. */
  add(/** @type {number} */ stay, /** @type {number} */ first, /** @type {number} */ count, /** @type {number} */ left, /** @type {number} */ right) {
    const [begin, end] = [Math.max(0, left), Math.min(this.columns, right)];
    if (!(end > begin)) return;
    for (let row = this.row(first); row < this.rows && this.lane(row) < first + count; row += 1) {
      const [low, high] = [this.lane(row), this.lane(row + 1)];
      const share = (Math.min(first + count, high) - Math.max(first, low)) / (high - low);
      if (!(share > 0)) continue;
      for (let column = Math.floor(begin); column < end; column += 1) {
        const cell = row * this.columns + column;
        const part = share * (Math.min(end, column + 1) - Math.max(begin, column));
        this.held[cell] += part;
        this.own[cell] = this.whose[cell] === stay ? this.own[cell] + part : part;
        this.whose[cell] = stay;
        if (this.own[cell] > this.most[cell]) [this.most[cell], this.best[cell]] = [this.own[cell], stay];
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
      let [from, before] = [0, this.look(row, 0)];
      for (let column = 1; column <= this.columns; column += 1) {
        const now = column < this.columns ? this.look(row, column) : NaN;
        if (now === before) continue;
        visit(row, from, column - from, Math.max(before, -1), before >= -1 ? 1 : (-2 - before) / 16);
        [from, before] = [column, now];
      }
    }
  }

  // The stay, or −2 and less for sixteenths held by several stays.
  look(/** @type {number} */ row, /** @type {number} */ column) {
    const cell = row * this.columns + column;
    return this.most[cell] > 0.5 ? this.best[cell] : -2 - Math.round(Math.min(1, this.held[cell]) * 16);
  }
}
