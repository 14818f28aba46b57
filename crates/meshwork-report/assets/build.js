// Builds `dist/page.js`, the script of every page; `node build.js --check` only tests whether it is up to date.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const file = fileURLToPath(new URL("dist/page.js", import.meta.url));
const made = await build({
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  entryPoints: ["main.js"],
  bundle: true,
  write: false,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  tsconfigRaw: "{}",
  banner: { js: '"use strict";' },
});
const text = made.outputFiles[0].text;
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  console.error("dist/page.js is not what the modules make: run `npm run build` in crates/meshwork-report/assets");
  process.exitCode = 1;
}
