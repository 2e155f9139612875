import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type * as esbuild from "esbuild";
import type { TestProject } from "vitest/node";
import { buildWorker } from "../../scripts/build.mjs";

/** The directory of the builds of a run of tests, which all its processes use: scripts/check.mjs and {@link setup} set it. */
const BUILDS = "TROUPE_TEST_BUILDS";
const ROOT = join(import.meta.dirname, "../..");
const ENTRY = "worker.js";

/** A Worker as `scripts/build.mjs` makes it to be deployed. */
export interface BuiltWorker {
  directory: string;
  /** Names of its files, the entry first, then from small to large: JavaScript, and data that ends in `.bin`. */
  modules: string[];
}

export interface BuildOptions {
  /** Path from the root of the project of a Worker that wraps the deployed one. */
  entry?: string;
  /** Changes of esbuild's options, for measurements. A worker has the same ones in all builds of its entry. */
  esbuild?: esbuild.BuildOptions;
}

/** What wrangler.toml says of the runtime. */
export function compatibility(): { date: string; flags: string[] } {
  const text = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const [, date = ""] = /^compatibility_date = "(.+)"$/m.exec(text) ?? [];
  const [, flags = ""] = /^compatibility_flags = \[(.*)\]$/m.exec(text) ?? [];
  return { date, flags: Array.from(flags.matchAll(/"([^"]+)"/g), ([, flag = ""]) => flag) };
}

/** Builds a Worker, unless a process of the same run of tests has done it. */
export async function builtWorker(options: BuildOptions = {}): Promise<BuiltWorker> {
  const directory = await built(options);
  // Miniflare copies all modules before it adds the next one. Small ones first are copied fewer bytes.
  const bySize = globSync("parts/*.{js,bin}", { cwd: directory })
    .map((name) => ({ name, size: statSync(join(directory, name)).size }))
    .toSorted((one, other) => one.size - other.size);
  return { directory, modules: [ENTRY, ...bySize.map(({ name }) => name)] };
}

/** What esbuild says of the build of the deployed Worker: inputs and outputs, and which of them import which. */
export async function metafile(): Promise<esbuild.Metafile> {
  return JSON.parse(readFileSync(metafileOf(await built({})), "utf8")) as esbuild.Metafile;
}

async function built({
  entry = "src/service/worker.ts",
  esbuild: changes,
}: BuildOptions): Promise<string> {
  const directory = join(builds(), entry.replaceAll("/", "-"));
  const lock = `${directory}.lock`;
  while (!existsSync(directory)) {
    try {
      mkdirSync(lock);
    } catch {
      // Another process is building it.
      await sleep(20);
      continue;
    }
    try {
      if (!existsSync(directory)) await buildInto(directory, entry, changes);
    } finally {
      rmSync(lock, { recursive: true });
    }
  }
  return directory;
}

async function buildInto(
  directory: string,
  entry: string,
  changes: esbuild.BuildOptions | undefined,
): Promise<void> {
  const unfinished = `${directory}.part`;
  const described = await buildWorker(entry, unfinished, changes);
  writeFileSync(metafileOf(directory), JSON.stringify(described));
  await rename(unfinished, directory);
}

function metafileOf(directory: string): string {
  return `${directory}.json`;
}

/** Makes the directory of the builds for this process and those it starts, and removes it when this process ends. */
function builds(): string {
  const given = process.env[BUILDS];
  if (given !== undefined) return given;
  const directory = mkdtempSync(join(tmpdir(), "troupe-builds-"));
  process.env[BUILDS] = directory;
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Vitest calls it before it starts the processes that run tests. */
export function setup(project: TestProject): void {
  const directory = builds();
  // With --watch a source has changed.
  project.onTestsRerun(() => {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
  });
}
