// Links within the page may lead into closed sections, which are then opened.

/** Opens the target of an address, and the sections around it. */
function open(/** @type {string} */ hash) {
  const target = hash.startsWith("#?") ? null : document.getElementById(decodeURIComponent(hash.slice(1)));
  for (let details = target?.closest("details"); details; details = details.parentElement?.closest("details")) details.open = true;
}

/** Starts opening targets of links. */
export function openTargets() {
  // In a wide window the table of contents beside the page is open.
  const contents = document.querySelector(".contents details");
  if (contents instanceof HTMLDetailsElement && !matchMedia("(min-width: 80rem)").matches) contents.open = false;
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (link) open(link.getAttribute("href") ?? "");
  });
  open(location.hash);
}
