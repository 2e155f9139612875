import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (page: string): string => readFileSync(join(root, page), "utf8");

/** The section of the README and its links: the text, the page and the heading. */
const [, section = ""] = /^## Questions\n(.*?)^## /ms.exec(read("README.md")) ?? [];
const LINKS = [...section.matchAll(/\[([^\]]+)\]\(([^)#]+)(?:#([^)]+))?\)/g)].map(
  ([, text = "", page = "", anchor]) => ({ text, page, anchor }),
);

/** A heading's anchor as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

test.each([
  "our documents",
  "earlier conversations",
  "each user",
  "images and files",
  "Claude",
  "Gemini",
  "DeepSeek",
  "local model",
  "users talk to it in a browser",
  "happened in this run",
  "limit the cost",
  "does it cost",
  "prompt better",
  "schedule it",
  "code run on Cloudflare",
  "from Python",
  "machine of my own",
  "search the web",
])("the README leads to the page about %j in one click", (topic) => {
  expect(LINKS.filter(({ text }) => text.includes(topic))).toHaveLength(1);
});

test.each(LINKS)("$text leads to a heading of $page", ({ page, anchor }) => {
  expect(existsSync(join(root, page))).toBe(true);
  if (anchor === undefined) return;
  const prose = read(page).replaceAll(/^( *)```[^]*?^\1```/gm, "");
  const anchors = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
  expect(anchors).toContain(anchor);
});
