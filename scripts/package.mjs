// npm runs this around `npm pack` and `npm publish`:
//
//   build    compiles src into lib, builds the console, and puts the package.json and the README.md of the published package in the
//            place of the clone's
//   restore  brings the clone's files back and removes lib
//   publish  refuses to publish the directory
//
// The published files differ from the clone's: docs/design/package.md.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { buildWorker } from "./build.mjs";
import { buildConsole } from "./build/console.mjs";
import { buildRunView } from "./build/run-view.mjs";
import { publishedManifest } from "./package/manifest.mjs";
import { absoluteLinks, repositoryUrl } from "./package/repository.mjs";
import { tokenTable } from "./package/token-tables.mjs";

const root = resolve(import.meta.dirname, "..");
const manifest = join(root, "package.json");
const readme = join(root, "README.md");
/** Where a file of the clone is while the published one is in its place. npm would publish a README with another ending. */
const kept = (/** @type {string} */ path) => join(root, `.clone.${basename(path)}`);
const lib = join(root, "lib");
/** The second one writes what both have, with the types of Workers. */
const PROJECTS = ["tsconfig.package-cli.json", "tsconfig.package.json"];
const ENCODINGS = ["cl100k_base", "o200k_base"];

async function build() {
  // Left by a run that was killed.
  restore();
  const compiler = createRequire(import.meta.url).resolve("typescript/package.json");
  for (const project of PROJECTS) {
    execFileSync(process.execPath, [join(compiler, "../bin/tsc"), "-p", join(root, project)], {
      stdio: ["ignore", "inherit", "inherit"],
    });
  }
  importJavaScript();
  await writeTokenTables();
  await buildConsole();
  await buildRunView();
  await buildOwnWorker();
  const url = repositoryUrl(root);
  const own = JSON.parse(readFileSync(manifest, "utf8"));
  publish(manifest, () => `${JSON.stringify(publishedManifest(own, url), null, 2)}\n`);
  if (url === undefined)
    console.error("The README keeps relative links: git has no remote `origin` on GitHub.");
  else publish(readme, (text) => absoluteLinks(text, url, own.version));
}

/** The Worker that `troupe serve` runs where there is no project. */
async function buildOwnWorker() {
  // While the published manifest is in place, these names do not exist.
  const { projectWrangler, readWranglerConfig } = await import("#cli/build/wrangler-config.ts");
  const { writeManifest } = await import("#cli/build/write-manifest.ts");
  const directory = join(lib, "built");
  await buildWorker("src/service/worker.ts", directory, { sourcemap: false });
  const config = readWranglerConfig(projectWrangler(root), join(root, "wrangler.toml"), undefined);
  writeManifest(directory, "worker.js", config);
}

function restore() {
  rmSync(lib, { recursive: true, force: true });
  for (const path of [manifest, readme]) if (existsSync(kept(path))) renameSync(kept(path), path);
}

/** Declarations keep the extension of the sources that they import, which not every tool follows. */
function importJavaScript() {
  for (const file of readdirSync(lib, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".d.ts")) continue;
    const path = join(lib, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replaceAll(/((?:from |import\(?)"\.\.?\/[^"]+\.)tsx?"/g, '$1js"'));
  }
}

async function writeTokenTables() {
  const directory = join(lib, "ranks");
  mkdirSync(directory);
  const { resolve: pathOf } = createRequire(import.meta.url);
  for (const name of ENCODINGS) {
    const { file, data, module } = await tokenTable(name, pathOf(`js-tiktoken/ranks/${name}`));
    writeFileSync(join(directory, file), data);
    writeFileSync(join(directory, `${name}.js`), module);
  }
}

/** The registry would take the manifest from the directory, where the clone's is back by then. */
function refuse() {
  if (process.env.npm_config_dry_run === "true") return;
  console.error("Publish the tarball: npm pack, then npm publish ./troupe-VERSION.tgz");
  process.exit(1);
}

/**
 * Keeps a file of the clone and puts the published one in its place.
 *
 * @param {string} path
 * @param {(text: string) => string} change
 */
function publish(path, change) {
  const text = readFileSync(path, "utf8");
  const published = change(text);
  writeFileSync(kept(path), text);
  const complete = `${path}.${process.pid}`;
  writeFileSync(complete, published);
  renameSync(complete, path);
}

switch (process.argv[2]) {
  case "build":
    await build();
    break;
  case "restore":
    restore();
    break;
  case "publish":
    refuse();
    break;
  default:
    throw new Error("build, restore or publish?");
}
