// `npm run providers` writes src/components/provider-names.ts: the names under which component JSON finds each group of components,
// from the definitions of the group. A test compares the file with them.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { componentImports } from "#components/component-groups.ts";
import { Catalog } from "troupe";

const root = resolve(import.meta.dirname, "..");
const FILE = join(root, "src/components/provider-names.ts");

/** The provider names of each group. @returns {Promise<Record<string, string[]>>} */
export async function providerNames() {
  const catalog = new Catalog();
  const imports = componentImports({
    catalog,
    sandbox: undefined,
    javascript: undefined,
    shipped: async () => catalog,
  });
  const groups = imports.map(async ({ group, load }) => {
    const names = (await load()).map(({ provider }) => provider);
    return [group, names.toSorted()];
  });
  return Object.fromEntries(await Promise.all(groups));
}

if (process.argv[1] === import.meta.filename) {
  const text = `// Written by \`npm run providers\`.

/** The provider names of each group of components, known before its code is imported. */
export const PROVIDERS = ${JSON.stringify(await providerNames(), null, 2)} as const;
`;
  writeFileSync(FILE, text);
  execFileSync(join(root, "node_modules/.bin/oxfmt"), [FILE]);
}
