// Creation of elements and changes of texts.

/**
 * An element with attributes, listeners (`onclick`) and children.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {(Node | string)[]} children
 * @returns {any}
 */
export function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** A button with a title, which screen readers read too. @returns {HTMLButtonElement} */
export function button(/** @type {Node | string} */ label, /** @type {string} */ title, /** @type {() => void} */ act) {
  return make("button", { type: "button", title, "aria-label": title, onclick: act }, label);
}

/** An icon, by the path of its outline in 14 × 14. */
export function icon(/** @type {string} */ path) {
  const [svg, shape] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("class", "m-icon");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/** Changes a text, if it differs. */
export function write(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Reports the position of a pressed pointer. @param {HTMLElement} element @param {(x: number) => void} tell */
export function drag(element, tell) {
  let isHeld = false;
  const at = (/** @type {PointerEvent} */ event) => tell(event.clientX - element.getBoundingClientRect().left);
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    isHeld = true;
    element.setPointerCapture(event.pointerId);
    at(event);
  });
  element.addEventListener("pointermove", (event) => isHeld && at(event));
  for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, () => (isHeld = false));
}
