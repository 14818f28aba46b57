// Links within the page lead to what can be closed: it is opened for them.

/** Opens what an address leads to, and all around it. */
function open(/** @type {string} */ hash) {
  const target = hash.startsWith("#?") ? null : document.getElementById(decodeURIComponent(hash.slice(1)));
  for (let details = target?.closest("details"); details; details = details.parentElement?.closest("details")) details.open = true;
}

/** Begins to open what links lead to. */
export function openTargets() {
  // Beside the page the contents are in nobody's way.
  const contents = document.querySelector(".contents details");
  if (contents instanceof HTMLDetailsElement && !matchMedia("(min-width: 80rem)").matches) contents.open = false;
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (link) open(link.getAttribute("href") ?? "");
  });
  open(location.hash);
}
