// Colours, patterns and canvases.

import { COLOURS } from "./run.js";

// Colours of the style sheet for the current theme.
export function theme(element) {
  const style = getComputedStyle(element);
  const get = (name) => style.getPropertyValue(`--m-${name}`).trim();
  const jobs = [];
  for (let i = 0; i < COLOURS; i += 1) jobs.push(get(`job-${i}`));
  const names = ["free", "edge", "ink", "soft", "label", "ground", "held", "waits", "chosen", "down", "blocker"];
  return names.reduce((all, name) => Object.assign(all, { [name]: get(name) }), { jobs, tiles: new Map() });
}

// Gives a canvas its size in pixels of the page, at the resolution of the screen.
export function sized(canvas, width, height) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
  const [across, down] = [width, height].map((length) => Math.max(1, Math.round(length * ratio)));
  // Resizing recreates a canvas, which is slower than clearing it.
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

// Stripes or dots for the second and third use of a colour, so that colour is not the only sign.
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

// Draws a rectangle in the look of a job.
export function fill(context, theme, look, x, y, width, height) {
  context.fillStyle = theme.jobs[look % COLOURS];
  context.fillRect(x, y, width, height);
  const pattern = Math.floor(look / COLOURS);
  if (pattern > 0 && width >= 4 && height >= 4) {
    // A sheet of SVG has pattern tiles of its own.
    context.fillStyle = context.tile?.(pattern) ?? tile(theme, context, pattern);
    context.fillRect(x, y, width, height);
  }
}

// Round values of an axis, about this many.
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

// A number for reading; three decimals suffice to see the clock move.
export function number(value) {
  if (!Number.isFinite(value)) return "–";
  const rounded = Math.abs(value) >= 1e15 ? value : Math.round(value * 1000) / 1000;
  const [whole, part] = String(rounded).split(".");
  if (whole.includes("e")) return String(rounded);
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return part ? `${grouped}.${part}` : grouped;
}

// A number in short form: six digits, but all of those before the decimal point.
export function short(value) {
  const decimals = Math.max(0, 6 - String(Math.trunc(Math.abs(value))).length);
  return number(decimals < 3 ? Number(value.toFixed(decimals)) : value);
}
