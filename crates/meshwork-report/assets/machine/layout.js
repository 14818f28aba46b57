// Positions of processors on the page, by the rules of `meshwork watch`.
//
// A plane is drawn as it is, node 0 at the top left; further dimensions are layers. A hypercube is drawn as a
// Karnaugh map: half of the dimensions are columns and half are rows, both in Gray code, so that adjacent nodes are
// neighbours. A single dimension is broken into rows.

const GAP = 14; // between two layers, in pixels
const TITLE = 15; // the height of a layer's title
const LETTER = 6.2; // the width of a character of a label

const gray = (place) => place ^ (place >> 1);
const width = (text) => Math.ceil(String(text).length * LETTER);

// One dimension, in rows.
function rows(site, cell, available) {
  const label = cell >= 8 ? width(site.nodes - 1) + 6 : 0;
  const square = Math.max(16, 2 ** Math.ceil(Math.log2(Math.sqrt(2 * site.nodes))));
  const across = Math.max(1, Math.min(square, site.nodes, Math.floor((available - label) / cell)));
  const down = Math.ceil(site.nodes / across);
  const labels = [];
  for (let y = 0; label > 0 && y < down; y += 1) {
    labels.push({ x: label - 6, y: (y + 0.5) * cell, text: y * across, align: "right" });
  }
  const node = (x, y) => (y * across + x < site.nodes ? y * across + x : -1);
  return { labels, panes: [{ x: label, y: 0, columns: across, rows: down, node }] };
}

// A hypercube: half of the bits are columns, the others rows.
function karnaugh(site, cell) {
  const across = Math.ceil(site.sides.length / 2);
  const down = site.sides.length - across;
  const [columns, lines] = [2 ** across, 2 ** down];
  const bits = cell >= 9;
  const x = bits && down > 0 ? width("".padStart(down)) + 6 : 0;
  const y = bits ? across * 10 + 4 : 0;
  const labels = [];
  for (let column = 0; bits && column < columns; column += 1) {
    const text = gray(column).toString(2).padStart(across, "0");
    [...text].forEach((bit, i) => labels.push({ x: x + (column + 0.5) * cell, y: i * 10 + 5, text: bit, align: "center" }));
  }
  for (let row = 0; x > 0 && row < lines; row += 1) {
    const text = gray(row).toString(2).padStart(down, "0");
    labels.push({ x: x - 6, y: y + (row + 0.5) * cell, text, align: "right" });
  }
  const node = (column, row) => gray(row) * columns + gray(column);
  return { labels, panes: [{ x, y, columns, rows: lines, node }] };
}

// Name of a layer, and whether each of its rows has a switch.
const SWITCHED = { fat_tree: "switch", dragonfly: "group", multiprocessor: "row" };
const BAR = 7; // space for a switch

// Layers of the first two dimensions, side by side if they fit.
function layers(site, cell, available) {
  const called = SWITCHED[site.wiring];
  const bar = called && cell >= 5 ? BAR : 0;
  const [columns, lines] = [site.sides[0], site.sides[1]];
  const size = columns * lines;
  const count = site.nodes / size;
  const title = (layer) => {
    const further = site.sides.slice(2).map((side, d) => Math.floor((layer * size) / site.strides[d + 2]) % side);
    if (called) return `${called} ${further.join(",")}`;
    return further.length === 1 ? `z=${further[0]}` : further.join(",");
  };
  const pane = bar + Math.max(columns * cell, count > 1 ? width(title(count - 1)) : 0);
  let across = Math.max(1, Math.min(count, Math.floor((available + GAP) / (pane + GAP))));
  // As few lines as possible, of equal length: of 32 layers of which ten fit, eight are in each line.
  across = Math.ceil(count / Math.ceil(count / across));
  // With more than three dimensions, a line begins with a new value of the fourth.
  if (site.sides.length > 3 && across > site.sides[2]) across -= across % site.sides[2];
  const heading = count > 1 ? TITLE : 0;
  const labels = [];
  const panes = [];
  for (let layer = 0; layer < count; layer += 1) {
    const x = (layer % across) * (pane + GAP);
    const y = Math.floor(layer / across) * (heading + lines * cell + GAP / 2);
    if (heading > 0) labels.push({ x, y: y + heading / 2, text: title(layer), align: "left" });
    const node = (column, row) => layer * size + row * columns + column;
    panes.push({ x: x + bar, y: y + heading, columns, rows: lines, node, hasSwitches: bar > 0 });
  }
  return { labels, panes };
}

// Lays out a site with cells of this size, within this width.
export function layout(site, cell, available) {
  let drawn;
  if (site.wiring === "hypercube") drawn = karnaugh(site, cell);
  else if (site.sides.length === 1) drawn = rows(site, cell, available);
  else drawn = layers(site, cell, available);
  const far = (end) => Math.max(1, Math.ceil(Math.max(...drawn.panes.map(end))));
  drawn.width = far((pane) => pane.x + pane.columns * cell);
  drawn.height = far((pane) => pane.y + pane.rows * cell);
  for (const label of drawn.labels) {
    if (label.align === "left") drawn.width = Math.max(drawn.width, label.x + width(label.text));
  }
  return Object.assign(drawn, { cell });
}
// Lays out all sites with cells of one size, the largest that fits.
export function layouts(sites, available, height, caption) {
  let cells = [];
  // A node that jobs share has something to show inside.
  const largest = sites.some((site) => site.shared) ? 60 : 30;
  for (let cell = largest; cell >= 1; cell -= cell > 12 ? 2 : 1) cells.push(cell);
  cells = cells.concat([0.5, 0.25, 0.125, 0.0625]);
  for (const cell of cells) {
    const all = sites.map((site) => layout(site, cell, available));
    let [x, y, line] = [0, 0, 0];
    for (const one of all) {
      const taken = Math.max(one.width, 150);
      if (x > 0 && x + taken > available) {
        y += line;
        [x, line] = [0, 0];
      }
      x += taken + 24;
      line = Math.max(line, one.height + caption);
    }
    const fits = all.every((one) => one.width <= available) && (y + line <= height || cell <= 0.0625);
    if (fits) return all;
  }
  return sites.map((site) => layout(site, cells[cells.length - 1], available));
}
