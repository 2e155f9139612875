import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type * as esbuild from "esbuild";
import {
  convertV4MiniflareOptions,
  Miniflare,
  type MiniflareOptions,
  type V4WorkerOptions,
} from "miniflare";
import { TABLE_VERSIONS } from "#contract/table-versions.ts";
import { type BuildOptions, builtWorker, compatibility } from "./built-worker.ts";
import { freePort } from "./ports.ts";
import { keepMiniflarePrivate } from "./private-miniflare.ts";

/** `present` is the source as it is, `next` the same source with one migration more for each class of objects. */
export type Version = "present" | "next";

/** The files with lists of migrations, and the end of each list. */
const MIGRATIONS = {
  "src/team/storage/tables/migrations.ts": "];\n",
  "src/tenant/object/tables.ts": "];\n",
  "src/memory/object/memory-parts.ts": "],\n};\n",
};
const MIGRATION = `, ["create table of_the_next_version (id text primary key) without rowid"]`;

export const SETTINGS = {
  ALLOWED_EGRESS: "http://127.0.0.1",
  SECRETS_KEY: btoa("k".repeat(32)),
};

/** Appends a migration to each list, so that the Worker has the tables of a version to come. */
const nextVersion: esbuild.Plugin = {
  name: "next-version",
  setup(build) {
    const load = (file: string, contentsOfNext: (source: string) => string): void => {
      build.onLoad({ filter: new RegExp(`/${file.replaceAll(".", "\\.")}$`) }, ({ path }) => ({
        contents: contentsOfNext(readFileSync(path, "utf8")),
        loader: "ts",
      }));
    };
    for (const [file, end] of Object.entries(MIGRATIONS)) {
      load(file, (source) => {
        // The last list of the file; its last item may have a comma.
        const place = end === "];\n" ? source.lastIndexOf(`\n${end}`) : source.indexOf(end);
        if (place < 0) throw new Error(`${file} has no list of migrations`);
        const before = source.slice(0, place).replace(/,\s*$/, "");
        return before + MIGRATION + source.slice(place);
      });
    }
    load("src/contract/table-versions.ts", (source) =>
      source.replace(/(?<=TABLE_VERSIONS = )\{[^}]*\}/, JSON.stringify(tableVersions("next"))),
    );
  },
};

/** How the next version is built. */
export const NEXT_VERSION: BuildOptions = {
  entry: "test/e2e/worker/next-version.ts",
  esbuild: { plugins: [nextVersion] },
};

/** The versions of the tables of a version. */
export function tableVersions(version: Version): typeof TABLE_VERSIONS {
  const { team, tenant, memory } = TABLE_VERSIONS;
  const more = version === "next" ? 1 : 0;
  return { team: team + more, tenant: tenant + more, memory: memory + more };
}

const CLASSES = { TEAM: "TeamObject", TENANT: "TenantObject", MEMORY: "MemoryObject" };

interface Ports {
  objects: number;
  front: number;
}

/**
 * Two Workers in one miniflare. The first has the objects; those of the second are bound to it by `scriptName`, as in a gradual
 * deployment the objects are of one version and the Worker in front of them of another.
 */
export class TwoVersions implements AsyncDisposable {
  readonly #ports: Ports;
  #miniflare: Miniflare | undefined;
  /** The directory of the objects' databases. */
  readonly state: string;

  private constructor(state: string, ports: Ports) {
    this.state = state;
    this.#ports = ports;
  }

  static async start(versions: Deployed): Promise<TwoVersions> {
    const state = mkdtempSync(join(tmpdir(), "troupe-versions-"));
    const ports = { objects: await freePort(), front: await freePort() };
    const deployed = new TwoVersions(state, ports);
    await deployed.deploy(versions);
    return deployed;
  }

  /** The Worker that has the objects; the same address for all versions. */
  get origin(): string {
    return `http://127.0.0.1:${this.#ports.objects}`;
  }

  /** The Worker whose objects the other one has. */
  get front(): string {
    return `http://127.0.0.1:${this.#ports.front}`;
  }

  /** Deploys versions over the stored objects. All of them start again, and all connections have ended. */
  async deploy(versions: Deployed): Promise<void> {
    await this.stop();
    keepMiniflarePrivate();
    this.#miniflare = new Miniflare(await optionsOf(this.state, this.#ports, versions));
    await this.#miniflare.ready;
  }

  async stop(): Promise<void> {
    await this.#miniflare?.dispose();
    this.#miniflare = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.state, { recursive: true, force: true });
  }
}

/** The version of the objects, and that of the Worker in front of them. */
export interface Deployed {
  objects: Version;
  front: Version;
}

async function optionsOf(
  persistTo: string,
  ports: Ports,
  { objects, front }: Deployed,
): Promise<MiniflareOptions> {
  const worker = async (version: Version): Promise<V4WorkerOptions> => {
    const { directory, modules } = await builtWorker(version === "present" ? {} : NEXT_VERSION);
    const { date, flags } = compatibility();
    return {
      compatibilityDate: date,
      compatibilityFlags: flags,
      modulesRoot: directory,
      modules: modules.map((name) => ({
        type: name.endsWith(".bin") ? "Data" : "ESModule",
        path: join(directory, name),
      })),
      bindings: { TROUPE_OPEN: "1", ...SETTINGS },
    };
  };
  const bound = (scriptName?: string): V4WorkerOptions["durableObjects"] =>
    Object.fromEntries(
      Object.entries(CLASSES).map(([binding, className]) => [
        binding,
        { className, useSQLite: true, ...(scriptName !== undefined && { scriptName }) },
      ]),
    );
  return convertV4MiniflareOptions({
    port: ports.objects,
    resourcePersistencePath: persistTo,
    // The refusals of the tests are in the log, too.
    handleStructuredLogs: () => undefined,
    workers: [
      { name: "objects", ...(await worker(objects)), durableObjects: bound() },
      {
        name: "front",
        ...(await worker(front)),
        durableObjects: bound("objects"),
        unsafeDirectSockets: [{ host: "127.0.0.1", port: ports.front }],
      },
    ],
  });
}

/** The files of the objects of a class, without the one in which the runtime keeps their alarms. */
export function objectFiles(state: string, className: string): string[] {
  return globSync(`**/*${className}/*.sqlite`, { cwd: state })
    .filter((path) => !path.endsWith("metadata.sqlite"))
    .map((path) => join(state, path))
    .toSorted();
}

/** All tables of an object, with their rows. The runtime keeps its own, with the time of the alarm, in names that begin with `_cf_`. */
export function contentsOf(path: string): Record<string, unknown> {
  using db = new DatabaseSync(path, { readOnly: true });
  const tables = db
    .prepare(
      "select name, sql from sqlite_master where type = 'table' and name not like '\\_cf\\_%' escape '\\' order by name",
    )
    .all() as { name: string; sql: string }[];
  return Object.fromEntries(
    tables.map(({ name, sql }) => [
      name,
      { sql, rows: db.prepare(`select * from "${name}"`).all() },
    ]),
  );
}
