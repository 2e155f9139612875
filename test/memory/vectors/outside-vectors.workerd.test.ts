import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { MemoryCalls, MemoryOfTeam } from "#contract/gateways/memory-gateway.ts";
import type { RecallResult } from "#core/memory/memory-host.ts";
import { StandInVectorize } from "../../support/stand-in-vectorize.ts";
import { outside } from "../../team/support/outside.ts";
import { Signal, value } from "../../team/support/team.ts";
import { tenantStub } from "../../team/support/tenant.ts";
import { PATIENCE } from "../../support/patience.ts";

const DIMENSIONS = 32;
const ABOVE = 50;
const MANY = 120;

let count = 0;
let service: StandInVectorize;

beforeEach(() => {
  service = new StandInVectorize(DIMENSIONS);
  outside.service = service;
  outside.above = String(ABOVE);
});

afterEach(() => {
  outside.service = undefined;
  outside.above = undefined;
});

type MemoryObject = MemoryCalls & MemoryOfTeam;

/** An object of memories with facts, each of which has a vector of its own. */
class Known {
  readonly name: string;
  readonly #space: string;

  constructor(name: string, space = "small") {
    this.name = name;
    this.#space = space;
  }

  get stub(): DurableObjectStub {
    return env.MEMORY.get(env.MEMORY.idFromName(this.name));
  }

  get object(): MemoryObject {
    return this.stub as unknown as MemoryObject;
  }

  async add(from: number, to: number, dimensions = DIMENSIONS): Promise<string[]> {
    const contents = Array.from({ length: to - from }, (_, n) => ({
      content: { content: `fact-${from + n}`, mime_type: "text/plain", metadata: null },
      embedding: { space: this.#space, values: vectorOf(from + n, dimensions) },
    }));
    return value(await this.object.addMemories(contents)).map(({ id }) => id);
  }

  /** A run learns a fact. */
  async learn(run: string, n: number): Promise<void> {
    const content = { content: `fact-${n}`, mime_type: "text/plain", metadata: null };
    const embedding = { space: this.#space, values: vectorOf(n, DIMENSIONS) };
    const put = { op: "put", id: "learned", content, collection: null, message: null } as const;
    const source = { team: "t", run, turn: 1 };
    const entry = {
      number: 1,
      changes: [{ ...put, embedding }],
      source,
      started_at: Date.now(),
    };
    await this.object.deliverMemories({ creation: "t", entries: [entry] });
  }

  /** Finds by the vector of a fact only. */
  like(n: number, dimensions = DIMENSIONS): Promise<RecallResult> {
    const embedding = { space: this.#space, values: vectorOf(n, dimensions) };
    return this.object.recallMemories({ text: "", embedding, k: 1, collection: null });
  }

  async finds(n: number): Promise<unknown> {
    return (await this.like(n)).hits.map(({ entry }) => entry.content)[0];
  }

  /** Runs the alarm, if it is set. */
  alarm(): Promise<boolean> {
    return runDurableObjectAlarm(this.stub);
  }

  /** Works until the service shows this many vectors, and nothing is left to write or to delete. */
  async settle(shown = MANY - ABOVE + 1): Promise<void> {
    await vi.waitFor(async () => {
      service.pass(11_000);
      await this.alarm();
      expect(service.visible).toHaveLength(shown);
      expect(service.written).toHaveLength(shown);
      expect(await this.rows("vector_batch")).toBe(0);
      expect(await this.rows("memory_gone")).toBe(0);
    }, PATIENCE);
  }

  /** Waits until the service has what is to leave the object, and does not show it. */
  async written(): Promise<void> {
    await vi.waitFor(() => expect(service.written).toHaveLength(MANY - ABOVE + 1), PATIENCE);
  }

  /** As kill -9 ends it, whatever it waits for. */
  async crash(): Promise<void> {
    await runInDurableObject(this.stub, (_instance, state) => state.abort("killed")).catch(
      () => undefined,
    );
  }

  evict(): Promise<void> {
    return evictDurableObject(this.stub);
  }

  tables(): Promise<unknown[]> {
    return runInDurableObject(this.stub, (_instance, { storage }) =>
      storage.sql
        .exec("select name from sqlite_master where name not like '\\_cf%' escape '\\'")
        .toArray(),
    );
  }

  rows(table: string): Promise<number> {
    return runInDurableObject(this.stub, (_instance, { storage }) => {
      const known = storage.sql.exec("select 1 from sqlite_master where name = ?", table).toArray();
      return known.length === 0
        ? 0
        : Number(storage.sql.exec(`select count(*) as n from ${table}`).one()["n"]);
    });
  }
}

function newTenant(): string {
  return `outside-${++count}`;
}

/** Vectors that are far from each other. */
function vectorOf(n: number, dimensions: number): number[] {
  return Array.from({ length: dimensions }, (_, index) =>
    Math.sin((n + 1) * (index + 1) * 12.9898),
  );
}

describe("an object with more vectors than the bound", () => {
  test("has the oldest searched by the service, once it shows them, and finds all at any time", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    await known.add(0, MANY);
    expect(await known.finds(3)).toBe("fact-3");
    await known.written();
    expect(service.visible).toEqual([]);
    expect(await known.finds(3)).toBe("fact-3");
    expect(service.calls.some(({ method }) => method === "query")).toBe(false);
    await known.settle();
    for (const n of [0, 3, 70, 71, MANY - 1]) expect(await known.finds(n)).toBe(`fact-${n}`);
    expect(service.calls.some(({ method }) => method === "query")).toBe(true);
    await known.evict();
    expect(await known.finds(3)).toBe("fact-3");
    expect((await known.like(3)).note).toBeUndefined();
    expect(await known.rows("vector_batch")).toBe(0);
    expect(service.written).toHaveLength(MANY - ABOVE + 1);
  });

  test("shares the index with others, and neither finds the entries of the other", async () => {
    const tenant = newTenant();
    const others = [`${tenant}/user/ben`, `${tenant}/tenant`, `${newTenant()}/user/anna`];
    const objects = [`${tenant}/user/anna`, ...others].map((name) => new Known(name));
    for (const [index, known] of objects.entries()) {
      await known.add(index * MANY, (index + 1) * MANY);
      await known.settle((index + 1) * (MANY - ABOVE + 1));
    }
    expect(new Set(service.visible.map(({ namespace }) => namespace)).size).toBe(objects.length);
    for (const [index, known] of objects.entries()) {
      expect(await known.finds(index * MANY)).toBe(`fact-${index * MANY}`);
      const { hits } = await known.object.recallMemories({
        text: "",
        embedding: { space: "small", values: vectorOf(0, DIMENSIONS) },
        k: 500,
        collection: null,
      });
      const numbers = hits.map(({ entry }) => Number(JSON.stringify(entry.content).slice(6, -1)));
      expect(numbers.every((n) => Math.floor(n / MANY) === index)).toBe(true);
    }
  });

  test("ignores vectors of others that a service shows", async () => {
    const [one, two] = [new Known(`${newTenant()}/tenant`), new Known(`${newTenant()}/tenant`)];
    await one.add(0, MANY);
    await one.settle();
    await two.add(0, MANY);
    await two.settle(2 * (MANY - ABOVE + 1));
    const { query } = StandInVectorize.prototype;
    vi.spyOn(service, "query").mockImplementation((vector) =>
      query.call(service, vector, { topK: 100 }),
    );
    expect(await one.finds(2)).toBe("fact-2");
    expect((await one.like(2)).hits).toHaveLength(1);
  });

  test("compares the vectors of one embedding only", async () => {
    const name = `${newTenant()}/user/anna`;
    const [before, after] = [new Known(name, "before"), new Known(name, "after")];
    await before.add(0, MANY);
    await before.settle();
    await after.add(MANY, 2 * MANY);
    await after.settle(2 * MANY - ABOVE + 1);
    expect(await after.finds(MANY + 1)).toBe(`fact-${MANY + 1}`);
    expect(await after.finds(1)).not.toBe("fact-1");
    expect(await before.finds(1)).toBe("fact-1");
  });
});

describe("an erased memory", () => {
  test("is deleted in the service: an entry, a corrected one, a run, all", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    await known.learn("a-run", 500);
    const ids = await known.add(0, MANY - 1);
    await known.settle();
    expect(await known.finds(500)).toBe("fact-500");
    const shown = service.visible.length;
    value(await known.object.forgetRun("a-run"));
    expect(await known.finds(500)).not.toBe("fact-500");
    await known.settle(shown - 1);
    value(await known.object.forgetMemory(ids[2] ?? ""));
    expect(await known.finds(2)).not.toBe("fact-2");
    await known.settle(shown - 2);
    value(await known.object.changeMemory(ids[3] ?? "", { content: "another fact" }));
    await known.settle(shown - 3);
    value(await known.object.eraseMemories());
    await known.settle(0);
  });

  test("does not come back by a write that is under way", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    const ids = await known.add(0, MANY);
    await known.written();
    const written = service.written.length;
    value(await known.object.forgetMemory(ids[2] ?? ""));
    expect(await known.finds(2)).not.toBe("fact-2");
    await known.settle(written - 1);
    expect(await known.finds(2)).not.toBe("fact-2");
  });

  test("is deleted once more if the answer to its write was lost", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    service.trouble = { method: "upsert", losesAnswer: true };
    const ids = await known.add(0, MANY);
    await known.written();
    value(await known.object.forgetMemory(ids[2] ?? ""));
    await known.crash();
    service.trouble = undefined;
    const deletes = (): number =>
      service.calls.filter(({ method }) => method === "deleteByIds").length;
    await vi.waitFor(async () => {
      service.pass(11_000);
      await known.alarm();
      expect(deletes()).toBe(1);
    }, PATIENCE);
    expect(service.written).toHaveLength(MANY - ABOVE);
    // Once more a minute later, when the lost write cannot arrive any more.
    expect(await known.rows("memory_gone")).toBe(1);
    vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ["Date"] });
    try {
      await known.alarm();
    } finally {
      vi.useRealTimers();
    }
    expect(deletes()).toBe(2);
    expect(await known.rows("memory_gone")).toBe(0);
  });

  test("is deleted with its tenant after the object has nothing else", async () => {
    const tenant = newTenant();
    const known = new Known(`${tenant}/user/anna`);
    await known.add(0, MANY);
    await known.settle();
    service.trouble = { method: "deleteByIds", fails: "the service is down" };
    value(await tenantStub(tenant).destroy());
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(env.TENANT.get(env.TENANT.idFromName(tenant)));
      expect(await known.rows("memory")).toBe(0);
      expect(await known.rows("memory_gone")).toBe(1);
    }, PATIENCE);
    await known.crash();
    service.trouble = undefined;
    await known.settle(0);
    expect(await known.tables()).toEqual([]);
  });
});

test("an object that is erased between two writes of its vectors leaves no table", async () => {
  const tenant = newTenant();
  const known = new Known(`${tenant}/user/anna`);
  const erased = new Signal();
  const upsert = service.upsert.bind(service);
  const write = vi.spyOn(service, "upsert").mockImplementation(async (vectors) => {
    const answer = await upsert(vectors);
    await erased.wait();
    return answer;
  });
  // Three batches.
  await known.add(0, 700);
  await vi.waitFor(() => expect(write).toHaveBeenCalledOnce(), PATIENCE);
  await (known.stub as unknown as { erase(): Promise<void> }).erase();
  erased.set();
  await vi.waitFor(async () => {
    service.pass(11_000);
    await known.alarm();
    expect(await known.rows("memory_gone")).toBeGreaterThan(0);
    expect(service.written).toEqual([]);
  }, PATIENCE);
  expect(write).toHaveBeenCalledOnce();
  // The writes that were under way could still arrive until a minute later.
  vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ["Date"] });
  try {
    await vi.waitFor(async () => {
      await known.alarm();
      expect(await known.tables()).toEqual([]);
    }, PATIENCE);
  } finally {
    vi.useRealTimers();
  }
});

describe("an object", () => {
  test.for([{ hangs: true }, { losesAnswer: true }])(
    "that dies during a write repeats the write under the same ids: %j",
    async (trouble) => {
      const known = new Known(`${newTenant()}/user/anna`);
      service.trouble = { method: "upsert", ...trouble };
      await known.add(0, MANY);
      await vi.waitFor(
        () => expect(service.calls.filter(({ method }) => method === "upsert")).toHaveLength(1),
        PATIENCE,
      );
      await known.crash();
      service.trouble = undefined;
      await known.settle();
      const [first, second, ...more] = service.calls.filter(({ method }) => method === "upsert");
      expect(second?.ids?.toSorted()).toEqual(first?.ids?.toSorted());
      expect(more).toEqual([]);
      expect(service.written).toHaveLength(MANY - ABOVE + 1);
      expect(await known.finds(3)).toBe("fact-3");
    },
  );

  test("that dies after a write of its vectors loses and repeats nothing", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    await known.add(0, MANY);
    await known.written();
    await known.crash();
    await known.settle();
    expect(service.calls.filter(({ method }) => method === "upsert")).toHaveLength(1);
    expect(await known.finds(3)).toBe("fact-3");
  });
});

describe("a service that does not answer", () => {
  test.for([
    [{ fails: "the service is down" }, "the service is down"],
    [{ hangs: true }, "no answer within 2 seconds"],
  ] as const)("leaves the object's own vectors, with a note: %j", async ([trouble, reason]) => {
    const known = new Known(`${newTenant()}/user/anna`);
    await known.add(0, MANY);
    await known.settle();
    service.trouble = { method: "query", ...trouble };
    const near = await known.like(MANY - 1);
    expect(near.hits[0]?.entry.content).toBe(`fact-${MANY - 1}`);
    expect(near.note).toContain(`${MANY - ABOVE + 1} of ${MANY} entries are found by their words`);
    expect(near.note).toContain(reason);
    const byWords = { text: "3", k: 5, collection: null };
    const embedding = { space: "small", values: vectorOf(3, DIMENSIONS) };
    const words = await known.object.recallMemories({ ...byWords, embedding });
    expect(words.hits.map(({ entry }) => entry.content)).toContain("fact-3");
  });

  test("gets the missed vectors later", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    service.trouble = { fails: "the service is down" };
    await known.add(0, MANY);
    await vi.waitFor(() => expect(service.calls).not.toEqual([]), PATIENCE);
    expect(await known.finds(3)).toBe("fact-3");
    expect((await known.like(3)).note).toBeUndefined();
    service.trouble = undefined;
    await known.settle();
  });
});

describe("the binding", () => {
  test("receives the vectors of an object that had too many before, in parts", async () => {
    outside.service = undefined;
    const known = new Known(`${newTenant()}/user/anna`);
    await known.add(0, 700);
    expect((await known.like(3)).note).toContain(
      "700 vectors, more than 50, and searches them all, which takes longer: the binding VECTORIZE",
    );
    expect(await known.finds(3)).toBe("fact-3");
    outside.service = service;
    await known.evict();
    expect(await known.finds(3)).toBe("fact-3");
    await vi.waitFor(
      () => expect(service.calls.map(({ method }) => method)).toContain("upsert"),
      PATIENCE,
    );
    await known.crash();
    await known.settle(651);
    expect(await known.finds(3)).toBe("fact-3");
    expect(service.calls.filter(({ method }) => method === "upsert")).toHaveLength(3);
  });

  test("that is removed gives the vectors back", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    await known.add(0, MANY);
    await known.settle();
    outside.service = undefined;
    await known.evict();
    await known.like(3);
    await vi.waitFor(async () => expect(await known.rows("memory_gone")).toBe(1), PATIENCE);
    expect(await known.finds(3)).toBe("fact-3");
    // Bound again, the service is rid of what it had.
    outside.service = service;
    await known.evict();
    await known.like(3);
    await known.settle();
    expect(await known.finds(3)).toBe("fact-3");
  });

  test("is noticed and filled again if its index was created again", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    await known.add(0, MANY);
    await known.settle();
    service.empty();
    // It was filled before, with what is new here and by others.
    await known.add(MANY, MANY + 60);
    await known.settle(60);
    const other = new Known(`${newTenant()}/user/anna`);
    await other.add(0, 2 * MANY);
    const others = 2 * MANY - ABOVE + 1;
    await other.settle(60 + others);
    await known.like(3);
    const shown = others + MANY + 60 - ABOVE + 1;
    await known.settle(shown);
    expect(await known.finds(3)).toBe("fact-3");
    // What finds nothing for another reason moves no vector.
    const writes = (): number => service.calls.filter(({ method }) => method === "upsert").length;
    const before = writes();
    vi.spyOn(service, "query").mockResolvedValueOnce({ matches: [] });
    await known.like(3);
    await vi.waitFor(() => expect(service.calls.at(-1)?.method).toBe("getByIds"), PATIENCE);
    await known.settle(shown);
    expect(writes()).toBe(before);
  });

  test("leaves all vectors in the object, with the remedy, if its index has other dimensions", async () => {
    const known = new Known(`${newTenant()}/user/anna`);
    await known.add(0, MANY, 16);
    const { hits, note } = await known.like(3, 16);
    expect(hits[0]?.entry.content).toBe("fact-3");
    expect(note).toContain("the index of VECTORIZE has 32 dimensions and the embedding 16");
    expect(service.written).toEqual([]);
  });
});
