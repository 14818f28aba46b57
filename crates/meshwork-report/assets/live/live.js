// The live part of a report: polls the server of the page for news and shows them. Only results, which the same
// server wrote, are used as HTML.

import { theme as themeOf } from "../machine/paint.js";
import { open } from "../machine/run.js";
import { LISTED, Still } from "../machine/still.js";
import { find } from "../report/dom.js";
import { drawFigures } from "../report/figures.js";
import { prepareTables } from "../report/tables.js";

const SECOND = 1000;
const state = document.getElementById("live-state"), bar = /** @type {HTMLProgressElement} */ (document.getElementById("live-bar"));
const figure = document.getElementById("live-machine");
/** @type {Still} */
let still;
let tag = null, told = "", lastMachine = "", lastSizes = "", misses = 0;
/** @type {{ moment: any } | null} */
let shown = null;
/** @type {Map<number, number>} */
let looks = new Map();

const whole = (number) => number.toLocaleString("en");
const several = (number, one, more) => `${whole(number)} ${number === 1 ? one : more}`;

function say(text) {
  if (text !== told) state.textContent = text;
  told = text;
}

/** Replaces tables, verdicts and sentences, and redraws plots; selections are kept. */
function fill(fresh) {
  const page = new DOMParser().parseFromString(`<main>${fresh.results}</main>`, "text/html");
  for (const section of page.querySelectorAll("section.study")) {
    const home = document.getElementById(section.id);
    if (!home) continue;
    // The number of runs behind the numbers.
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

async function ask(path, headers = {}) {
  const response = await fetch(path, { headers, cache: "no-store" });
  if (response.status === 304) return null;
  if (!response.ok) throw new Error(response.statusText);
  if (path === "/report.json") tag = response.headers.get("ETag");
  return response.json();
}

/** Draws the machine of one of the runs; jobs keep the looks that they had. */
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
  // Only the first waiting jobs are sent.
  moment.waits = machine.waiting;
  looks = new Map(moment.running.map((s) => [run.number[run.who[s]], run.look[run.who[s]]]));
  const where = [machine.scenario, `replication ${machine.replication}`].filter(Boolean).join(", ");
  const ended = several(machine.finished, "job", "jobs");
  figure.querySelector("figcaption").textContent = machine.ended
    ? `One of the runs, as it ended: ${where}, after ${ended}.`
    : `A run in progress: ${where}. ${ended} ${machine.finished === 1 ? "has" : "have"} ended in it so far.`;
  still.open(run);
  shown = { moment };
  arrange();
}

/** Draws the current state in the available space. */
function arrange() {
  if (!shown || figure.hidden) return;
  const stage = find(figure, ".machine");
  const theme = themeOf(stage);
  const sizes = `${stage.clientWidth} ${JSON.stringify(still.run.recording.sites)}`;
  if (sizes !== lastSizes) still.arrange(stage, stage.clientWidth);
  lastSizes = sizes;
  still.draw(shown.moment, -1, theme);
}

/** Starts polling, which ends with the command. */
export function follow() {
  still = new Still();
  const { now, picture, lists } = still;
  find(figure, ".machine").replaceChildren(now, picture, lists);
  addEventListener("resize", arrange);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", arrange);
  look();
}

/** Progress at the first answer. @type {{ at: number, done: number, total: number, jobs: number } | null} */
let first = null;

/** Remaining time and simulated jobs a second, by the rates since the page was opened; empty before any run has finished. */
function timeLeft(now) {
  if (!first || first.total !== now.total) first = { at: performance.now(), done: now.done, total: now.total, jobs: now.jobs };
  const [done, elapsed] = [now.done - first.done, (performance.now() - first.at) / SECOND];
  if (done < 1 || now.ended) return "";
  const seconds = (elapsed / done) * (now.total - now.done);
  const words = seconds < 100 ? `${Math.round(seconds)} s` : seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
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
  say(now.ended
    ? `All ${several(now.done, "run has", "runs have")} ended${failed}. The numbers below are the last ones.`
    : `${which}${whole(now.done)} of ${several(now.total, "run has", "runs have")} ended${failed}.${timeLeft(now)}`);
}

async function look() {
  try {
    const now = await ask("/machine.json");
    misses = 0;
    showProgress(now);
    await showMachine(now.machine);
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
