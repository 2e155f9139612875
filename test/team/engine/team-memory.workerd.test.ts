import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { MemoryEntry } from "#core/memory/memory-host.ts";
import { remembering, vectorOf } from "../support/remembering-agent.ts";
import { roundRobin, Signal, TestTeam, texts, value } from "../support/team.ts";

/** What the team knows, oldest first. */
async function known(team: TestTeam): Promise<MemoryEntry[]> {
  return value(await team.gateway.memories({ limit: 1_000 })).memories.toReversed();
}

async function contents(team: TestTeam): Promise<unknown[]> {
  return (await known(team)).map(({ content }) => content);
}

async function says(team: TestTeam, task: string): Promise<string> {
  const { id } = await team.start(task);
  return String(texts(await team.finished(id)).at(-1));
}

function text(content: string) {
  return { content: { content, mime_type: "text/plain", metadata: null } };
}

describe("facts that a turn remembers", () => {
  test("are found by the turn itself and by later ones, with their source", async () => {
    const team = await TestTeam.create(roundRobin([remembering("ann")], 1));
    expect(await says(team, "remember Anna likes green tea\nrecall tea")).toContain("green tea");
    await team.evict();
    expect(await says(team, "recall tea")).toContain("Anna likes green tea");
    const [run] = value(await team.gateway.runs({ limit: 2 })).runs.toReversed();
    expect(await known(team)).toEqual([
      expect.objectContaining({
        content: "Anna likes green tea",
        source: { team: team.id, run: run?.id, turn: 2, message: null },
      }),
    ]);
  });

  test("are replaced and forgotten, also within the turn", async () => {
    const team = await TestTeam.create(roundRobin([remembering("ann")], 1));
    await says(team, "remember Anna likes green tea\nremember Ben likes coffee");
    const [tea, coffee] = await known(team);
    const answer = await says(
      team,
      `replace ${tea?.id} Anna likes black tea\nforget ${coffee?.id}\nrecall likes`,
    );
    expect(answer).toBe("Anna likes black tea");
    expect(await known(team)).toMatchObject([{ id: tea?.id, created_at: tea?.created_at }]);
    expect(await says(team, "recall coffee green")).not.toContain("Ben");
    await says(team, "clear");
    expect(await contents(team)).toEqual([]);
  });

  test("are not stored if the turn fails or is cancelled", async () => {
    const entered = new Signal();
    const team = await TestTeam.create(
      roundRobin(
        [
          remembering("ann", "team", () => {
            entered.set();
            return new Promise(() => {});
          }),
        ],
        1,
      ),
    );
    const failed = await team.start("remember a failed fact\nexplode");
    expect(await team.finished(failed.id)).toMatchObject({ status: "failed" });
    const waiting = await team.start("remember a cancelled fact\nrecall fact\nwait");
    await entered.wait();
    value(await team.gateway.stopRun(waiting.id, "now"));
    expect(await contents(team)).toEqual([]);
    expect(await says(team, "recall fact")).toBe("done");
  });

  test("are stored once, whenever the object dies", async () => {
    let entered = new Signal();
    let lives = 3;
    const hook = async (): Promise<void> => {
      if (lives-- === 0) return;
      entered.set();
      await new Promise(() => {});
    };
    const team = await TestTeam.create(roundRobin([remembering("ann", "team", hook)], 1));
    const { id } = await team.start("remember one fact\nwait\nremember another fact\nrecall fact");
    for (let death = 0; death < 3; death++) {
      await entered.wait();
      entered = new Signal();
      await team.crash();
      await team.run(id);
    }
    const answer = String(texts(await team.finished(id)).at(-1));
    expect(answer.split(", ").toSorted()).toEqual(["another fact", "one fact"]);
    expect(await contents(team)).toEqual(["one fact", "another fact"]);
  });

  test("cost three rows for the first fact of a turn, and a turn without facts costs no row", async () => {
    const rows = async (team: TestTeam, task: string): Promise<number> => {
      await team.delivered();
      const before = await team.rowsWritten();
      await team.finished((await team.start(task)).id);
      await team.delivered();
      return (await team.rowsWritten()) - before;
    };
    const plain = await TestTeam.create(roundRobin([remembering("ann")], 1));
    await rows(plain, "recall one");
    const team = await TestTeam.create(roundRobin([remembering("ann")], 1));
    await rows(team, "remember the first fact");
    const without = await rows(team, "recall fact");
    expect(without).toBe(await rows(plain, "recall fact"));
    expect(await rows(team, "remember a second fact")).toBe(without + 3);
    expect(await rows(team, "remember a third fact\nremember a fourth fact")).toBe(without + 5);
  });
});

describe("a fork", () => {
  test("has the entries of its turn", async () => {
    const team = await TestTeam.create(roundRobin([remembering("ann")], 1));
    await says(team, "remember Anna likes green tea\nremember Ben likes coffee");
    const [tea, coffee] = await known(team);
    await says(team, `replace ${tea?.id} Anna likes black tea\nforget ${coffee?.id}`);
    await says(team, "remember Carl likes milk");
    const early = await team.fork(2);
    expect(new Set(await contents(early))).toEqual(
      new Set(["Anna likes green tea", "Ben likes coffee"]),
    );
    expect(await says(early, "recall green")).toContain("Anna likes green tea");
    const later = await team.fork(4);
    expect(await contents(later)).toEqual(["Anna likes black tea"]);
    expect(await contents(await later.fork())).toEqual(["Anna likes black tea"]);
    expect(await contents(await team.fork())).toEqual(["Anna likes black tea", "Carl likes milk"]);
    expect(await says(team, "recall milk")).toContain("Carl");
  });

  test("has everything of a large memory, with its vectors", async () => {
    const team = await TestTeam.create(roundRobin([remembering("ann")], 1));
    const facts = Array.from({ length: 200 }, (_, n) => `fact ${n} ${"x".repeat(6_000)}`);
    const added = facts.map((fact) => ({ ...text(fact), embedding: vectorOf(fact) }));
    value(await team.gateway.addMemories(added));
    await says(team, "recall nothing");
    const fork = await team.fork();
    expect((await contents(fork)).join() === facts.join()).toBe(true);
    const query = { text: "", embedding: vectorOf("fact 7"), k: 5, collection: null };
    const found = value(await fork.gateway.searchMemories(query));
    expect(found.mode).toBe("hybrid");
    const original = value(await team.gateway.searchMemories(query));
    expect(found.hits.map(({ entry }) => entry.id)).toEqual(
      original.hits.map(({ entry }) => entry.id),
    );
  });
});

describe("a person", () => {
  test("adds, corrects and withdraws entries, all as entries of the log", async () => {
    const team = await TestTeam.create(roundRobin([remembering("ann")], 1));
    const stream = await team.stream(null);
    const [one, two] = value(
      await team.gateway.addMemories([text("Anna likes tea"), text("Ben likes coffee")]),
    );
    expect(one).toMatchObject({ content: "Anna likes tea", source: null });
    value(await team.gateway.changeMemory(one?.id ?? "", { content: "Anna hates tea" }));
    value(await team.gateway.forgetMemory(two?.id ?? ""));
    expect(await says(team, "recall likes hates tea coffee")).toBe("Anna hates tea");
    value(await team.gateway.eraseMemories());
    expect(await contents(team)).toEqual([]);
    const changes: unknown[] = [];
    for await (const { event, data } of stream) {
      if (event === "memory") changes.push(data);
      if (changes.length === 4) break;
    }
    expect(changes).toEqual([
      { change: "added", memories: [one?.id, two?.id], run_id: null },
      { change: "corrected", memories: [one?.id], run_id: null },
      { change: "forgotten", memories: [two?.id], run_id: null },
      { change: "erased", memories: [], run_id: null },
    ]);
    expect(await team.gateway.forgetMemory("nothing")).toMatchObject({
      problem: { status: 404, code: "memory_not_found" },
    });
  });

  test("withdraws the facts of a run, and the replaced ones hold again", async () => {
    const team = await TestTeam.create(roundRobin([remembering("ann")], 1));
    await says(team, "remember Anna likes green tea");
    const [tea] = await known(team);
    await says(team, `replace ${tea?.id} Anna likes mud\nremember Ben eats mud`);
    const [run] = value(await team.gateway.runs({ limit: 1 })).runs;
    expect(value(await team.gateway.forgetRun(run?.id ?? ""))).toEqual({ forgotten: 2 });
    expect(await contents(team)).toEqual(["Anna likes green tea"]);
    expect(await says(team, "recall mud tea")).toBe("Anna likes green tea");
    expect(await contents(await team.fork(4))).toEqual(["Anna likes green tea"]);
  });

  test("erases entries during a run that would store them again", async () => {
    const [entered, erased] = [new Signal(), new Signal()];
    const team = await TestTeam.create(
      roundRobin(
        [
          remembering("ann", "team", async () => {
            entered.set();
            await erased.wait();
          }),
        ],
        1,
      ),
    );
    const { id } = await team.start("remember a secret\nwait");
    await entered.wait();
    value(await team.gateway.addMemories([text("added during the run")]));
    const [added] = await known(team);
    value(await team.gateway.eraseMemories());
    expect(added?.content).toBe("added during the run");
    erased.set();
    await team.finished(id);
    expect(await contents(team)).toEqual([]);
    await says(team, "remember a new fact");
    expect(await contents(team)).toEqual(["a new fact"]);
  });
});

test("a deleted team leaves no memory", async () => {
  const team = await TestTeam.create(roundRobin([remembering("ann")], 1));
  await says(team, "remember Anna likes tea");
  value(await team.gateway.destroy());
  await team.erased();
  const again = await runInDurableObject(team.stub, (_instance, { storage }) =>
    storage.sql.exec("select name from sqlite_master where name like 'memory%'").toArray(),
  );
  expect(again).toEqual([]);
});
