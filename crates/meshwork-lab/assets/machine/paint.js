// Colours, patterns and canvases.

import { COLOURS } from "./run.js";

// The colours that the style sheet gives, for the light or the dark page as it now is.
export function theme(element) {
  const style = getComputedStyle(element);
  const get = (name) => style.getPropertyValue(`--m-${name}`).trim();
  const jobs = [];
  for (let i = 0; i < COLOURS; i += 1) jobs.push(get(`job-${i}`));
  const names = ["free", "edge", "ink", "soft", "label", "ground", "held", "waits", "chosen", "down", "blocker"];
  return names.reduce((all, name) => Object.assign(all, { [name]: get(name) }), { jobs, tiles: new Map() });
}

// A canvas of so many pixels of the page, as fine as the screen is.
export function sized(canvas, width, height) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
  const [across, down] = [width, height].map((length) => Math.max(1, Math.round(length * ratio)));
  // A canvas that is given a size is made anew, which takes longer than to wipe it.
  if (canvas.width !== across || canvas.height !== down) {
    [canvas.width, canvas.height] = [across, down];
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "10px system-ui, sans-serif";
  context.textBaseline = "middle";
  return context;
}

// Stripes or dots for the second and third round of colours, so that a colour alone never has to tell.
function tile(theme, context, pattern) {
  if (!theme.tiles.has(pattern)) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 8;
    const brush = canvas.getContext("2d");
    brush.strokeStyle = brush.fillStyle = theme.label;
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
    theme.tiles.set(pattern, context.createPattern(canvas, "repeat"));
  }
  return theme.tiles.get(pattern);
}

// A rectangle as a job with this look is drawn.
export function fill(context, theme, look, x, y, width, height) {
  context.fillStyle = theme.jobs[look % COLOURS];
  context.fillRect(x, y, width, height);
  const pattern = Math.floor(look / COLOURS);
  if (pattern > 0 && width >= 4 && height >= 4) {
    // A sheet of SVG has tiles of its own.
    context.fillStyle = context.tile?.(pattern) ?? tile(theme, context, pattern);
    context.fillRect(x, y, width, height);
  }
}

// Round values for an axis, about so many.
export function ticks(from, until, about) {
  const span = until - from;
  if (!(span > 0)) return [from];
  const raw = span / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
  const values = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= until + step * 1e-9; k += 1) values.push(k * step);
  return values;
}

// A number for reading: three decimals are enough to see the clock go on.
export function number(value) {
  if (!Number.isFinite(value)) return "–";
  const rounded = Math.abs(value) >= 1e15 ? value : Math.round(value * 1000) / 1000;
  const [whole, part] = String(rounded).split(".");
  if (whole.includes("e")) return String(rounded);
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return part ? `${grouped}.${part}` : grouped;
}

// The same where there is little room: six digits, but all of those before the decimal point.
export function short(value) {
  const decimals = Math.max(0, 6 - String(Math.trunc(Math.abs(value))).length);
  return number(decimals < 3 ? Number(value.toFixed(decimals)) : value);
}
