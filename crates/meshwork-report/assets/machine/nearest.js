// The nearest place for a waiting job, and the jobs in its way.

/** Maximum number of processors examined for a job; on larger machines nothing is drawn. */
const MOST = 2e7;

/** Distinct permutations of some sides. @param {number[]} sides @returns {number[][]} */
function turned(sides) {
  if (sides.length < 2) return [sides];
  const seen = new Map();
  sides.forEach((side, i) => {
    for (const rest of turned(sides.filter((_, k) => k !== i))) seen.set([side, ...rest].join("x"), [side, ...rest]);
  });
  return [...seen.values()];
}

/** Blocks of a site that satisfy a request, by their sides; empty if the request is no block. @param {any} site @param {string} text */
export function blocksOf(site, text) {
  const dimensions = site.sides.length;
  const cube = /^2\^(\d+)$/.exec(text);
  if (cube) {
    if (site.wiring !== "hypercube") return [];
    return turned(Array.from({ length: dimensions }, (_, d) => (d < Number(cube[1]) ? 2 : 1)));
  }
  if (!/^\d+(x\d+)*$/.test(text) || !["mesh", "torus", "twisted_torus", "flat", "ring"].includes(site.wiring)) return [];
  const sides = text.split("x").map(Number);
  if (sides.length === 1 && dimensions > 1) return [];
  while (sides.length < dimensions) sides.push(1);
  return turned(sides).filter((block) => block.every((side, d) => side <= site.sides[d]));
}

/**
 * The place that is free soonest, by the ends of its holders; of several, the one with the fewest held processors.
 * @param {import("./run.js").Run} run
 * @param {number} job
 * @param {any} moment
 * @returns {{ site: number, nodes: number[], sides: number[], corner: number[], at: number, jobs: number[] } | null}
 */
export function nearest(run, job, moment) {
  if (run.isShared) return null;
  // A request for a count has the shape in which it will start, if that is one block.
  const text = run.shapeOf?.(job) ?? run.asked[run.request[job]].text;
  let best = null;
  run.sites.forEach((site, index) => {
    const blocks = blocksOf(site, text);
    const size = blocks[0]?.reduce((product, side) => product * side, 1) ?? 0;
    if (size === 0 || blocks.length * site.nodes * size > MOST) return;
    const ends = new Float64Array(site.nodes).fill(-Infinity);
    const whose = new Int32Array(site.nodes).fill(-1);
    for (const s of moment.running) {
      if (run.where[s] !== index) continue;
      run.rowsOf(s, (first, count) => {
        ends.fill(run.finish[run.who[s]], first, first + count);
        whose.fill(run.who[s], first, first + count);
      });
    }
    for (const { site: of, node } of moment.down) if (of === index) ends[node] = NaN;
    const isRing = site.wiring === "torus" || site.wiring === "twisted_torus";
    for (const sides of blocks) {
      for (let base = 0; base < site.nodes; base += 1) {
        const corner = site.sides.map((side, d) => Math.floor(base / site.strides[d]) % side);
        // Blocks wrap around joined edges only; a side as long as the machine has one position.
        if (sides.some((side, d) => corner[d] > 0 && (side === site.sides[d] || (corner[d] + side > site.sides[d] && !isRing)))) continue;
        const nodes = nodesOf(site, corner, sides);
        let [at, held] = [-Infinity, 0];
        for (const node of nodes) {
          if (Number.isNaN(ends[node])) at = NaN;
          else if (ends[node] > -Infinity) [at, held] = [Math.max(at, ends[node]), held + 1];
        }
        if (held === 0 || Number.isNaN(at) || (best && (at > best.at || (at === best.at && held >= best.held)))) continue;
        best = { site: index, nodes, sides, corner, at, held, jobs: [...new Set(nodes.map((node) => whose[node]).filter((own) => own >= 0))] };
      }
    }
  });
  return best;
}

/** The nodes of a block. @param {any} site @param {number[]} corner @param {number[]} sides */
function nodesOf(site, corner, sides) {
  let nodes = [0];
  sides.forEach((length, d) => {
    const own = Array.from({ length }, (_, k) => ((corner[d] + k) % site.sides[d]) * site.strides[d]);
    nodes = own.flatMap((offset) => nodes.map((node) => node + offset));
  });
  return nodes;
}
