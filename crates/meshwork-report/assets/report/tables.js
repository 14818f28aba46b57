// Sorting and filtering of tables.

import { make } from "./dom.js";

/** Minimum number of rows of a table with a filter. */
const FEW = 12;

/** The number at the beginning of a cell, or its text. */
export function keyOf(/** @type {string} */ text) {
  const number = /^[-+−]?[\d,]*\.?\d+(e[-+]?\d+)?/.exec(text.trim());
  return number ? Number(number[0].replaceAll(",", "").replace("−", "-")) : text.trim();
}

/** Compares two cells: numbers before words, missing values last. */
export function compare(/** @type {string | number} */ a, /** @type {string | number} */ b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number" || b === "-") return -1;
  if (typeof b === "number" || a === "-") return 1;
  return a.localeCompare(b);
}

/** Sorts the rows of a table by a column. @param {HTMLTableElement} table @param {number} column @param {boolean} isDown */
function sort(table, column, isDown) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column]?.textContent ?? "") }));
  rows.sort((a, b) => (isDown && a.key !== "-" && b.key !== "-" ? compare(b.key, a.key) : compare(a.key, b.key)));
  body.append(...rows.map(({ row }) => row));
  [...(table.tHead?.rows[0].cells ?? [])].forEach((head, i) => {
    if (i === column) head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

/** Adds the buttons of tables below an element that have none yet. */
export function prepareTables(/** @type {ParentNode} */ root) {
  for (const table of root.querySelectorAll("details.numbers table, figure details table")) {
    if (!(table instanceof HTMLTableElement) || table.tHead?.querySelector("button")) continue;
    const count = table.tBodies[0]?.rows.length ?? 0;
    if (count < 3) continue;
    [...(table.tHead?.rows[0].cells ?? [])].forEach((head, column) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => sort(table, column, head.getAttribute("aria-sort") === "ascending"));
      head.append(button);
    });
    const box = table.closest(".scroll");
    if (count < FEW || !box || box.previousElementSibling?.matches(".filter")) continue;
    box.before(make("div", { class: "filter" }, search(box), sorter(table)));
  }
}

/** Shows only rows that contain some words. @param {Element} box */
function search(box) {
  const input = make("input", { type: "search", autocomplete: "off" });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of box.querySelectorAll("tbody tr")) {
      const text = row.textContent?.toLowerCase() ?? "";
      if (row instanceof HTMLElement) row.hidden = !words.every((word) => text.includes(word));
    }
  });
  return make("label", {}, "Rows with ", input);
}

/** Adds sorting to a table laid out in blocks, whose head is not visible. @param {HTMLTableElement} table */
function sorter(table) {
  const heads = [...(table.tHead?.rows[0].cells ?? [])].map((head) => head.textContent ?? "");
  const names = heads.flatMap((name) => [`${name} ↑`, `${name} ↓`]);
  const select = make("select", {}, make("option", {}, "as in the file"), ...names.map((name) => make("option", {}, name)));
  const rows = [...table.tBodies[0].rows];
  select.addEventListener("change", () => {
    const chosen = select.selectedIndex - 1;
    if (chosen >= 0) sort(table, Math.floor(chosen / 2), chosen % 2 === 1);
    else table.tBodies[0].append(...rows);
  });
  return make("label", {}, "Order ", select);
}
