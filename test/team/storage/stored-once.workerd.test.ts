import { describe, expect, test } from "vitest";
import type { ChatMessage, TextMessage } from "troupe";
import { createMessage } from "troupe";
import { fork, type ForkSourceStub, type ForkTargetStub } from "#team/fork/fork.ts";
import { createSchedule } from "../support/schedules.ts";
import { agent, counter, roundRobin, TestTeam, value } from "../support/team.ts";

/** Base64 of bytes that look random, and the same each time. */
function noise(bytes: number, seed: number): string {
  let state = seed;
  const data = Array.from({ length: bytes }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return String.fromCharCode(Math.floor(state / 65_536) % 256);
  });
  return btoa(data.join(""));
}

const DATA = noise(30_000, 1);
const PNG = btoa("\x89PNG\r\n\x1a\n....") + noise(6_000, 2);

/** Texts in which base64 stands after an escape of JSON, is not the standard encoding of bytes, or is not base64 at all. */
const TEXTS = [
  `Look:\n${DATA}`,
  `Look: \u0001${DATA}\u0001`,
  `\\${DATA}\\n`,
  `Two:\t[Image: ${PNG}]\t[Image: ${PNG}]`,
  DATA.slice(0, 4_097),
  `${DATA.slice(0, 4_098)}==`,
  DATA.replaceAll("+", "-").replaceAll("/", "_"),
  `data:image/png;base64,${PNG}`,
  "\u0001b0\u0001",
  "é".repeat(5_000),
];

/** Says the texts one after the other. */
const speaker = () =>
  agent("ann", async function* (self, ctx) {
    yield* [];
    return ctx.step("model:0", () => Promise.resolve(TEXTS[self.answers] ?? "That is all."));
  });

async function blobs(team: TestTeam): Promise<number> {
  const tables = await team.sql("select name from sqlite_master where name = 'blob'");
  if (tables.length === 0) return 0;
  const orphans = await team.sql(
    "select owner from part where owner like 'blob:%' and substr(owner, 6) not in (select hash from blob)",
  );
  expect(orphans).toEqual([]);
  return (await team.sql("select hash from blob")).length;
}

/** How often a text is in the tables. */
async function times(team: TestTeam, part: string): Promise<number> {
  let found = 0;
  for (const [table, column] of [
    ["event", "body"],
    ["log", "body"],
    ["head", "body"],
    ["run", "task"],
    ["step", "result"],
    ["question", "question"],
  ] as const) {
    const rows = await team.sql<{ text: string | null }>(`select ${column} as text from ${table}`);
    found += rows.reduce((sum, { text }) => sum + (text ?? "").split(part).length - 1, 0);
  }
  return found;
}

const said = async (team: TestTeam): Promise<unknown[]> =>
  value(await team.gateway.messages({ limit: 50 })).messages.map(
    (message) => "content" in message && message.content,
  );

const image = (data: string): ChatMessage[] => [
  createMessage(
    { id: () => "m", now: () => ({ at: 0, ran: 0 }) } as never,
    {
      type: "MultiModalMessage",
      source: "user",
      content: ["What is this?", { data }],
    } as never,
  ),
];

describe("large base64", () => {
  test("is restored unchanged, from every position in a text, from storage and from a fork", async () => {
    const team = await TestTeam.create(roundRobin([speaker()], TEXTS.length));
    await team.finished((await team.start("go")).id);
    const state = value(await team.gateway.saveState());
    expect(await said(team)).toEqual(["go", ...TEXTS]);
    expect(await times(team, PNG)).toBe(0);
    await team.evict();
    expect(await said(team)).toEqual(["go", ...TEXTS]);
    expect(value(await team.gateway.saveState())).toEqual(state);
    const copy = await team.fork();
    expect(await said(copy)).toEqual(["go", ...TEXTS]);
    expect(value(await copy.gateway.saveState())).toEqual(state);
    expect(await blobs(copy)).toBe(await blobs(team));
  });

  test("is shared by messages, by their texts, and by other forms around it", async () => {
    const team = await TestTeam.create(roundRobin([speaker()], TEXTS.length));
    await team.finished((await team.start(null, { task: image(PNG) })).id);
    // DATA, PNG, two that end early, and DATA for URLs.
    expect(await blobs(team)).toBe(5);
  });

  test("is in a fork if its turn has it", async () => {
    const team = await TestTeam.create(roundRobin([speaker()], 1));
    await team.finished((await team.start("go")).id);
    const { turn } = value(await team.gateway.team());
    await team.finished((await team.start(null, { task: image(PNG) })).id);
    expect(await blobs(team)).toBe(2);
    const earlier = await team.fork(turn);
    expect(await blobs(earlier)).toBe(1);
    value(await team.gateway.reset());
    expect(await blobs(team)).toBe(2);
    expect(await blobs(await team.fork())).toBe(0);
  });

  test("is copied to a fork in pages, whatever is lost on the way", async () => {
    const team = await TestTeam.create(counter("ann"));
    const pictures = Array.from({ length: 70 }, (_, n) => image(noise(3_300, n + 1)));
    await team.finished(
      (await team.start(null, { task: [...pictures.flat(), ...image(noise(2_300_000, 99))] })).id,
    );
    expect(await blobs(team)).toBe(71);
    const copy = new TestTeam();
    const input = { id: copy.id, turn: null, idempotency: { key: "k", hash: "h" } };
    const source = team.stub as unknown as ForkSourceStub;
    const pages: string[] = [];
    for (let done = false; !done;) {
      const target = copy.stub as unknown as ForkTargetStub;
      let arrived = 0;
      const lossy: ForkTargetStub = {
        forkProgress: (request) => target.forkProgress(request),
        beginFork: (request, point) => target.beginFork(request, point),
        async continueFork(request, cursor, page) {
          if (arrived++ > 0) throw new Error("a page was lost");
          pages.push(cursor.table);
          return target.continueFork(request, cursor, page);
        },
        team: () => target.team(),
      };
      done = await fork(source, lossy, input).then(
        ({ ok }) => ok,
        () => false,
      );
      await copy.evict();
    }
    // The blobs: 64 and the rest of them, or parts of the large one.
    expect(pages.filter((table) => table === "blob").length).toBeGreaterThanOrEqual(3);
    expect(await blobs(copy)).toBe(71);
    expect(await said(copy)).toEqual(await said(team));
  });

  test("is stored once in a fork even if the team has it from an earlier version, in its texts", async () => {
    const team = await TestTeam.create(roundRobin([speaker()], 1));
    await team.finished((await team.start("go")).id);
    const message = JSON.stringify({
      ...value(await team.gateway.messages({ limit: 9 })).messages[1],
      content: DATA,
    });
    await team.sql(`update event set body = '${message}' where kind = 'message' and seq = 2`);
    await team.evict();
    expect(await times(team, DATA)).toBe(1);
    const copy = await team.fork();
    expect((await said(copy))[1]).toBe(DATA);
    expect(await times(copy, DATA)).toBe(0);
  });

  test("is removed with its message, unless another one has it", async () => {
    const team = await TestTeam.create(counter("ann"));
    await createSchedule(team, { task: image(DATA) });
    await createSchedule(team, { id: "other", task: [...image(DATA), ...image(PNG)] });
    expect(await blobs(team)).toBe(2);
    value(await team.gateway.deleteSchedule("daily"));
    expect(await blobs(team)).toBe(2);
    await team.finished((await team.start(null, { task: image(PNG) })).id);
    value(await team.gateway.deleteSchedule("other"));
    expect(await blobs(team)).toBe(1);
    expect(await said(team)).toContainEqual(["What is this?", { data: PNG }]);
  });

  test("survives a crash in a step that waits for an answer, and its turn leaves one", async () => {
    const effects: string[] = [];
    const asker = agent("ann", async function* (self, ctx) {
      const seen = await ctx.scope("tool:0:0").step(
        "call",
        () => {
          effects.push("called");
          return Promise.resolve(`[Image: ${PNG}]`);
        },
        { kind: "tool", policy: "never" },
      );
      yield createMessage<TextMessage>(ctx, {
        type: "TextMessage",
        source: self.name,
        content: seen,
      });
      const answer = await ctx.ask({
        id: ctx.id(),
        kind: "input",
        source: self.name,
        prompt: `${seen} ?`,
      });
      return JSON.stringify(answer);
    });
    const team = await TestTeam.create(asker);
    const run = await team.start("go");
    await team.rested(run.id);
    expect([await blobs(team), await times(team, PNG)]).toEqual([1, 0]);
    await team.crash();
    const [question] = value(await team.gateway.requests(run.id));
    value(await team.gateway.answer(run.id, question?.id ?? "", { content: `[Image: ${PNG}]` }));
    await team.finished(run.id);
    expect(effects).toEqual(["called"]);
    expect((await said(team))[1]).toBe(`[Image: ${PNG}]`);
    expect([await blobs(team), await times(team, PNG)]).toEqual([1, 0]);
    expect(
      await team.sql("select * from blob_use where user like 'step:%'").catch(() => []),
    ).toEqual([]);
  });

  test("costs a plain turn nothing, and each turn that repeats it no row", async () => {
    const rows = async (team: TestTeam, task: ChatMessage[] | null): Promise<number> => {
      const before = await team.rowsWritten();
      await team.finished((await team.start(null, { task })).id);
      await team.delivered();
      return (await team.rowsWritten()) - before;
    };
    const team = await TestTeam.create(counter("ann"));
    await rows(team, image("small"));
    const plain = await rows(team, image("small"));
    expect(await blobs(team)).toBe(0);
    await rows(team, image(PNG));
    expect(await rows(team, image(PNG))).toBe(plain);
  });
});
