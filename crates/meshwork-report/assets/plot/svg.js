// Shapes of plots as text. `src/report/draw/svg.rs` does the same.

/** Escapes a text for an element or an attribute. */
export function escaped(/** @type {string} */ text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Formats a length, to a hundredth of a pixel. */
export function at(/** @type {number} */ length) {
  const rounded = Math.floor(length * 100 + 0.5) / 100;
  return String(rounded === 0 ? 0 : rounded);
}

const SIZE = 12;

/** Approximate width of a text in a sans-serif font, in pixels. */
export function wide(/** @type {string} */ text, size = SIZE) {
  let sum = 0;
  for (const letter of text) {
    if ("ijl.,:;'|!()[]tfr -".includes(letter)) sum += 0.36;
    else if ("mwMW—…%±−+=<>".includes(letter)) sum += 0.92;
    else if (letter >= "A" && letter <= "Z") sum += 0.72;
    else sum += 0.63;
  }
  return sum * size;
}

/** Shortens a text to this width. */
export function shortened(/** @type {string} */ text, /** @type {number} */ available, size = SIZE) {
  if (wide(text, size) <= available) return text;
  const letters = [...text];
  while (letters.length > 1 && wide(`${letters.join("")}…`, size) > available) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

/** A straight line. */
export function line(/** @type {number[]} */ [x1, y1, x2, y2], /** @type {string} */ stroke, width = 1, more = "") {
  return `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke="${stroke}" stroke-width="${at(width)}"${more}/>\n`;
}

/** A rectangle. */
export function rect(/** @type {number[]} */ [x, y, width, height], /** @type {string} */ fill, more = "") {
  return `<rect x="${at(x)}" y="${at(y)}" width="${at(Math.max(0, width))}" height="${at(Math.max(0, height))}" fill="${fill}"${more}/>\n`;
}

/** A text; `anchor` is start, middle or end. */
export function text(/** @type {number[]} */ [x, y], /** @type {string} */ words, /** @type {string} */ fill, anchor = "start", more = "") {
  return `<text x="${at(x)}" y="${at(y)}" fill="${fill}" text-anchor="${anchor}"${more}>${escaped(words)}</text>\n`;
}

/** Polylines, one for each list of points. */
export function path(/** @type {number[][][]} */ pieces, /** @type {string} */ stroke, /** @type {number} */ width, more = "") {
  const drawn = pieces.filter((piece) => piece.length > 1);
  if (drawn.length === 0) return "";
  const d = drawn.map((piece) => piece.map(([x, y], i) => `${i === 0 ? "M" : "L"}${at(x)} ${at(y)}`).join("")).join("");
  return `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${at(width)}" stroke-linejoin="round"${more}/>\n`;
}

/** An arrow head in this direction, for a value beyond the plot. */
export function beyond(/** @type {number[]} */ [x, y], /** @type {number[]} */ [dx, dy], /** @type {string} */ stroke) {
  const back = (/** @type {number} */ side) => [x - 5 * dx + side * dy, y - 5 * dy + side * dx];
  return path([[back(4), [x, y], back(-4)]], stroke, 1.5);
}

/** Dash patterns, which distinguish lines without colours. */
const DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2", "1 3", "9 3 2 3 2 3", "14 3 4 3", "5 5"];

/** Dash attribute of a line without marks. */
export function dashed(/** @type {number} */ number) {
  const dashes = DASHES[number % DASHES.length];
  return dashes ? ` stroke-dasharray="${dashes}"` : "";
}

/** A sample of a line for a legend. */
export function sample(/** @type {number} */ number, /** @type {number[]} */ [x, y], /** @type {string} */ stroke) {
  return path([[[x - 13, y], [x + 13, y]]], stroke, 2, dashed(number));
}

/** Corners of each shape, with about the area of a circle of radius 1. */
const SHAPES = /** @type {number[][][]} */ ([
  [],
  [[-0.89, -0.89], [0.89, -0.89], [0.89, 0.89], [-0.89, 0.89]],
  [[0, -1.25], [1.15, 0.8], [-1.15, 0.8]],
  [[0, -1.35], [1.05, 0], [0, 1.35], [-1.05, 0]],
  [[1.25, 0], [-0.8, 1.15], [-0.8, -1.15]],
  [[0, 1.25], [1.15, -0.8], [-1.15, -0.8]],
  [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
  [[0.6, -1.04], [1.2, 0], [0.6, 1.04], [-0.6, 1.04], [-1.2, 0], [-0.6, -1.04]],
  [[-0.57, -1.13], [0, -0.57], [0.57, -1.13], [1.13, -0.57], [0.57, 0], [1.13, 0.57], [0.57, 1.13], [0, 0.57], [-0.57, 1.13], [-1.13, 0.57], [-0.57, 0], [-1.13, -0.57]],
  [[0, -1.2], [1.14, -0.37], [0.71, 0.97], [-0.71, 0.97], [-1.14, -0.37]],
]);

/** Number of colours, each with its own shape. */
export const COLOURS = SHAPES.length;

/** The mark of a series. */
export function mark(/** @type {number} */ number, /** @type {number[]} */ [x, y], /** @type {number} */ radius, /** @type {string} */ stroke, /** @type {string} */ fill, more = "") {
  const shape = SHAPES[number % COLOURS];
  const paint = `fill="${fill}" stroke="${stroke}" stroke-width="1.5"${more}/>\n`;
  if (shape.length === 0) return `<circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}" ${paint}`;
  const corners = shape.map(([dx, dy]) => `${at(x + dx * radius)},${at(y + dy * radius)}`).join(" ");
  return `<polygon points="${corners}" ${paint}`;
}
