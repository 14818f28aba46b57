// A canvas that keeps what is drawn on it as SVG: what draws the machine for the eye draws it for a file too. It knows as much of a
// canvas as that needs.

import { at, escaped } from "./svg.js";

/** What `save` keeps. @typedef {{ alpha: number, dash: number[], clip: string | null }} Kept */

export class SvgCanvas {
  width = 1;
  height = 1;
  style = /** @type {Record<string, string>} */ ({});
  globalAlpha = 1;
  lineWidth = 1;
  lineCap = "butt";
  font = "10px sans-serif";
  textAlign = "left";
  textBaseline = "middle";
  /** @type {any} */ fillStyle = "#000";
  /** @type {any} */ strokeStyle = "#000";
  #marks = /** @type {string[]} */ ([]);
  #defs = /** @type {string[]} */ ([]);
  #path = "";
  #dash = /** @type {number[]} */ ([]);
  #clip = /** @type {string | null} */ (null);
  #kept = /** @type {Kept[]} */ ([]);
  #name;

  /** The names of clips and patterns begin with this: no two drawings of one file may share them. */
  constructor(name = "m") {
    this.#name = name;
  }

  getContext() {
    return this;
  }

  /** What is drawn, without its frame. */
  get body() {
    const defs = this.#defs.length > 0 ? `<defs>${this.#defs.join("")}</defs>\n` : "";
    return defs + this.#marks.join("");
  }

  /** As fine as the screen is: a file is as fine as it likes. */
  setTransform(/** @type {number} */ ratio) {
    this.width /= ratio;
    this.height /= ratio;
  }

  clearRect() {
    this.#marks = [];
  }

  save() {
    this.#kept.push({ alpha: this.globalAlpha, dash: this.#dash, clip: this.#clip });
  }

  restore() {
    const kept = this.#kept.pop();
    if (kept) [this.globalAlpha, this.#dash, this.#clip] = [kept.alpha, kept.dash, kept.clip];
  }

  setLineDash(/** @type {number[]} */ dash) {
    this.#dash = dash;
  }

  beginPath() {
    this.#path = "";
  }

  moveTo(/** @type {number} */ x, /** @type {number} */ y) {
    this.#path += `M${at(x)} ${at(y)}`;
  }

  lineTo(/** @type {number} */ x, /** @type {number} */ y) {
    this.#path += `${this.#path === "" ? "M" : "L"}${at(x)} ${at(y)}`;
  }

  closePath() {
    this.#path += "Z";
  }

  rect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ width, /** @type {number} */ height) {
    this.#path += `M${at(x)} ${at(y)}h${at(width)}v${at(height)}h${at(-width)}Z`;
  }

  clip() {
    const name = `${this.#name}-${this.#defs.length}`;
    this.#defs.push(`<clipPath id="${name}"><path d="${this.#path}"/></clipPath>`);
    this.#clip = name;
  }

  /** A fill that repeats a small picture. */
  createPattern(/** @type {HTMLCanvasElement} */ picture) {
    const name = `${this.#name}-${this.#defs.length}`;
    const size = `width="${picture.width}" height="${picture.height}"`;
    this.#defs.push(`<pattern id="${name}" patternUnits="userSpaceOnUse" ${size}><image href="${picture.toDataURL()}" ${size}/></pattern>`);
    return { name };
  }

  #paint(/** @type {any} */ style) {
    return typeof style === "string" ? escaped(style) : `url(${"#"}${style.name})`;
  }

  #put(/** @type {string} */ mark) {
    const alpha = this.globalAlpha < 1 ? ` opacity="${at(this.globalAlpha)}"` : "";
    const clip = this.#clip ? ` clip-path="url(${"#"}${this.#clip})"` : "";
    this.#marks.push(`<${mark}${alpha}${clip}/>\n`);
  }

  #stroke() {
    const dash = this.#dash.length > 0 ? ` stroke-dasharray="${this.#dash.join(" ")}"` : "";
    const cap = this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`;
    return `fill="none" stroke="${this.#paint(this.strokeStyle)}" stroke-width="${at(this.lineWidth)}"${dash}${cap}`;
  }

  stroke() {
    if (this.#path !== "") this.#put(`path d="${this.#path}" ${this.#stroke()}`);
  }

  fill() {
    if (this.#path !== "") this.#put(`path d="${this.#path}" fill="${this.#paint(this.fillStyle)}"`);
  }

  fillRect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ width, /** @type {number} */ height) {
    // A height may be told from below.
    const [top, tall] = height < 0 ? [y + height, -height] : [y, height];
    this.#put(`rect x="${at(x)}" y="${at(top)}" width="${at(width)}" height="${at(tall)}" fill="${this.#paint(this.fillStyle)}"`);
  }

  strokeRect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ width, /** @type {number} */ height) {
    this.#put(`rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" ${this.#stroke()}`);
  }

  fillText(/** @type {string} */ words, /** @type {number} */ x, /** @type {number} */ y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign] ?? "start";
    const size = Number.parseFloat(this.font) || 10;
    const alpha = this.globalAlpha < 1 ? ` opacity="${at(this.globalAlpha)}"` : "";
    const middle = this.textBaseline === "middle" ? size * 0.36 : 0;
    this.#marks.push(`<text x="${at(x)}" y="${at(y + middle)}" font-size="${at(size)}" text-anchor="${anchor}" fill="${this.#paint(this.fillStyle)}"${alpha}>${escaped(String(words))}</text>\n`);
  }
}
