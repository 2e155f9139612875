import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { MemoryCalls, MemoryOfTeam } from "#contract/gateways/memory-gateway.ts";
import { TABLE_VERSIONS } from "#contract/table-versions.ts";
import { deliveries } from "../../team/support/deliveries.ts";
import { remembering } from "../../team/support/remembering-agent.ts";
import { roundRobin, Signal, TestTeam, texts, value } from "../../team/support/team.ts";
import { tenantStub } from "../../team/support/tenant.ts";
import { PATIENCE } from "../../support/patience.ts";

let count = 0;

afterEach(() => {
  deliveries.fail = () => false;
});

/** A tenant of its own, with teams whose agents remember users or the tenant. */
function newTenant(): string {
  return `memories-${++count}`;
}

function teamOf(tenant: string, scope: "user" | "tenant" = "user"): Promise<TestTeam> {
  return TestTeam.create(roundRobin([remembering("ann", scope)], 1), tenant);
}

function memories(name: string): MemoryCalls & MemoryOfTeam {
  const stub: unknown = env.MEMORY.get(env.MEMORY.idFromName(name));
  return stub as MemoryCalls & MemoryOfTeam;
}

async function contents(name: string): Promise<unknown[]> {
  const page = value(await memories(name).memories({ limit: 100 }));
  return page.memories.map(({ content }) => content).toReversed();
}

async function says(team: TestTeam, task: string, user?: string): Promise<string> {
  const { id } = await team.start(task, { user });
  return String(texts(await team.finished(id)).at(-1));
}

describe("facts about a user", () => {
  test("are visible to all teams of the tenant, for this user only", async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    const [one, two] = [await teamOf(tenant), await teamOf(tenant)];
    expect(await says(one, "remember Anna likes green tea\nrecall tea", "anna")).toContain("green");
    expect(await says(two, "recall tea", "anna")).toBe("Anna likes green tea");
    expect(await says(two, "recall tea", "ben")).toBe("done");
    expect(await says(two, "recall tea")).toBe("no memory");
    expect(await says(await teamOf(other), "recall tea", "anna")).toBe("done");
    expect(await says(await teamOf(tenant, "tenant"), "recall tea", "anna")).toBe("done");
    const page = value(await memories(`${tenant}/user/anna`).memories({ limit: 10 }));
    expect(page.memories).toMatchObject([{ source: { team: one.id, turn: 2 } }]);
  });

  test("are visible to an object of an earlier version, which gets the version of its tables once", async () => {
    const tenant = newTenant();
    const stub = env.MEMORY.get(env.MEMORY.idFromName(`${tenant}/user/anna`));
    const content = { content: "Anna likes tea.", mime_type: "text/plain", metadata: null };
    value(await memories(`${tenant}/user/anna`).addMemories([{ content }]));
    await runInDurableObject(stub, (_instance, { storage }) => {
      storage.sql.exec("drop table meta");
    });
    await evictDurableObject(stub);
    expect(await contents(`${tenant}/user/anna`)).toEqual(["Anna likes tea."]);
    const stored = await runInDurableObject(stub, (_instance, { storage }) =>
      storage.sql.exec("select name, value from meta").toArray(),
    );
    expect(stored).toEqual([{ name: "schema", value: String(TABLE_VERSIONS.memory) }]);
  });

  test("have their own object whatever the user's name is", async () => {
    const tenant = newTenant();
    const team = await teamOf(tenant);
    await says(team, "remember a fact of x", "../tenant");
    await says(team, "remember a fact of y", "x/collection/y");
    expect(await says(team, "recall fact", "../tenant")).toBe("a fact of x");
    expect(await says(await teamOf(tenant, "tenant"), "recall fact", "x")).toBe("done");
    expect(await contents(`${tenant}/tenant`)).toEqual([]);
  });

  test("are changed by later turns", async () => {
    const tenant = newTenant();
    const team = await teamOf(tenant);
    await says(team, "remember Anna likes green tea\nremember Anna has a cat", "anna");
    await says(team, "recall cat", "anna");
    const { memories: known } = value(
      await memories(`${tenant}/user/anna`).memories({ limit: 10 }),
    );
    const [cat, tea] = known;
    const answer = await says(
      team,
      `replace ${tea?.id} Anna likes black tea\nforget ${cat?.id}\nrecall Anna`,
      "anna",
    );
    expect(answer).toBe("Anna likes black tea");
    await vi.waitFor(
      async () => expect(await contents(`${tenant}/user/anna`)).toEqual(["Anna likes black tea"]),
      PATIENCE,
    );
  });

  test("are not stored by a failed or cancelled turn", async () => {
    const tenant = newTenant();
    const team = await teamOf(tenant);
    const failed = await team.start("remember a failed fact\nexplode", { user: "anna" });
    await team.finished(failed.id);
    expect(await says(team, "recall fact", "anna")).toBe("done");
  });
});

describe("a delivery", () => {
  test("that is repeated is applied once", async () => {
    const name = `${newTenant()}/user/anna`;
    const content = { content: "one fact", mime_type: "text/plain", metadata: null };
    const put = (id: string) =>
      ({ op: "put", id, content, collection: null, message: null }) as const;
    const entry = (number: number, id: string) => ({
      number,
      changes: [put(id)],
      source: { team: "t", run: "r", turn: number },
      started_at: Date.now(),
    });
    const delivery = { creation: "t 1", entries: [entry(1, "a"), entry(2, "b")] };
    const object = memories(name);
    expect(await object.deliverMemories(delivery)).toEqual({ number: 2 });
    value(await object.forgetMemory("a"));
    await evictDurableObject(env.MEMORY.get(env.MEMORY.idFromName(name)));
    expect(await object.deliverMemories(delivery)).toEqual({ number: 2 });
    expect(await contents(name)).toEqual(["one fact"]);
    // A later team with the same id has numbers of its own.
    await object.deliverMemories({ creation: "t 2", entries: [entry(1, "c")] });
    expect(await contents(name)).toHaveLength(2);
  });

  test.for(["before it", "after it"])(
    "is repeated by the alarm when the team dies %s",
    async (when) => {
      const tenant = newTenant();
      const team = await teamOf(tenant);
      const tried = new Signal();
      deliveries.fail = (phase) => {
        if (phase !== when) return false;
        tried.set();
        return true;
      };
      await says(team, "remember a confirmed fact", "anna");
      await tried.wait();
      await team.crash();
      deliveries.fail = () => false;
      await vi.waitFor(async () => {
        await runDurableObjectAlarm(team.stub);
        expect(await pending(team)).toBe(0);
      }, PATIENCE);
      expect(await contents(`${tenant}/user/anna`)).toEqual(["a confirmed fact"]);
    },
  );

  test("precedes a read, so that a run reads the facts of the run before it", async () => {
    const tenant = newTenant();
    const team = await teamOf(tenant);
    deliveries.fail = () => true;
    await says(team, "remember a confirmed fact", "anna");
    deliveries.fail = () => false;
    expect(await says(team, "recall fact", "anna")).toBe("a confirmed fact");
  });

  test("is made for a deleted team before the team is gone", async () => {
    const tenant = newTenant();
    const team = await teamOf(tenant);
    deliveries.fail = () => true;
    await says(team, "remember a confirmed fact", "anna");
    deliveries.fail = () => false;
    value(await team.gateway.destroy());
    expect(await contents(`${tenant}/user/anna`)).toEqual(["a confirmed fact"]);
  });

  test("that fails keeps the team from being deleted: the fact is nowhere else", async () => {
    const tenant = newTenant();
    const team = await teamOf(tenant);
    deliveries.fail = () => true;
    await says(team, "remember a confirmed fact", "anna");
    expect(await team.gateway.destroy()).toMatchObject({
      problem: { status: 503, code: "memories_undelivered", retry_after: expect.any(Number) },
    });
    expect(await says(team, "remember another fact", "anna")).toBe("done");
    deliveries.fail = () => false;
    value(await team.gateway.destroy());
    expect(await contents(`${tenant}/user/anna`)).toEqual(["a confirmed fact", "another fact"]);
  });
});

describe("an erased memory", () => {
  test.for([
    ["all", (object: MemoryCalls) => object.eraseMemories()],
    ["the run", (object: MemoryCalls, run: string) => object.forgetRun(run)],
  ] as const)("does not come back by a delivery under way: %s", async ([, erase]) => {
    const tenant = newTenant();
    const team = await teamOf(tenant);
    const object = memories(`${tenant}/user/anna`);
    deliveries.fail = () => true;
    const { id } = await team.start("remember a secret", { user: "anna" });
    await team.finished(id);
    value(await erase(object, id));
    deliveries.fail = () => false;
    expect(await says(team, "recall secret", "anna")).toBe("done");
    expect(await contents(`${tenant}/user/anna`)).toEqual([]);
    expect(await says(team, "remember a new fact\nrecall fact", "anna")).toBe("a new fact");
  });

  test("that was erased by id or content does not come back by a turn that had started before", async () => {
    const tenant = newTenant();
    const [entered, erased] = [new Signal(), new Signal()];
    const team = await TestTeam.create(
      roundRobin(
        [
          remembering("ann", "user", async () => {
            entered.set();
            await erased.wait();
          }),
        ],
        1,
      ),
      tenant,
    );
    const object = memories(`${tenant}/user/anna`);
    const content = { content: "a secret", mime_type: "text/plain", metadata: null };
    const [secret] = value(await object.addMemories([{ content }]));
    const { id } = await team.start(
      `remember a secret\nreplace ${secret?.id} the secret again\nwait`,
      { user: "anna" },
    );
    await entered.wait();
    value(await object.forgetMemory(secret?.id ?? ""));
    erased.set();
    await team.finished(id);
    expect(await says(team, "recall secret", "anna")).toBe("done");
  });

  test("is gone with its tenant, object by object", async () => {
    const tenant = newTenant();
    const names = [`${tenant}/user/anna`, `${tenant}/tenant`];
    const content = { content: "a fact", mime_type: "text/plain", metadata: null };
    for (const name of names) value(await memories(name).addMemories([{ content }]));
    value(await tenantStub(tenant).destroy());
    // What comes while it is being deleted is refused.
    expect(await memories(`${tenant}/user/ben`).addMemories([{ content }])).toMatchObject({
      problem: { status: 409 },
    });
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(env.TENANT.get(env.TENANT.idFromName(tenant)));
      for (const name of names) {
        const stub = env.MEMORY.get(env.MEMORY.idFromName(name));
        const tables = await runInDurableObject(stub, (_instance, { storage }) =>
          storage.sql.exec("select name from sqlite_master where name like 'memory%'").toArray(),
        );
        expect(tables).toEqual([]);
      }
    }, PATIENCE);
  });
});

/** Entries of the team's outbox of memories that were not confirmed. */
async function pending(team: TestTeam): Promise<number> {
  const [row] = await team.sql<{ count: number }>(
    "select count(*) as count from memory_outbox where entry is null or entry <> ''",
  );
  return row?.count ?? 0;
}
