// Handing over what is saved.

/** Hands a file to whoever asked for it. */
export function hand(/** @type {string} */ name, /** @type {Blob} */ blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The same for text. */
export function handText(/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ kind) {
  hand(name, new Blob([text], { type: `${kind};charset=utf-8` }));
}

/** An SVG as pixels, so many times as fine. @param {string} svg @param {number} fine @returns {Promise<Blob>} */
export async function png(svg, fine = 3) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * fine, image.naturalHeight * fine];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture came of it"))), "image/png"));
}

/** A name for a file. */
export const fileName = (/** @type {string[]} */ ...parts) =>
  parts.filter(Boolean).join("-").toLowerCase().replace(/[^\p{L}\p{N}._=]+/gu, "-").replace(/^-+|-+$/g, "");
