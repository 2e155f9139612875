/** The paths that the linter checks. */
export const OWN_CODE = [
  "bench",
  "console",
  "create-troupe",
  "examples",
  "sandbox",
  "scripts",
  "src",
  "template",
  "test",
  "types",
  "vitest.config.ts",
];

/**
 * The paths that the formatter checks. A list, because users keep files of their own in the root of their clone, for example
 * a Worker, and these are not checked.
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
  "tsconfig.browser.json",
  "tsconfig.console.json",
  "tsconfig.core.json",
  "tsconfig.json",
  "tsconfig.node.json",
  "tsconfig.package-cli.json",
  "tsconfig.package.json",
  "tsconfig.peers.json",
  "tsconfig.src.json",
  "tsconfig.workerd.json",
  "wrangler.toml",
];
