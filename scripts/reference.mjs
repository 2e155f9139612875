// `npm run reference` writes docs/reference from the comments of the public API. The pages are not in git.

import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const tools = join(root, "scripts/reference");

execFileSync("npm", ["ci", "--silent", "--no-audit", "--no-fund"], {
  cwd: tools,
  stdio: "inherit",
});
execFileSync(
  process.execPath,
  [
    join(tools, "node_modules/typedoc/bin/typedoc"),
    "--options",
    join(tools, "typedoc.json"),
    "--out",
    join(root, "docs/reference"),
  ],
  { cwd: tools, stdio: "inherit" },
);
