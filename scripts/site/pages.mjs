import { cpSync, globSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../..");

/** The pages as they are on the site: its generator finds its own packages only from there. */
export const COPIES = join(import.meta.dirname, "pages");

/** The pages of the repository, from its root. */
const SOURCES = globSync(["*.md", "docs/**/*.md", "bench/results.md"], {
  cwd: ROOT,
  exclude: ["docs/api/**"],
});

/** The file of a page on the site: folders begin with their README, and docs is the root. @param {string} source */
function placeOf(source) {
  if (source === "README.md") return "index.md";
  if (source === "docs/README.md") return "documentation.md";
  return source.replace(/^docs\//, "").replace(/(^|\/)README\.md$/, "$1index.md");
}

/** @type {Record<string, string>} the file of a page on the site by its file in the repository */
export const PLACES = Object.fromEntries(SOURCES.map((source) => [source, placeOf(source)]));

/** The address of a page on the site. @param {string} place */
export const addressOf = (place) => `/${place.replace(/(?:^|(?<=\/))index\.md$|\.md$/, "")}`;

/** Copies the pages and their pictures. */
export function copyPages() {
  rmSync(COPIES, { recursive: true, force: true });
  for (const [source, place] of Object.entries(PLACES))
    cpSync(join(ROOT, source), join(COPIES, place));
  cpSync(join(ROOT, "docs/images"), join(COPIES, "images"), { recursive: true });
}
