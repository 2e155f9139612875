import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import llmstxt from "vitepress-plugin-llms";
import { linksOfSite, plainBraces } from "../links.mjs";
import { COPIES, ROOT } from "../pages.mjs";
import { sectionsOf } from "../sections.mjs";

const { version, description } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** The versions that have a tag. Each is built in a checkout of it, for a folder of its own: `npm run docs -- --base /v0.1.0/`. */
const versions = execFileSync("git", ["tag", "--list", "v*", "--sort=-v:refname"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter(Boolean);

const reference = [
  { text: "HTTP operations", link: "/reference/http/" },
  { text: "TypeScript", link: "/reference/" },
];

export default defineConfig({
  title: "Troupe",
  description,
  srcDir: COPIES,
  outDir: join(ROOT, "site"),
  cacheDir: join(ROOT, "node_modules/.cache/vitepress"),
  cleanUrls: true,
  lastUpdated: false,
  markdown: {
    // The pages are written for readers of the repository, too: a `<name>` in them is text.
    html: false,
    config(markdown) {
      linksOfSite(markdown);
      plainBraces(markdown);
    },
  },
  vite: {
    plugins: [llmstxt({ ignoreFiles: ["reference/**", "CHANGELOG.md"] })],
    build: { chunkSizeWarningLimit: 5_000 },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Documentation", link: "/documentation" },
      { text: "Reference", items: reference },
      {
        text: version,
        items: [
          { text: "Changes", link: "/CHANGELOG" },
          ...versions.map((tag) => ({ text: tag, link: `/${tag}/`, target: "_self" })),
        ],
      },
    ],
    sidebar: [
      ...sectionsOf(join(ROOT, "docs/README.md")),
      { text: "Reference", items: reference, collapsed: true },
    ],
  },
});
