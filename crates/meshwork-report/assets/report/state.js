// Selections are kept in the address of the page, so that a link shows what its sender saw:
// `#?load-means.metric=Wait`. Only selections that differ from the defaults are written.

const listeners = /** @type {(() => void)[]} */ ([]);

/** The part of an address after its `#`. */
export function parsed(/** @type {string} */ hash) {
  return new URLSearchParams(hash.startsWith("#?") ? hash.slice(2) : "");
}

/** The selection with this name, if there is one. */
export function recalled(/** @type {string} */ name) {
  return parsed(location.hash).get(name);
}

/** Writes a selection into the address; null removes it. */
export function remember(/** @type {string} */ name, /** @type {string | null} */ value) {
  const all = parsed(location.hash);
  if (value === null) all.delete(name);
  else all.set(name, value);
  const text = all.toString();
  const hash = text === "" ? "" : `#?${text}`;
  if (hash !== location.hash) history.replaceState(history.state, "", hash === "" ? location.pathname + location.search : hash);
}

/** Calls a function when another link to this page is followed. */
export function onChange(/** @type {() => void} */ call) {
  if (listeners.push(call) > 1) return;
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#?")) for (const listener of listeners) listener();
  });
}
