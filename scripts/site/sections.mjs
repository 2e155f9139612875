import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { addressOf, PLACES, ROOT } from "./pages.mjs";

/**
 * The sidebar: the headings of the documentation's first page, and the pages that each entry below them links.
 *
 * @param {string} file
 * @returns {{ text: string, items: { text: string, link: string }[], collapsed: boolean }[]}
 */
export function sectionsOf(file) {
  const listed = new Set();
  return readFileSync(file, "utf8")
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [text = ""] = section.split("\n", 1);
      const items = [...section.matchAll(/\]\(([^)#\s]+\.md)\)/g)].flatMap(([, path = ""]) => {
        const source = posix.join("docs", path);
        const page = PLACES[source];
        if (page === undefined || listed.has(page)) return [];
        listed.add(page);
        return [{ text: titleOf(source), link: addressOf(page) }];
      });
      return { text, items, collapsed: text !== "Start" };
    });
}

/** The first heading of a page. @param {string} source */
function titleOf(source) {
  return /^# (.+)$/m.exec(readFileSync(join(ROOT, source), "utf8"))?.[1] ?? source;
}
