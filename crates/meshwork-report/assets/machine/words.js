// Texts about the machine and its jobs, which screen readers read too.

import { isNatural } from "./lanes.js";
import { number } from "./paint.js";

const jobs = (count) => (count === 1 ? "1 job" : `${number(count)} jobs`);
const verb = (count, one, more) => (count === 1 ? one : more);
const name = (run, job) => `job ${run.number[job]}`;

// What is counted: processors, or the cores of nodes that jobs share.
export const units = (run) => (run.isShared ? "cores" : "processors");
const amount = (run, count) => `${number(count)} ${count === 1 ? units(run).slice(0, -1) : units(run)}`;

// Names of the kinds of amounts of a node.
export const KIND_NAMES = { cpu: "cores", mem: "memory", gpu: "GPUs", other: "other" };
const amountsOf = (/** @type {any} */ { gpu, cpu, mem }) =>
  [gpu > 0 && `${number(gpu)} ${verb(gpu, "GPU", "GPUs")}`, `${number(cpu)} ${verb(cpu, "core", "cores")}`, mem > 0 && `${number(mem)} MiB`].filter(Boolean).join(", ");

const list = (texts) =>
  texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts[texts.length - 1]}`;

// The moment in a few sentences; for the end of a run that is not played, in the past tense.
export function summary(run, moment) {
  const share = Math.round((100 * moment.held) / run.processors);
  const is = (now, then) => (run.isOver ? then : now);
  const runs = is(verb(moment.runs, "runs", "run"), "still ran");
  const waits = is(verb(moment.waits, "waits", "wait"), "waited");
  const down = moment.down.length;
  const free = run.processors - moment.held - moment.out;
  const out = down > 0 ? ` and ${number(moment.out)} out of service` : "";
  const sentences = [
    `${run.clock.words(moment.time)}${is("", ", the end")}: ${number(moment.held)} of ${amount(run, run.processors)} ${is(verb(run.processors, "is", "are"), verb(run.processors, "was", "were"))} held ` +
      `(${share}\u202f%), ${number(free)} ${is(verb(free, "is", "are"), verb(free, "was", "were"))} free${out}; ${jobs(moment.runs)} ${runs}, ${number(moment.waits)} ${waits}.`,
  ];
  if (run.sites.length > 1) {
    const held = run.sites.map(() => 0);
    for (const s of moment.running) held[run.where[s]] += run.heldBy[s];
    sentences.push(`Held: ${run.sites.map((site, i) => `${held[i]} of ${site.amount} on site ${i + 1}`).join(", ")}.`);
  }
  const holders = largest(run, moment, 3).map((s) => `${name(run, run.who[s])} with ${number(run.heldBy[s])}`);
  if (holders.length > 0) sentences.push(`The largest: ${list(holders)}.`);
  if (moment.waiting.length > 0) {
    const first = moment.waiting[0];
    sentences.push(`First in the queue: ${name(run, first)}, which ${is("asks", "asked")} for ${asks(run, first)}.`);
  }
  if (moment.notServed > 0) {
    sentences.push(`${jobs(moment.notServed)} could not be served so far.`);
  }
  return sentences.join(" ");
}

// Stays with the most processors, in decreasing order; of equal ones the oldest first.
export function largest(run, moment, most) {
  const bySize = (a, b) => run.heldBy[b] - run.heldBy[a] || a - b;
  return [...moment.running].sort(bySize).slice(0, most);
}

// `3x5, 15 processors`, or the count alone if only that was requested.
export function asks(run, job) {
  const { text, nodes } = run.asked[run.request[job]];
  const count = amount(run, nodes);
  const words = piecesInWords(text);
  return text === String(nodes) || words === count ? count : `${words} (${count})`;
}

// A request for pieces in words: `4 pieces, each of 8 GPUs, 96 cores, 1000 MiB, inside a leaf`. Other texts stay.
function piecesInWords(text) {
  if (!/^pieces=\d+( \w+=\S+)*$/.test(text)) return text;
  const { pieces, gpu = 0, cpu = 0, mem = 0, inside, ...rest } = Object.fromEntries(text.split(" ").map((word) => word.split("=")));
  const others = Object.entries(rest).map(([key, value]) => `, ${key} ${value}`).join("");
  const each = amountsOf({ gpu: Number(gpu), cpu: Number(cpu), mem: Number(mem) });
  return `${pieces === "1" ? "" : `${number(Number(pieces))} pieces, each of `}${each}${others}${inside ? `, inside a ${inside}` : ""}`;
}

// What a job asks for in a narrow column; of nodes that jobs share the scarcest kind alone.
export function asksBriefly(run, job) {
  const { text } = run.asked[run.request[job]];
  const of = (/** @type {string} */ name) => new RegExp(`^(?:.* )?${name}=([\\d.]+)`).exec(text)?.[1];
  const [pieces, gpu, cpu] = ["pieces", "gpu", "cpu"].map(of);
  if (!run.isShared || !pieces) return text.startsWith("roles=") ? `${text.split("+").length} roles` : text;
  const each = gpu ? `${gpu} ${verb(Number(gpu), "GPU", "GPUs")}` : `${cpu} ${verb(Number(cpu), "core", "cores")}`;
  return pieces === "1" ? each : `${pieces}×${each}`;
}

// All that is known of a job.
export function facts(run, job) {
  const { until } = run.recording;
  const known = (time) => time <= until;
  const texts = [`Job ${run.number[job]} asks for ${asks(run, job)} and arrives at ${run.clock.at(run.submit[job])}.`];
  if (run.unserved[job] === 1) texts.push("It would not fit even the empty machine, and is refused.");
  else if (run.unserved[job] === 2) texts.push(`It is turned away at ${run.clock.at(run.left[job])}.`);
  else if (!known(run.start[job])) texts.push("It does not start in the time that is shown.");
  else {
    const stays = run.staysOf(job);
    const [first, last] = [stays[0], stays[stays.length - 1]];
    const site = run.sites.length > 1 ? ` on site ${run.where[first] + 1}` : "";
    const places = run.isShared ? partsInWords(run, first) : run.placeOf(first);
    const more = places.length > 4 ? ` and ${places.length - 4} more ${run.isShared ? "nodes" : "pieces"}` : "";
    texts.push(
      `It waits ${run.clock.span(run.start[job] - run.submit[job])} and starts at ${run.clock.at(run.start[job])}${site} with ` +
        `${amount(run, run.heldBy[first])}: ` +
        `${places.slice(0, 4).join("; ")}${more}.`,
    );
    if (stays.length > 1) {
      const times = stays.length === 2 ? "once" : `${stays.length - 1} times`;
      texts.push(`It is moved or resized ${times}, and then holds ${number(run.heldBy[last])}.`);
    }
    texts.push(
      known(run.finish[job])
        ? `It ends at ${run.clock.at(run.finish[job])}, after ${run.clock.span(run.finish[job] - run.start[job])}.`
        : "It still runs at the end of what is shown.",
    );
  }
  return texts.join(" ");
}

// What a stay holds of each node: `4 GPUs, 32 cores of node 7`.
function partsInWords(run, s) {
  const nodes = new Map();
  run.partsOf(s, (node, { cpu, mem, gpu }) => {
    const own = nodes.get(node) ?? { cpu: 0, mem: 0, gpu: 0 };
    nodes.set(node, { cpu: own.cpu + cpu, mem: own.mem + mem, gpu: own.gpu + gpu });
  });
  return [...nodes].map(([node, own]) => `${amountsOf(own)} of node ${number(node)}`);
}

// What is free of a node that jobs share, and who holds the rest of it.
export function nodeInWords(run, moment, site, node) {
  const free = Object.fromEntries(Object.keys(KIND_NAMES).map((kind) => [kind, run.capacity(site, node, kind)]));
  const held = new Map();
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
  const names = [...held.values()];
  const who = names.length > 6 ? [...names.slice(0, 6), `${names.length - 6} more`] : names;
  return `${placeName(run.sites[site], node)}, ${amountsOf(free)} free${failed > 0 ? `, ${number(failed)} ${verb(failed, "GPU", "GPUs")} out of service` : ""}${who.length > 0 ? `, held by ${list(who)}` : ""}`;
}

// A sentence on why a job waits at a time, with its nearest place if known; empty if it does not wait, or the reason
// was not recorded.
export function why(run, job, time, place = null) {
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
    shape: run.isShared
      ? `enough cores are free for it (${many}${anySite}), but something else is not, or not where its pieces would fit.`
      : `enough processors are free for it (${many}${anySite}), but in no shape that it may have.`,
    priority: "it could start, but others come before it.",
    reserved: `it could start, but ${units(run)} are kept for jobs that come before it.`,
  };
  return `At ${run.clock.at(time)} it waits: ${texts[cause]}${place ? ` ${nearestPlace(run, place)}` : ""}`;
}

// The place that would be free soonest, and the jobs in its way.
function nearestPlace(run, { site, corner, sides, at, jobs: there }) {
  const on = run.sites.length > 1 ? ` on site ${site + 1}` : "";
  const named = there.slice(0, 4).map((job) => name(run, job));
  if (there.length > 4) named.push(`${number(there.length - 4)} more`);
  const until = at <= run.recording.until ? `until ${run.clock.at(at)}` : "to the end of what is shown";
  const where = sides.length > 1 && sides.every((side) => side <= 2) && run.sites[site].wiring === "hypercube" ? "" : ` ${sides.join("x")} at ${corner.join(",")}${on}`;
  return `The nearest place${where}, outlined on the map, is held by ${list(named)} ${until}.`;
}

// A site in words: its wiring, and its speed if speeds differ.
export function siteName(run, site) {
  const { words, speed } = run.sites[site];
  const which = run.sites.length > 1 ? `Site ${site + 1}: ` : "";
  return `${which}${words}${speed === 1 ? "" : `, speed ${number(speed)}`}`;
}

// Meaning of the rows of the Gantt chart.
export function lanes(run, by = "job") {
  if (by === "processor") return " on the processors that it holds, in the order of their numbers";
  if (by !== "job") return `, below the others of its ${by}`;
  const ordered = run.sites.filter(isNatural).length;
  if (ordered === run.sites.length) return " on the processors that it holds";
  if (ordered === 0) return " on a row of its own";
  return ", on sites of one dimension on the processors that it holds, elsewhere on a row of its own";
}

// A processor in words: its number, with its coordinates if it has several; for a hypercube, its bits.
export function placeName(site, node) {
  if (site.shared) return `node ${number(node)} (${site.shared.types[site.typeOf[node]].name})`;
  if (site.sides.length === 1) return `processor ${number(node)}`;
  if (site.wiring === "hypercube") return `processor ${number(node)} (${node.toString(2).padStart(site.sides.length, "0")})`;
  const corner = site.sides.map((side, d) => Math.floor(node / site.strides[d]) % side);
  return `processor ${number(node)} (${corner.join(",")})`;
}

// Meaning of rows and layers of a machine whose links do not follow its grid.
const PARTS = {
  fat_tree: "A row is a leaf switch, the bar at its left, with its processors; each layer is a subtree of its own.",
  dragonfly: "A row is a router, the bar at its left, with its processors; each layer is a group, with its number above it.",
  twisted_torus: "Processors stand by their coordinates; the edges of the short sides are joined further along the long ones.",
  multiprocessor: "A row is a node with its processors; rows and layers follow the coordinates of the nodes.",
};

// How to read the picture of a site.
export function legend(site) {
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
