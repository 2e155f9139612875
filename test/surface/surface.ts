import { createHash } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TroupeClient } from "troupe/client";
import { TestWorker } from "../support/worker.ts";

const root = join(import.meta.dirname, "../..");

export const RECORDED = join(import.meta.dirname, "fixtures/recorded.json");

/** What programs rely on, without the words that explain it. */
export interface Surface {
  /** The operations of the OpenAPI document by `METHOD path`. */
  operations: Record<string, unknown>;
  /** The document's named schemas, security schemes and responses, as `schemas/Run`. */
  components: Record<string, unknown>;
  /** Hashes of the declarations in docs/api, as `troupe-client: TeamClient`. */
  exports: Record<string, string>;
  /** The statements that make the tables and indexes of the objects' databases. */
  tables: Record<string, string>;
}

/** Reads the surface of the built Worker, of its databases after it has stored one of everything, and of docs/api. */
export async function readSurface(): Promise<Surface> {
  const state = mkdtempSync(join(tmpdir(), "troupe-surface-"));
  try {
    const settings = {
      SECRETS_KEY: btoa("k".repeat(32)),
      A2A_TEAM: "default/shown",
    };
    const worker = await TestWorker.start(settings, {
      persistTo: state,
      outgoing: () => new Response(null, { status: 204 }),
    });
    try {
      const document = (await (await worker.fetch("/v1/openapi.json")).json()) as Document;
      await storeEverything(await worker.origin);
      return {
        operations: operationsOf(document),
        components: componentsOf(document),
        exports: exportsOf(),
        tables: tablesBelow(state),
      };
    } finally {
      await worker[Symbol.asyncDispose]();
    }
  } finally {
    rmSync(state, { recursive: true });
  }
}

interface Document {
  paths: Record<string, Record<string, object>>;
  components: Record<string, Record<string, unknown>>;
}

function operationsOf({ paths }: Document): Surface["operations"] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      withoutWords(operation),
    ]),
  );
  return sorted(operations);
}

function componentsOf({ components }: Document): Surface["components"] {
  const parts = Object.entries(components).flatMap(([kind, named]) =>
    Object.entries(named).map(([name, part]) => [`${kind}/${name}`, withoutWords(part)]),
  );
  return sorted(parts);
}

/** JSON without the texts `summary` and `description`, whose wording is free. */
function withoutWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutWords);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([name, held]) => !(["summary", "description"].includes(name) && typeof held === "string"),
      )
      .map(([name, held]) => [name, withoutWords(held)]),
  );
}

function exportsOf(): Surface["exports"] {
  const reports = globSync("docs/api/*.api.md", { cwd: root });
  const declarations = reports.flatMap((report) => {
    const text = readFileSync(join(root, report), "utf8")
      .replaceAll(/^[ \t]*\/\/.*\n/gm, "")
      .replaceAll(/^(?:import .*|```.*)\n/gm, "");
    return text.split(/\n\s*\n(?=\S)/).flatMap((block) => {
      const name = /^export (?:[a-z]+ )*([A-Za-z_]\w*)/.exec(block)?.[1];
      if (name === undefined) return [];
      const declaration = block.replaceAll(/\s+/g, " ").trim();
      const hash = createHash("sha256").update(declaration).digest("hex").slice(0, 16);
      return [[`${basename(report, ".api.md")}: ${name}`, hash]];
    });
  });
  return sorted(declarations);
}

/** A team with a run, a question, a schedule, a token and parts of a state; a webhook; a key. */
async function storeEverything(baseURL: string): Promise<void> {
  const client = new TroupeClient({ baseURL });
  await client.webhooks.put("hook", {
    url: "https://hooks.example.com/",
    events: ["run.completed"],
  });
  const key = await client.keys.create({ name: "key" });
  await client.keys.revoke(key.id);
  const team = await client.teams.create({ template: "writer_critic" });
  await team.run("Go.").result();
  await team.createSchedule({ cron: "0 0 1 1 *", task: "Go." });
  const fork = await team.fork();
  await fork.putStatePart(1, await (await team.statePart()).text());
  const asking = await client.teams.create({ template: "human_in_the_loop" });
  for await (const item of asking.run("Go.")) {
    if (item.kind === "run" && item.run.status === "waiting") break;
  }
}

function tablesBelow(state: string): Surface["tables"] {
  const found = new Map<string, string>();
  for (const file of globSync(join(state, "do/*/*.sqlite"))) {
    if (file.includes("metadata")) continue;
    using database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    const made = database
      .prepare(
        "select name, sql from sqlite_master where sql is not null and name not like '_cf_%'",
      )
      .all();
    for (const { name, sql } of made) {
      found.set(String(name), String(sql).replaceAll(/\s+/g, " "));
    }
  }
  return sorted([...found]);
}

function sorted<T>(entries: readonly unknown[][]): Record<string, T> {
  return Object.fromEntries(
    (entries as [string, T][]).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}
