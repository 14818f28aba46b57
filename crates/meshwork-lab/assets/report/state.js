// What is chosen in a page stands in its address, so that a link shows what its sender saw: `#?load-means.metric=Wait`.
// Only what is not as it was at first is written there.

const listeners = /** @type {(() => void)[]} */ ([]);

/** What stands in an address, behind its `#`. */
export function parsed(/** @type {string} */ hash) {
  return new URLSearchParams(hash.startsWith("#?") ? hash.slice(2) : "");
}

/** What was chosen under a name, if anything was. */
export function recalled(/** @type {string} */ name) {
  return parsed(location.hash).get(name);
}

/** Writes a choice into the address; null where it is what it was at first. */
export function remember(/** @type {string} */ name, /** @type {string | null} */ value) {
  const all = parsed(location.hash);
  if (value === null) all.delete(name);
  else all.set(name, value);
  const text = all.toString();
  const hash = text === "" ? "" : `#?${text}`;
  if (hash !== location.hash) history.replaceState(history.state, "", hash === "" ? location.pathname + location.search : hash);
}

/** Calls somebody when another link to this page is followed. */
export function onChange(/** @type {() => void} */ call) {
  if (listeners.push(call) > 1) return;
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#?")) for (const listener of listeners) listener();
  });
}
