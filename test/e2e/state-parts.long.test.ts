import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TroupeClient, type TeamClient } from "#client/index.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { readPart, type StatePart, writePart } from "../support/state-parts.ts";
import { TestWorker } from "../support/worker.ts";

const component = SAMPLE_COMPONENT as never;

let worker: TestWorker;
let client: TroupeClient;
/** A team that has worked, with a message that is larger than a row. */
let source: TeamClient;
let whole: string;
/** A part of a team that has said little. */
let short: string;
/** A team of the same component with a conversation of its own. */
let target: TeamClient;

beforeAll(async () => {
  worker = await TestWorker.start({ MAX_BODY_BYTES: "5000000", MAX_MESSAGE_BYTES: "4000000" });
  client = new TroupeClient({ baseURL: await worker.origin });
  source = await worked(`Write about é. ${"x".repeat(1_100_000)}`);
  whole = await (await source.statePart()).text();
  short = await (await (await worked("Little.")).statePart()).text();
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  target = await worked("Something else.");
});

async function worked(task: string): Promise<TeamClient> {
  const team = await client.teams.create({ component });
  await run(team, task);
  return team;
}

async function run(team: TeamClient, task: string): Promise<void> {
  for await (const item of team.run(task)) if (item.kind === "result") return;
  throw new Error("the run has no result");
}

async function contents(team: TeamClient): Promise<unknown[]> {
  return (await team.messages()).messages.map((message) => "content" in message && message.content);
}

describe("a state in parts", () => {
  test("is loaded by another team, whose earlier turns stay", async () => {
    const before = (await target.get()).turn;
    const staged = await target.putStatePart(1, whole);
    expect(staged).toMatchObject({ complete: true, parts: [{ part: 1 }] });
    expect(await target.putStatePart(1, whole)).toEqual(staged);
    await target.commitState(staged.state ?? "");
    await target.commitState(staged.state ?? "");
    expect(await target.saveState()).toEqual(await source.saveState());
    expect(await target.stagedState()).toEqual({ state: null, parts: [], complete: false });
    expect((await contents(target)).slice(4)).toEqual(await contents(source));

    await run(target, "More.");
    await run(source, "More.");
    expect((await contents(target)).slice(8)).toEqual((await contents(source)).slice(4));
    const fork = await target.fork({ turn: before });
    expect(await contents(fork)).toHaveLength(4);
    whole = await (await source.statePart()).text();
  });

  test("is the same again when its own team loads it after a reset", async () => {
    const team = await worked("Once.");
    const [state, part] = [await team.saveState(), await (await team.statePart()).text()];
    await team.reset();
    const { state: name } = await team.putStatePart(1, part);
    await team.commitState(name ?? "");
    expect(await team.saveState()).toEqual(state);
    expect((await team.messages()).messages).toHaveLength(4);
  });

  test("has heads of any size", async () => {
    const part = readPart(whole);
    const { state } = await target.putStatePart(1, writePart(withLargeHead(part)));
    await target.commitState(state ?? "");
    expect(await target.saveState()).toEqual(await source.saveState());
  });

  test("comes in any number of parts, in any order after the first", async () => {
    const [first, second, third] = split(readPart(whole));
    await target.putStatePart(1, writePart(first));
    await target.putStatePart(3, writePart(third));
    expect(await target.stagedState()).toMatchObject({ complete: false });
    await expect(target.commitState(first.header.state)).rejects.toMatchObject({
      status: 409,
      code: "state_incomplete",
      message: expect.stringContaining("part 2 is missing") as string,
    });
    await target.putStatePart(2, writePart(second));
    await target.commitState(first.header.state);
    expect(await target.saveState()).toEqual(await source.saveState());
  });

  test("says which part comes first, where a body begins in the one before", async () => {
    const [first, second, third] = split(readPart(whole), "second");
    await target.putStatePart(1, writePart(first));
    await expect(target.putStatePart(3, writePart(third))).rejects.toMatchObject({
      status: 409,
      code: "state_incomplete",
      message: expect.stringContaining("begins in part 2") as string,
    });
    await target.putStatePart(2, writePart(second));
    expect(await target.putStatePart(3, writePart(third))).toMatchObject({ complete: true });
  });

  test("waits while a run is active, and can be discarded", async () => {
    const human = await client.teams.create({
      component: {
        provider: "RoundRobinGroupChat",
        config: { participants: [{ provider: "UserProxyAgent", config: { name: "h" } }] as never },
      },
    });
    const { id } = await human.start("Wait.");
    await expect.poll(async () => (await human.getRun(id)).status).toBe("waiting");
    const part = await (await human.statePart()).text();
    const { state } = await human.putStatePart(1, part);
    await expect(human.commitState(state ?? "")).rejects.toMatchObject({ code: "team_busy" });
    await human.discardStagedState();
    await human.stop(id, "now");
    await expect(human.commitState(state ?? "")).rejects.toMatchObject({ code: "other_state" });
  });
});

describe("the state of a team is kept when a part is refused", () => {
  const wrong: Record<string, (part: StatePart) => string> = {
    "a part that is cut off": (part) => writePart(part).slice(0, -300),
    "a part with another text": (part) => writePart(part).replace('"one"', '"won"'),
    "no lines": () => "",
    "a line that is not JSON": (part) => writePart(part).replace('{"type":"head"', '{"type":head"'),
    "an invalid message": (part) =>
      writePart(changed(part, "message", (row) => ({ ...row, body: { type: "TextMessage" } }))),
    "an invalid item of a thread": (part) =>
      writePart(changed(part, "log", (row) => ({ ...row, count: 1, body: [7] }))),
    "a row of a log that counts wrong": (part) =>
      writePart(changed(part, "log", (row) => ({ ...row, count: 77 }))),
    "an invalid head": (part) =>
      writePart(changed(part, "head", (row) => ({ ...row, body: heads(row.body, () => 7) }))),
    "a large invalid head": (part) => writePart(withLargeHead(part, () => 7)),
    "a log at a place that the component does not have": (part) =>
      writePart(changed(part, "log", (row) => ({ ...row, path: "nobody/context/messages" }))),
    "the number of another part": (part) =>
      writePart({ ...part, header: { ...part.header, part: 2, cursor: "c" } }),
  };

  test.each(Object.keys(wrong))("because of %s", async (what) => {
    const state = await target.saveState();
    const body = wrong[what]?.(readPart(short)) ?? "";
    await expect(target.putStatePart(1, body)).rejects.toMatchObject({ status: 422 });
    expect(await target.stagedState()).toMatchObject({ complete: false });
    expect(await target.saveState()).toEqual(state);
    expect(await contents(target)).toHaveLength(4);
  });

  test("because the first one is missing", async () => {
    const [, second] = split(readPart(whole));
    await expect(target.putStatePart(2, writePart(second))).rejects.toMatchObject({
      status: 409,
      code: "other_state",
    });
  });

  test("because the parts were checked with another component", async () => {
    const { state } = await target.putStatePart(1, short);
    await target.replaceComponent(component);
    await expect(target.commitState(state ?? "")).rejects.toMatchObject({
      code: "component_replaced",
    });
  });

  test("because no part has named the cursor", async () => {
    await expect(source.statePart({ cursor: "abc" })).rejects.toMatchObject({
      status: 422,
      code: "invalid_cursor",
    });
  });
});

function heads(body: unknown, change: () => unknown): object {
  return Object.fromEntries(Object.keys(body as object).map((path) => [path, change()]));
}

/** With the first head that has values in lines before it, as large ones are. */
function withLargeHead(part: StatePart, change?: () => unknown): StatePart {
  const at = part.rows.findIndex(
    ({ type, body }) => type === "head" && JSON.stringify(body) !== "{}",
  );
  const head = part.rows[at] as StatePart["rows"][number];
  const stored = { heads: change ? heads(head.body, change) : head.body };
  const text = {
    type: "text",
    of: `head:${head.path}:${part.header.turn}`,
    n: 0,
    body: Buffer.from(JSON.stringify(stored)).toString("base64"),
  };
  const rows = part.rows.toSpliced(at, 1, text, { ...head, body: null });
  return { ...part, rows };
}

/** With another first row of a type that has a body. */
function changed(
  part: StatePart,
  type: string,
  change: (row: StatePart["rows"][number]) => object,
): StatePart {
  const at = part.rows.findIndex(
    (row) => row.type === type && row.body !== null && JSON.stringify(row.body) !== "{}",
  );
  const rows = part.rows.map((row, index) => (index === at ? (change(row) as typeof row) : row));
  return { ...part, rows };
}

/** Into three. @param cut the part that ends inside of a large text */
function split(
  { header, rows }: StatePart,
  cut: "first" | "second" = "first",
): [StatePart, StatePart, StatePart] {
  const text = rows.findIndex(({ type }) => type === "text");
  const [one, two] = cut === "second" ? [text, text + 1] : [text + 1, -1];
  return [
    { header, rows: rows.slice(0, one), next: "b" },
    { header: { ...header, part: 2, cursor: "b" }, rows: rows.slice(one, two), next: "c" },
    { header: { ...header, part: 3, cursor: "c" }, rows: rows.slice(two), next: null },
  ];
}
