// Held processors and waiting jobs over the whole time, in one picture that can be dragged.

import { number, sized } from "./paint.js";
import { upTo } from "./run.js";

const HEIGHTS = { held: 46, waits: 38, gap: 16, axis: 18 };
export const PAD = 9; // margin beside everything on the slider's axis: half of its thumb

// Mean, minimum and maximum over time of a count that changes at instants, for each column of pixels.
function columns(run, counts, from, until, width) {
  const mean = new Float64Array(width);
  const least = new Float64Array(width);
  const most = new Float64Array(width);
  const span = (until - from) / width;
  let place = upTo(run.at, from, run.at.length);
  let value = place > 0 ? counts[place - 1] : 0;
  for (let x = 0; x < width; x += 1) {
    const end = x + 1 === width ? until : from + (x + 1) * span;
    let time = from + x * span;
    let area = 0;
    least[x] = most[x] = value;
    while (place < run.at.length && run.at[place] <= end) {
      area += (run.at[place] - time) * value;
      time = run.at[place];
      value = counts[place];
      least[x] = Math.min(least[x], value);
      most[x] = Math.max(most[x], value);
      place += 1;
    }
    area += (end - time) * value;
    mean[x] = span > 0 ? area / span : value;
  }
  return { mean, least, most };
}

function curve(context, theme, colour, data, top, height, full, words) {
  const y = (value) => top + height - (full > 0 ? (value / full) * height : 0);
  const { mean, least, most } = data;
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
  context.strokeStyle = theme.soft;
  context.lineWidth = 1;
  context.globalAlpha = 0.4;
  context.strokeRect(PAD + 0.5, top + 0.5, mean.length - 1, height - 1);
  context.globalAlpha = 1;
  context.fillStyle = theme.ink;
  context.textAlign = "left";
  context.fillText(words, PAD, top - 7);
}

// Draws both plots.
export function drawPlots(canvas, run, theme, width) {
  const { held, waits, gap, axis } = HEIGHTS;
  const height = gap + held + gap + waits + axis;
  const context = sized(canvas, width, height);
  const { from, until } = run.recording;
  const inner = Math.max(1, Math.floor(width - 2 * PAD));
  const second = gap + held + gap;
  curve(context, theme, theme.held, columns(run, run.held, from, until, inner), gap, held, run.processors,
    `${run.isShared ? "Cores" : "Processors"} held, of ${number(run.processors)}`);
  curve(context, theme, theme.waits, columns(run, run.waits, from, until, inner), second, waits, run.mostWaiting,
    `Jobs that wait, at most ${number(run.mostWaiting)}`);
  const x = (time) => PAD + (until > from ? ((time - from) / (until - from)) * inner : 0);
  if (run.known() < until && run.recording.held_up) {
    const left = x(run.known());
    context.fillStyle = theme.soft;
    context.globalAlpha = 0.16;
    context.fillRect(left, second, PAD + inner - left, waits);
    context.globalAlpha = 1;
    context.fillStyle = theme.soft;
    context.textAlign = "right";
    const text = "grey: reasons for waiting were not recorded";
    const isWide = width > 2 * (2 * PAD + context.measureText(text).width);
    context.fillText(isWide ? text : "grey: not recorded", width - PAD, second - 7);
  }
  drawAxis(context, theme, run.clock, from, until, x, second + waits, width);
}

// Draws an axis of times.
export function drawAxis(context, theme, clock, from, until, x, y, width) {
  context.fillStyle = context.strokeStyle = theme.soft;
  context.textAlign = "center";
  context.beginPath();
  for (const { time, text } of clock.ticks(from, until, width / 110)) {
    const at = Math.round(x(time)) + 0.5;
    context.moveTo(at, y);
    context.lineTo(at, y + 4);
    const half = text.length * 3;
    context.fillText(text, Math.min(Math.max(at, half + 1), width - half - 1), y + 11);
  }
  context.lineWidth = 1;
  context.stroke();
}
