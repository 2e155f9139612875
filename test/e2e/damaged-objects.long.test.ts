import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import {
  type Damage,
  damaged,
  fileOf,
  type ObjectClass,
  withoutTable,
} from "../support/damaged-files.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";

const PAGE = 4096;
const TENANT = "local";

interface Damaging {
  what: string;
  /** @param table the one with the contents */
  damage: (table: string) => Damage;
  /** Whether the runtime starts an object with such a file. */
  starts: boolean;
}

const damages: Damaging[] = [
  { what: "the table meta", damage: () => withoutTable("meta"), starts: true },
  { what: "its contents", damage: withoutTable, starts: true },
  { what: "everything", damage: () => () => Buffer.alloc(0), starts: true },
  { what: "the list of tables", damage: () => (file) => file.fill("A", 100, PAGE), starts: false },
  { what: "its header", damage: () => (file) => file.fill("A", 0, 100), starts: false },
];

/** A tenant with a team, two collections and memories of a user and of itself. */
async function filled(worker: KillableWorker): Promise<TroupeClient> {
  const client = new TroupeClient({ baseURL: worker.origin });
  const team = await client.teams.create({ id: "well", component: SAMPLE_COMPONENT });
  await team.start("Write.");
  await expect.poll(async () => (await team.get()).status).toBe("idle");
  for (const id of ["handbook", "other"]) {
    await client.collections.put(id);
    await client.collections.putDocument(id, "tea", {
      type: "text/plain",
      content: `Tea of ${id}.`,
    });
  }
  await client.memories.add({ scope: "user", user: "anna", content: "Anna likes tea." });
  await client.memories.add({ scope: "tenant", content: "Tea is at four." });
  await expect.poll(async () => (await client.teams.list()).teams.length).toBe(1);
  return client;
}

/** Kills the worker, and starts it on damaged files. */
async function damageFiles(
  worker: KillableWorker,
  hits: readonly (readonly [ObjectClass, string, row?: string])[],
  damage: (table: string) => Damage,
): Promise<void> {
  await worker.kill();
  const files = hits.map(([of, table, row]) => [fileOf(worker, of, table, row), table] as const);
  for (const [path, table] of files) damaged(path, damage(table));
  await worker.restart();
}

async function statusOf(worker: KillableWorker, method: string, path: string): Promise<number> {
  const response = await worker.fetch(path, { method });
  await response.body?.cancel();
  return response.status;
}

const says = (status: number, code: string, remedy: RegExp): object => ({
  status,
  code,
  message: expect.stringMatching(remedy) as string,
});

test.each(damages)(
  "memories and collections whose files are damaged say so and can be erased: $what",
  async ({ what, damage, starts }) => {
    await using worker = await KillableWorker.start();
    const client = await filled(worker);
    const isEmpty = what === "everything";
    await damageFiles(
      worker,
      [
        ["MemoryObject", "document", "handbook"],
        ["MemoryObject", "memory", "Anna"],
        ["MemoryObject", "memory", "four"],
      ],
      damage,
    );
    const { collections, unusable = [] } = await client.collections.list();
    const shown = [...collections, ...unusable].map(({ id }) => id);
    expect(shown.toSorted()).toEqual(isEmpty ? ["other"] : ["handbook", "other"]);
    const places = {
      "user=anna": { scope: "user", user: "anna" },
      "scope=tenant": { scope: "tenant" },
    };
    if (starts && !isEmpty) {
      await expect(client.collections.documents("handbook")).rejects.toMatchObject(
        says(
          500,
          "collection_unreadable",
          /"handbook" cannot be read .*DELETE \/v1\/collections\/handbook/,
        ),
      );
      for (const [query, place] of Object.entries(places)) {
        await expect(client.memories.list(place)).rejects.toMatchObject(
          says(
            500,
            "memories_unreadable",
            new RegExp(`memories of the .*DELETE /v1/memories\\?${query}`),
          ),
        );
      }
    }
    const deleted = await statusOf(worker, "DELETE", "/v1/collections/handbook");
    expect(deleted).toBe(isEmpty ? 404 : 204);
    expect((await client.collections.list()).unusable).toBeUndefined();
    for (const [query, place] of Object.entries(places)) {
      const erasing = client.memories.erase(Object.fromEntries(new URLSearchParams(query)));
      if (!starts) {
        const words = says(500, "memories_unreadable", /Nothing was erased, .*delete its file/);
        await expect(erasing).rejects.toMatchObject(words);
        continue;
      }
      expect(await erasing).toEqual({ forgotten: isEmpty ? 0 : null });
      await worker.kill();
      await worker.restart();
      expect((await client.memories.list(place)).memories).toEqual([]);
      await client.memories.add({ ...place, content: "New." } as never);
    }
    if (starts) {
      await client.collections.put("handbook");
      expect((await client.collections.documents("handbook")).documents).toEqual([]);
    }
    expect((await client.collections.documents("other")).documents).toHaveLength(1);
  },
);

const OPERATOR = "operator-key-of-the-tests";
const asOperator = { headers: { authorization: `Bearer ${OPERATOR}` } };

test.each(damages.filter(({ what, starts }) => starts && what !== "everything"))(
  "a tenant whose file is damaged says so, its teams continue, and the operator can delete it: $what",
  async ({ damage }) => {
    const hash = createHash("sha256").update(OPERATOR).digest("hex");
    const logged: string[] = [];
    const logs = (line: string): number => logged.push(line);
    await using worker = await KillableWorker.start({ OPERATOR_KEY_HASH: hash }, { logs });
    const client = await filled(worker);
    const hits = [
      ["TenantObject", "activity", "well"],
      ["MemoryObject", "document", "handbook"],
    ] as const;
    await damageFiles(worker, hits, damage);
    await expect(client.teams.list()).rejects.toMatchObject(
      says(500, "tenant_unreadable", /teams, memories .*not affected.*DELETE \/v1\/tenants/),
    );
    const team = client.team("well");
    await team.start("More.");
    await expect.poll(async () => (await team.get()).status).toBe("idle");
    expect((await client.collections.documents("other")).documents).toHaveLength(1);
    const lines = logged.filter((line) => line.includes("limits_unchecked"));
    expect(lines).toEqual([expect.stringContaining('"team":"well"')]);
    const deleted = await worker.fetch(`/v1/tenants/${TENANT}`, {
      method: "DELETE",
      ...asOperator,
    });
    expect(deleted.status).toBe(202);
    await worker.kill();
    await worker.restart();
    for (const path of ["teams/well", "collections/other", "collections/handbook"]) {
      await expect.poll(() => statusOf(worker, "GET", `/v1/${path}`)).toBe(404);
    }
    const listed = async (): Promise<unknown> =>
      (await worker.fetch("/v1/tenants", asOperator)).json();
    await expect.poll(listed).toMatchObject({ tenants: [] });
  },
);

/** The last version of the tables of a class in the documentation. */
function documentedVersion(of: ObjectClass): string | undefined {
  const page = readFileSync(join(import.meta.dirname, "../../docs/deploying.md"), "utf8");
  const [, rows = ""] = page.split(`| \`${of}\` |`);
  const [own = ""] = rows.split(/\n\| `|\n\n/);
  return [...own.matchAll(/^(?:\| \|)? (\d+) \|/gm)].at(-1)?.[1];
}

describe("data of a newer version", () => {
  const versioned = (path: string, version: string): string => {
    const db = new DatabaseSync(path);
    const { value } = db.prepare("select value from meta where name = 'schema'").get() as {
      value: string;
    };
    db.prepare("update meta set value = ? where name = 'schema'").run(version);
    db.close();
    return value;
  };

  const document = { type: "text/plain", content: "New." };
  const cases: {
    of: ObjectClass;
    table: string;
    part: string;
    calls: (client: TroupeClient) => (() => Promise<unknown>)[];
    works: (client: TroupeClient) => Promise<unknown>;
  }[] = [
    {
      of: "TeamObject",
      table: "event",
      part: "well",
      calls: (client) => [
        () => client.team("well").get(),
        () => client.team("well").start("More."),
        () => client.team("well").delete(),
      ],
      works: async (client) =>
        expect((await client.team("well").messages()).messages).toHaveLength(4),
    },
    {
      of: "MemoryObject",
      table: "document",
      part: "handbook",
      calls: ({ collections }) => [
        () => collections.documents("handbook"),
        () => collections.putDocument("handbook", "new", document),
        () => collections.delete("handbook"),
      ],
      works: ({ collections }) => collections.document("handbook", "tea"),
    },
    {
      of: "MemoryObject",
      table: "memory",
      part: "Anna",
      calls: ({ memories }) => [
        () => memories.list({ user: "anna" }),
        () => memories.add({ scope: "user", user: "anna", content: "New." }),
        () => memories.erase({ user: "anna" }),
      ],
      works: async ({ memories }) =>
        expect((await memories.list({ user: "anna" })).memories).toHaveLength(1),
    },
    {
      of: "TenantObject",
      table: "activity",
      part: "well",
      calls: (client) => [
        () => client.teams.list(),
        () => client.teams.create({ component: SAMPLE_COMPONENT }),
        () => client.team("well").start("More."),
      ],
      works: (client) => client.team("well").start("More."),
    },
  ];

  test("are refused by objects of every class, with Retry-After, and work again under that version", async () => {
    await using worker = await KillableWorker.start();
    await filled(worker);
    await worker.kill();
    const client = new TroupeClient({ baseURL: worker.origin, maxRetries: 0 });
    for (const { of, table, part, calls, works } of cases) {
      const path = fileOf(worker, of, table, part);
      const version = versioned(path, "99");
      expect(documentedVersion(of)).toBe(version);
      await worker.restart();
      for (const call of calls(client)) {
        await expect(call()).rejects.toMatchObject({
          status: 503,
          code: "newer_data",
          retryAfter: 120_000,
          message: expect.stringContaining("tables have version 99") as string,
        });
      }
      await worker.kill();
      versioned(path, version);
      await worker.restart();
      await works(client);
      await worker.kill();
    }
  });
});
