/** What is linted. */
export const OWN_CODE = [
  "bench",
  "examples",
  "sandbox",
  "scripts",
  "src",
  "test",
  "types",
  "vitest.config.ts",
];

/**
 * What is formatted. Named one by one: the root of a clone also holds what its owner put there, a Worker of their own for
 * example, which is not ours to check.
 */
export const OWN_FILES = [
  ...OWN_CODE,
  "docs",
  ".oxfmtrc.json",
  ".oxlintrc.json",
  "knip.json",
  "lefthook.yml",
  "package.json",
  "tsconfig.base.json",
  "tsconfig.core.json",
  "tsconfig.json",
  "tsconfig.node.json",
  "tsconfig.src.json",
  "tsconfig.workerd.json",
  "wrangler.toml",
];
