import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { dumpComponent } from "troupe";
import { packCopy } from "../../scripts/package/pack-copy.mjs";
import { Api } from "../support/api.ts";
import { modulesRead } from "../support/modules-read.ts";
import { replayTeam } from "../support/replay-team.ts";
import { type Bundle, bundle } from "../support/bundle.ts";
import type { Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { startWorkerd } from "../support/workerd.ts";

const ROUNDS = 25;
/** The module that is loaded only to count tokens. */
const TOKENIZER = /^parts\/(cl100k_base|o200k_base|lite)\b/;

/** Size of the Worker and how long it takes to start. */
export async function measure(): Promise<Report> {
  const service = {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1" },
  };
  using troupe = await bundle("src/service/worker.ts", service);
  using imports = await bundle("bench/worker/imports.ts");
  using empty = await bundle("bench/worker/empty.ts");

  const starts = { troupe: [] as number[], imports: [] as number[], empty: [] as number[] };
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, worker] of Object.entries({ troupe, imports, empty })) {
      const milliseconds = await start(worker);
      // The first round brings the files into the system's cache.
      if (round >= 0) starts[name as keyof typeof starts].push(milliseconds);
    }
  }
  const runtime = median(starts.empty);
  using noted = await bundle("src/service/worker.ts", { ...service, noted: true });
  const read = await readByFirstRun(noted);
  const bytesOf = (names: readonly string[]): number =>
    kilobytes(troupe, (name) => names.includes(name));
  const client = await pageKilobytes("troupe/client");
  const react = await pageKilobytes("troupe/react");
  const oneTeam = await plainKilobytes("one-team.ts");
  const inMemory = await plainKilobytes("team-in-memory.ts");
  const size = kilobytes(troupe, (name) => !TOKENIZER.test(name));
  const peer = kilobytes(imports, () => true);
  const row = (
    name: string,
    worker: Bundle,
    times: readonly number[],
    atStart = kilobytes(worker, () => true),
  ): Report["rows"][number] => ({
    worker: name,
    "KB gzip": kilobytes(worker, (module) => !TOKENIZER.test(module)),
    "of it run until the first answer": atStart,
    "CPU to the first answer, ms": median(times),
    "without the runtime's own": median(times) - runtime,
  });
  return {
    title: "Size and start",
    method: `Minified as it is deployed, gzip -9 in one piece, as wrangler counts an upload, without the tokenizer's tables, which are modules of their own. A start is the CPU time of a new workerd process until it has answered /healthz, the median of ${ROUNDS}. The package: ${await packageSize()}.`,
    rows: [
      row("Troupe", troupe, starts.troupe, bytesOf(read.health)),
      row("hono, zod and openai", imports, starts.imports),
      row("nothing", empty, starts.empty),
    ],
    goals: [
      {
        what: "bundle without the tokenizer",
        value: size / peer,
        unit: "times hono, zod and openai",
        limit: { atMost: 8.5 },
      },
      {
        what: "run until /healthz is answered",
        value: bytesOf(read.health) / peer,
        unit: "times hono, zod and openai",
        limit: { atMost: 2.8 },
      },
      {
        what: "run until a team without a model has had its first run",
        value: bytesOf(read.run) / peer,
        unit: "times hono, zod and openai",
        limit: { atMost: 3.5 },
      },
      {
        what: "all of troupe/client in a page",
        value: client / peer,
        unit: "times hono, zod and openai",
        limit: { atMost: 0.1 },
      },
      { what: "troupe/react in a page, besides", value: react, unit: "KB", limit: { atMost: 2 } },
      {
        what: "Worker with one team and the service, as wrangler bundles it, minified",
        value: oneTeam / peer,
        unit: "times hono, zod and openai",
        limit: { atMost: 8 },
      },
      {
        what: "the same with a team in memory, without the service and models",
        value: inMemory / peer,
        unit: "times hono, zod and openai",
        limit: { atMost: 1.5 },
      },
      {
        what: "start of the process",
        value: median(starts.troupe) / median(starts.imports),
        unit: "times that with hono, zod and openai",
        limit: { atMost: 2.9 },
      },
    ],
  };
}

/** The modules that have run when the service has answered /healthz, and when a replay team has had its first run. */
async function readByFirstRun(worker: Bundle): Promise<{ health: string[]; run: string[] }> {
  await using workerd = await startWorkerd(worker);
  const { origin } = workerd;
  const healthy = await fetch(`${origin}/healthz`);
  await healthy.text();
  const health = await modulesRead(worker, origin);
  const api = new Api(origin);
  const team = await api.createTeam(dumpComponent(replayTeam(4, null)));
  await (await api.stream(team, "Say something.")).text();
  return { health, run: await modulesRead(worker, origin) };
}

/** Gzipped size of a Worker in one file, without the tables, which stay files of their own. */
async function plainKilobytes(worker: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "../worker", worker)],
    bundle: true,
    minify: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", "#ranks/*"],
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length / 1000;
}

/** What users download. */
async function packageSize(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "troupe-pack-"));
  try {
    const { tarball, files } = await packCopy(directory);
    return `${(statSync(tarball).size / 1e6).toFixed(1)} MB, ${files.toLocaleString("en")} files`;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Gzipped size of an entry of the package in the script of a page; of the hooks without React and the client. */
async function pageKilobytes(entry: "troupe/client" | "troupe/react"): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from "${entry}";`, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: "esm",
    external: ["react", "../client/*"],
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length / 1000;
}

/** Compressed in one piece, as wrangler counts an upload. */
function kilobytes({ directory, modules }: Bundle, counts: (name: string) => boolean): number {
  const contents = modules.filter(counts).map((name) => readFileSync(join(directory, name)));
  return gzipSync(Buffer.concat(contents), { level: 9 }).length / 1000;
}

async function start(worker: Bundle): Promise<number> {
  await using workerd = await startWorkerd(worker);
  const response = await fetch(`${workerd.origin}/healthz`);
  if (!response.ok) throw new Error(`/healthz answered ${response.status}`);
  await response.text();
  return workerd.cpu();
}
