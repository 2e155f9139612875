// The package.json of the published package, made of the one of the clone. docs/design/package.md says why they differ.

import { repositoryFields } from "./repository.mjs";

/** What users of the package need; scripts, workspaces and development dependencies are the clone's. */
const PUBLISHED = [
  "name",
  "version",
  "description",
  "keywords",
  "homepage",
  "bugs",
  "repository",
  "license",
  "type",
  "sideEffects",
  "engines",
  "files",
  "bin",
  "exports",
  "imports",
  "dependencies",
  "optionalDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
];

/** The modules of the tokenizer's tables: data in Workers, where the runtime would compile JavaScript. */
const IMPORTS = {
  "#ranks/*": { workerd: "./lib/ranks/*.js", default: "js-tiktoken/ranks/*" },
};

/**
 * @param {Record<string, any>} own the package.json of the clone
 * @param {string | undefined} url of the repository
 * @returns {Record<string, any>}
 */
export function publishedManifest(own, url) {
  const built = {
    ...own,
    ...(url && repositoryFields(url)),
    exports: mapValues(own.exports, entry),
    imports: IMPORTS,
    ...(own.bin && { bin: mapValues(own.bin, (source) => compiled(source) ?? source) }),
  };
  return Object.fromEntries(
    PUBLISHED.filter((name) => name in built).map((name) => [name, built[name]]),
  );
}

/** @param {string} target what an entry is in the clone: a source, or a file that is published as it is */
function entry(target) {
  const file = compiled(target);
  return file === undefined ? target : { types: file.replace(/\.js$/, ".d.ts"), default: file };
}

/**
 * Where the compiler writes a source.
 *
 * @param {string} target
 */
function compiled(target) {
  const source = /^\.\/src\/(.+)\.tsx?$/.exec(target)?.[1];
  return source && `./lib/${source}.js`;
}

/**
 * @param {Record<string, string>} object
 * @param {(value: string) => unknown} change
 */
function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
