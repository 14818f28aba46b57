// A sheet with the interface of a canvas that produces SVG, so that maps are saved as they are displayed.

const escaped = (/** @type {string} */ text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const at = (/** @type {number} */ length) => String(Math.round(length * 100) / 100);

/** The part of a canvas context that maps need. */
export class Sheet {
  constructor() {
    /** @type {string[]} */ this.parts = [];
    /** @type {string[]} */ this.way = [];
    /** @type {number[]} */ this.dashes = [];
    this.fillStyle = this.strokeStyle = "#000";
    this.globalAlpha = this.lineWidth = 1;
    this.lineCap = "butt";
    this.textAlign = "left";
  }

  alpha() {
    return this.globalAlpha < 1 ? ` opacity="${at(this.globalAlpha)}"` : "";
  }

  fillRect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ width, /** @type {number} */ height) {
    this.parts.push(`<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" fill="${this.fillStyle}"${this.alpha()}/>`);
  }

  strokeRect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ width, /** @type {number} */ height) {
    this.parts.push(`<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" fill="none"${this.line()}/>`);
  }

  line() {
    const dashes = this.dashes.length > 0 ? ` stroke-dasharray="${this.dashes.join(" ")}"` : "";
    return ` stroke="${this.strokeStyle}" stroke-width="${at(this.lineWidth)}" stroke-linecap="${this.lineCap}"${dashes}${this.alpha()}`;
  }

  beginPath() {
    this.way = [];
  }

  moveTo(/** @type {number} */ x, /** @type {number} */ y) {
    this.way.push(`M${at(x)} ${at(y)}`);
  }

  lineTo(/** @type {number} */ x, /** @type {number} */ y) {
    this.way.push(`L${at(x)} ${at(y)}`);
  }

  stroke() {
    if (this.way.length > 0) this.parts.push(`<path d="${this.way.join("")}" fill="none"${this.line()}/>`);
  }

  setLineDash(/** @type {number[]} */ dashes) {
    this.dashes = dashes;
  }

  fillText(/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    this.parts.push(`<text x="${at(x)}" y="${at(y + 3.5)}" text-anchor="${anchor}" fill="${this.fillStyle}"${this.alpha()}>${escaped(text)}</text>`);
  }

  /** Patterns of the second and third use of each colour. */
  tile(/** @type {number} */ pattern) {
    return `url(#m-tile-${pattern})`;
  }

  toString() {
    return this.parts.join("\n");
  }
}

/** Shapes of stripes and dots. */
function tiles(/** @type {any} */ theme) {
  const ink = `stroke="${theme.label}" fill="${theme.label}"`;
  return `<defs>
<pattern id="m-tile-1" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M-8 8L0 0M0 8L8 0M8 8L16 0" ${ink} opacity="0.45"/></pattern>
<pattern id="m-tile-2" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M1.2 1.2h1.6v1.6h-1.6zM5.2 5.2h1.6v1.6h-1.6z" fill="${theme.label}" opacity="0.45"/></pattern>
</defs>`;
}

/**
 * The maps of all sites at one moment as a standalone picture.
 * @param {{ run: any, moment: any, chosen: number, theme: any, still: import("./still.js").Still }} player
 * @param {string[]} lines What it is, above it.
 */
export function picture({ moment, chosen, theme, still }, lines) {
  const parts = [];
  const top = 12 + 16 * lines.length;
  let [x, widest, tallest] = [12, 0, 0];
  still.maps.forEach((map, i) => {
    const layout = still.layouts[i];
    const sheet = new Sheet();
    map.paint(sheet, layout, moment, chosen, theme);
    const names = [map.figure.querySelector("strong")?.textContent ?? "", map.held.textContent ?? ""].filter(Boolean);
    names.forEach((text, k) => {
      sheet.fillStyle = k === 0 ? theme.ink : theme.soft;
      sheet.textAlign = "left";
      sheet.fillText(text, 0, layout.height + 14 + 14 * k);
    });
    parts.push(`<g transform="translate(${at(x)} ${top})">\n${sheet}\n</g>`);
    x += Math.max(layout.width, 150) + 24;
    widest = x - 12;
    tallest = Math.max(tallest, layout.height + 14 * names.length + 10);
  });
  const words = lines.map((line, i) =>
    `<text x="12" y="${20 + 16 * i}" fill="${i === 0 ? theme.ink : theme.soft}"${i === 0 ? ' font-weight="600"' : ""}>${escaped(line)}</text>`);
  const width = Math.ceil(Math.max(widest, 24 + Math.max(...lines.map((line) => line.length)) * 5.6));
  const height = Math.ceil(top + tallest + 6);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="10">
${tiles(theme)}
<rect width="${width}" height="${height}" fill="${theme.ground || "#fff"}"/>
${words.join("\n")}
${parts.join("\n")}
</svg>
`;
}

