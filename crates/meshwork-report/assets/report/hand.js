// Download of files.

/** Offers a file for download. */
export function hand(/** @type {string} */ name, /** @type {Blob} */ blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Offers a text for download. */
export function handText(/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ kind) {
  hand(name, new Blob([text], { type: `${kind};charset=utf-8` }));
}

/** Converts an SVG to a PNG, at this scale. @param {string} svg @param {number} fine @returns {Promise<Blob>} */
export async function png(svg, fine = 3) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * fine, image.naturalHeight * fine];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture came of it"))), "image/png"));
}

/** A file name made of these words. */
export const fileName = (/** @type {string[]} */ ...parts) =>
  parts.filter(Boolean).join("-").toLowerCase().replace(/[^\p{L}\p{N}._=]+/gu, "-").replace(/^-+|-+$/g, "");
