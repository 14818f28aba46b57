// The live part of a report: asks the server that the page came from what is new, and shows it. Nothing that comes
// is taken for HTML but the results, which the same server wrote.

import { drawFigures } from "../report/figures.js";

const SECOND = 1000;
const state = document.getElementById("live-state"), bar = /** @type {HTMLProgressElement} */ (document.getElementById("live-bar"));
const figure = document.getElementById("live-machine");
let tag = null, told = "", lastMachine = "", misses = 0;

const whole = (number) => number.toLocaleString("en");
const brief = (number) => number.toLocaleString("en", { maximumSignificantDigits: 7 });
const several = (number, one, more) => `${whole(number)} ${number === 1 ? one : more}`;

function say(text) {
  if (text !== told) state.textContent = text;
  told = text;
}

/** Puts the new tables, verdicts and sentences where the old ones are; plots are drawn again and stay chosen. */
function fill(fresh) {
  const page = new DOMParser().parseFromString(`<main>${fresh.results}</main>`, "text/html");
  for (const section of page.querySelectorAll("section.study")) {
    const home = document.getElementById(section.id);
    if (!home) continue;
    for (const part of [".sayings", ".notes", ".failures"]) {
      const own = home.querySelector(part), other = section.querySelector(part);
      if (own && other) own.replaceWith(other);
      else if (own) own.remove();
      else if (other && part === ".failures") home.querySelector(".asked").before(other);
      else if (other && part === ".notes") home.querySelector(".body").before(other);
    }
    for (const table of section.querySelectorAll("details.numbers table")) {
      const own = document.getElementById(table.id);
      if (own) own.replaceWith(table);
      else home.querySelector(".asked").before(table.closest("details"));
    }
  }
  drawFigures(document, fresh.data);
}

async function ask(path, headers = {}) {
  const response = await fetch(path, { headers, cache: "no-store" });
  if (response.status === 304) return null;
  if (!response.ok) throw new Error(response.statusText);
  if (path === "/report.json") tag = response.headers.get("ETag");
  return response.json();
}

/** A colour for a job: far from that of the next one, and the same as long as it runs. */
function colour(job, isDark) {
  const hue = (job * 137.508) % 360, light = (isDark ? 52 : 58) + ((job * 7) % 3) * 8;
  return `hsl(${hue} 55% ${light}%)`;
}

function draw(canvas, site, isDark) {
  const height = site.cells.length / site.width;
  const size = Math.max(2, Math.min(18, Math.floor(560 / Math.max(site.width, height))));
  const ratio = window.devicePixelRatio || 1;
  canvas.width = site.width * size * ratio;
  canvas.height = height * size * ratio;
  canvas.style.width = `${site.width * size}px`;
  canvas.style.aspectRatio = `${site.width} / ${height}`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const gap = size > 5 ? 1 : 0;
  const free = getComputedStyle(canvas).getPropertyValue("--tint");
  site.cells.forEach((cell, place) => {
    if (cell < 0) return;
    context.fillStyle = cell === 0 ? free : colour(cell, isDark);
    context.fillRect((place % site.width) * size, Math.floor(place / site.width) * size, size - gap, size - gap);
  });
}

function showMachine(machine) {
  figure.hidden = !machine;
  if (!machine) return;
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const same = JSON.stringify(machine) + isDark;
  if (same === lastMachine) return;
  lastMachine = same;
  const where = machine.scenario ? `${machine.scenario}, replication ${machine.replication}` : `replication ${machine.replication}`;
  figure.querySelector("figcaption").textContent =
    `One of the runs: ${where}. At time ${brief(machine.time)}, ${several(machine.running, "job runs", "jobs run")} and ` +
    `${several(machine.waiting, "waits", "wait")}, ${whole(machine.finished)} have ended, and ` +
    `${Math.round(100 * machine.utilization)} % of the processors are held. Each job has a colour.`;
  const sites = figure.querySelector(".sites");
  if (sites.children.length !== machine.sites.length) {
    sites.replaceChildren(...machine.sites.map(() => {
      const place = document.createElement("div");
      place.append(document.createElement("p"), document.createElement("canvas"));
      return place;
    }));
  }
  machine.sites.forEach((site, number) => {
    const [name, canvas] = sites.children[number].children;
    name.textContent = `${site.name}, ${whole(site.held)} of ${whole(site.nodes)} held`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", name.textContent);
    draw(canvas, site, isDark);
  });
  const asks = machine.queue.map((job) => job.asks).join(", ");
  const more = machine.waiting > machine.queue.length ? ", …" : "";
  figure.querySelector(".queue").textContent = asks ? `First in the queue, by what they ask for: ${asks}${more}` : "";
}

function showProgress(now) {
  const share = now.total > 0 ? now.done / now.total : 0;
  bar.value = share;
  bar.hidden = now.ended;
  document.body.classList.toggle("is-running", !now.ended);
  const failed = now.failed > 0 ? `, ${several(now.failed, "failed", "failed")}` : "";
  const which = now.studies > 1 && !now.ended ? `${now.study}: ` : "";
  say(now.ended
    ? `All ${several(now.done, "run has", "runs have")} ended${failed}. The numbers below are the last ones.`
    : `${which}${whole(now.done)} of ${several(now.total, "run has", "runs have")} ended${failed}.`);
}

export async function look() {
  try {
    const now = await ask("/machine.json");
    misses = 0;
    showProgress(now);
    showMachine(now.machine);
    const fresh = await ask("/report.json", tag ? { "If-None-Match": tag } : {});
    if (fresh) fill(fresh);
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
  setTimeout(look, SECOND);
}
