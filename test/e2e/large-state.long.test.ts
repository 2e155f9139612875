import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { TroupeClient, type TeamClient } from "#client/index.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { partLines, readPart, type Row, type StatePart } from "../support/state-parts.ts";

const component = SAMPLE_COMPONENT as never;

const MESSAGES = 1_500;
const CHARACTERS = 100_000;
/** Each message is in the conversation and in the thread: together 300 MB. */
const MESSAGES_PER_PART = 200;
const MOST_BYTES = 50_000_000;
/** Bytes of the whole process, which begins with 80 MB and lets garbage lie. */
const MOST_MEMORY = 400_000_000;

test("a state of 300 MB is read, loaded and moved in parts, also over kill -9, with little memory", async () => {
  await using worker = await KillableWorker.start();
  const client = new TroupeClient({ baseURL: worker.origin });
  const small = await client.teams.create({ component });
  for await (const item of small.run("Hi")) if (item.kind === "result") break;
  const model = readPart(await (await small.statePart()).text());
  const parts = largeState(model);
  const { state } = model.header;

  const large = await client.teams.create({ component });
  for (const part of parts.slice(0, 3)) await put(worker, large, part);
  let killed: Promise<void> | undefined;
  const interrupted = put(worker, large, parts[3]!, () => {
    killed = worker.kill();
  });
  await expect(interrupted).rejects.toThrow();
  await killed;
  await worker.restart();
  const { parts: staged, complete } = await large.stagedState();
  expect(staged.map(({ part }) => part)).toEqual([1, 2, 3]);
  expect(complete).toBe(false);
  for (const part of parts.slice(3)) await put(worker, large, part);
  expect((await large.messages()).messages).toEqual([]);
  await large.commitState(state);
  await worker.kill();
  await worker.restart();
  await expect(large.saveState()).rejects.toMatchObject({
    status: 413,
    code: "state_too_large",
    message: expect.stringContaining("/state/parts") as string,
  });

  const copy = await client.teams.create({ component });
  let read = 0;
  let bytes = 0;
  for (let part = 1, cursor: string | undefined; ; part++) {
    const response = await large.statePart({ part, ...(cursor !== undefined && { cursor }) });
    const text = await response.text();
    expect(text.length).toBeLessThanOrEqual(MOST_BYTES);
    bytes += text.length;
    const { rows, next } = readPart(text);
    for (const row of rows) if (row.type === "message") expect(row["id"]).toBe(`message-${read++}`);
    await copy.putStatePart(part, text);
    if (next === null) break;
    cursor = next;
  }
  expect(read).toBe(MESSAGES);
  expect(bytes).toBeGreaterThan(300_000_000);
  const { state: moved } = await copy.stagedState();
  await copy.commitState(moved ?? "");
  expect(worker.peakMemory).toBeLessThan(MOST_MEMORY);

  const last = (await copy.messages({ before: Number.MAX_SAFE_INTEGER, limit: 1 })).messages;
  expect(last).toMatchObject([{ id: `message-${MESSAGES - 1}` }]);
  for await (const item of copy.run("Go on.")) if (item.kind === "result") break;
  const { runs } = await copy.runs();
  expect(runs).toMatchObject([{ status: "completed", turns: 3 }]);
}, 600_000);

interface LargePart extends Omit<StatePart, "rows"> {
  rows: () => Iterable<Row>;
}

/** The state of a team whose conversation is large; all have heard all of it. */
function largeState({ header, rows }: StatePart): LargePart[] {
  const heads = rows.filter(({ type }) => type === "head").map(withCursors);
  const count = Math.ceil(MESSAGES / MESSAGES_PER_PART);
  return Array.from({ length: count }, (_, index) => {
    const cursorOf = (part: number): string => `after-${part}`;
    const first = index * MESSAGES_PER_PART;
    return {
      header: {
        ...header,
        part: index + 1,
        cursor: index === 0 ? null : cursorOf(index),
      },
      *rows() {
        if (index === 0) yield* heads;
        for (let n = first; n < Math.min(first + MESSAGES_PER_PART, MESSAGES); n++) {
          const message = messageOf(n);
          const item = { message, shared: true, by: null };
          yield { type: "log", path: "thread", start: n, count: 1, body: [item] };
          yield { type: "message", seq: n + 1, id: message.id, body: message };
        }
      },
      next: index === count - 1 ? null : cursorOf(index + 1),
    };
  });
}

function withCursors(row: Row): Row {
  const body = row.body as { "": { cursors: object } };
  if (row.path !== "") return row;
  const cursors = { writer: MESSAGES, critic: MESSAGES };
  return { ...row, body: { "": { ...body[""], cursors } } };
}

function messageOf(n: number): { id: string } & Record<string, unknown> {
  return {
    id: `message-${n}`,
    source: "user",
    models_usage: null,
    metadata: {},
    created_at: "2026-11-24T00:00:00.000Z",
    content: `${n} `.repeat(CHARACTERS / (String(n).length + 1)),
    type: "TextMessage",
  };
}

/** Sends a part as it is made. @param halfway called in the middle */
async function put(
  worker: KillableWorker,
  team: TeamClient,
  { rows, ...part }: LargePart,
  halfway?: () => void,
): Promise<void> {
  let lines = 0;
  function* body(): Generator<Buffer> {
    for (const line of partLines({ ...part, rows: rows() })) {
      if (++lines === MESSAGES_PER_PART) halfway?.();
      yield Buffer.from(line);
    }
  }
  const response = await fetch(
    `${worker.origin}/v1/teams/${team.id}/state/parts/${part.header.part}`,
    {
      method: "PUT",
      body: Readable.toWeb(Readable.from(body())) as unknown as ReadableStream,
      duplex: "half",
    },
  );
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
}
