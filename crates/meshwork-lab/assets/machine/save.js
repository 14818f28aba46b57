// The machine as a file: what is seen at a time as SVG or PNG, and who holds what as CSV.

import { FONT } from "../plot/figure.js";
import { SvgCanvas } from "../plot/canvas.js";
import { at, rect, text } from "../plot/svg.js";
import { make } from "../report/dom.js";
import { csv, fileName, hand, handText, png } from "../report/save.js";
import { SiteMap } from "./map.js";
import { number } from "./paint.js";
import { siteName } from "./words.js";

const MARGIN = 12;
const HEAD = 20;

/** A file of drawings below one another, each with words above it. */
function sheet(drawings, theme) {
  const width = Math.max(...drawings.map(({ canvas }) => canvas.width)) + 2 * MARGIN;
  let [y, body] = [MARGIN, ""];
  for (const { words, canvas } of drawings) {
    body += text([MARGIN, y + 13], words, theme.ink);
    body += `<g transform="translate(${MARGIN} ${at(y + HEAD)})">\n${canvas.body}</g>\n`;
    y += HEAD + canvas.height + MARGIN;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${at(width)}" height="${at(y)}" viewBox="0 0 ${at(width)} ${at(y)}" font-family="${FONT}" font-size="12">\n`
    + `${rect([0, 0, width, y], theme.ground)}${body}</svg>\n`;
}

/** All sites at a moment. */
export function mapSvg(run, layouts, moment, chosen, theme) {
  const own = { ...theme, tiles: new Map() };
  const drawings = layouts.map((layout, site) => {
    const canvas = new SvgCanvas(`site${site}`);
    // A pattern belongs to the drawing that it is made for.
    new SiteMap(run, site, canvas).draw(layout, moment, chosen, { ...own, tiles: new Map() });
    return { words: siteName(run, site), canvas };
  });
  return sheet(drawings, own);
}

/** The Gantt chart as it is seen. */
export function ganttSvg(gantt, theme, width, height, chosen) {
  const canvas = new SvgCanvas("gantt");
  gantt.draw(canvas, { ...theme, tiles: new Map() }, width, height, chosen);
  return sheet([{ words: "Gantt chart", canvas }], theme);
}

/** Who runs and who waits at a moment, a row for each job. */
export function momentCsv(run, moment) {
  const whole = run.moment(moment.time, Infinity);
  const asks = (job) => run.asked[run.request[job]].text;
  const known = (time) => (time <= run.recording.until ? time : null);
  const running = whole.running.map((s) => {
    const job = run.who[s];
    return [run.number[job], "runs", asks(job), run.submit[job], run.start[job], known(run.finish[job]), run.where[s] + 1, run.heldBy[s], run.placeOf(s).join(" ")];
  });
  const waiting = whole.waiting.map((job) => [run.number[job], "waits", asks(job), run.submit[job]]);
  return csv([["job", "state", "asks", "submit", "start", "end", "site", "processors", "placement"], ...running, ...waiting]);
}

/** Buttons that save what a player shows: the map, the Gantt chart, and the moment in numbers. */
export function saveButtons(player) {
  const name = (what) => fileName(what, player.run.recording.title, `time ${number(player.time)}`);
  const map = () => mapSvg(player.run, player.layouts, player.moment, player.chosen, player.theme);
  const chart = () => ganttSvg(player.gantt, player.theme, player.width, player.chart.clientHeight, player.chosen);
  const acts = /** @type {[string, string, () => void][]} */ ([
    ["SVG", "Save the map as SVG", () => handText(`${name("map")}.svg`, map(), "image/svg+xml")],
    ["PNG", "Save the map as PNG", async () => hand(`${name("map")}.png`, await png(map()))],
    ["CSV", "Save who runs and who waits as CSV", () => handText(`${name("jobs")}.csv`, momentCsv(player.run, player.moment), "text/csv")],
    ["chart as SVG", "Save the Gantt chart as SVG", () => {
      handText(`${name("gantt")}.svg`, chart(), "image/svg+xml");
      // It remembers where it was drawn: that is the screen again.
      player.drawChart();
    }],
    ["chart as PNG", "Save the Gantt chart as PNG", async () => {
      const svg = chart();
      player.drawChart();
      hand(`${name("gantt")}.png`, await png(svg));
    }],
  ]);
  const buttons = acts.map(([words, title, act]) => {
    const button = make("button", { type: "button", title, "aria-label": title }, words);
    button.addEventListener("click", act);
    return button;
  });
  return make("p", { class: "save" }, "Save: ", ...buttons);
}
