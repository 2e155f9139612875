// `npm run docs` builds the site of the documentation into site: the pages of docs, the operations of the HTTP API, the reference
// of the package, a search, `llms.txt` and `llms-full.txt`. A link to a page that does not exist fails it.

import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { testApp } from "../../test/support/http-app.ts";
import { writeOperations } from "./openapi.mjs";

const here = import.meta.dirname;
const root = resolve(here, "../..");
const run = (/** @type {string} */ program, /** @type {string[]} */ ...args) =>
  execFileSync(program, args, { cwd: here, stdio: "inherit" });

run("npm", "ci", "--silent", "--no-audit", "--no-fund");
run(process.execPath, join(root, "scripts/reference.mjs"));
const response = await testApp().fetch("/v1/openapi.json");
writeOperations(await response.json(), join(root, "docs/reference/http"));
// It lists the pages, which are complete now.
const { copyPages } = await import("./pages.mjs");
copyPages();
run(
  process.execPath,
  "node_modules/vitepress/bin/vitepress.js",
  "build",
  ".",
  ...process.argv.slice(2),
);
