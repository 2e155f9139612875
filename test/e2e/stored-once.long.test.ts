import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient, type TeamClient } from "#client/index.ts";
import { KillableWorker } from "../support/killable-worker.ts";

const SEES = {
  vision: true,
  function_calling: true,
  json_output: false,
  structured_output: false,
  family: "unknown",
};

/** A picture of a megabyte that does not compress. */
const PICTURE = picture(1_000_000);
/** What an object stores besides: its tables, and what was said. */
const REST = 250_000;

let worker: KillableWorker;
let client: TroupeClient;

beforeAll(async () => {
  worker = await KillableWorker.start({ MAX_BODY_BYTES: "5000000", MAX_MESSAGE_BYTES: "4000000" });
  client = new TroupeClient({ baseURL: worker.origin });
});

afterAll(() => worker[Symbol.asyncDispose]());

function picture(bytes: number): string {
  const noise = Array.from({ length: Math.ceil(bytes / 32) }, (_, n) =>
    createHash("sha256").update(`${n}`).digest(),
  );
  const png = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([png, ...noise])
    .subarray(0, bytes)
    .toString("base64");
}

function watcher(name: string) {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: name,
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: { chat_completions: [`${name} sees it.`], cycle: true, model_info: SEES },
      },
    },
  };
}

const component = {
  provider: "RoundRobinGroupChat",
  config: { participants: ["ann", "ben", "eve"].map(watcher), max_turns: 6 },
} as never;

async function run(team: TeamClient, task: unknown): Promise<void> {
  for await (const item of team.run(task as never)) if (item.kind === "result") return;
  throw new Error("the run has no result");
}

const times = (text: string, part: string): number => text.split(part).length - 1;

/** Bytes of the teams' databases by id, read while the Worker is down. */
async function stored(): Promise<Map<string, number>> {
  await worker.kill();
  const sizes = new Map<string, number>();
  for (const file of globSync(`${worker.state}/**/*.sqlite`)) {
    using db = new DatabaseSync(file);
    const number = (pragma: string): number =>
      Number(Object.values(db.prepare(pragma).get() ?? {})[0]);
    const table = db.prepare("select 1 from sqlite_master where name = 'head'").get();
    const row = table && db.prepare("select value from meta where name = 'team'").get();
    if (row === undefined) continue;
    const pages = number("pragma page_count") - number("pragma freelist_count");
    const { id } = JSON.parse(String(row["value"])) as { id: string };
    sizes.set(id, pages * number("pragma page_size"));
  }
  await worker.restart();
  return sizes;
}

test("a picture that three agents see is stored once, through kill -9, fork, export, import, reset and deletion", async () => {
  const team = await client.teams.create({ component });
  const content = ["What is this?", { data: PICTURE }];
  await run(team, [{ type: "MultiModalMessage", source: "user", content }]);
  await run(team, "Look again.");
  const state = await team.saveState();
  // In the thread and in three contexts.
  expect(times(JSON.stringify(state), PICTURE)).toBe(4);
  const { messages } = await team.messages();
  expect(messages[0]).toMatchObject({ content });

  const fork = await team.fork();
  const imported = await client.teams.create({ component });
  await imported.loadState(state);
  const moved = await client.teams.create({ component });
  for (let part = 1, cursor: string | null | undefined; cursor !== null; part++) {
    const response = await team.statePart({ part, ...(cursor && { cursor }) });
    const text = await response.text();
    ({ next_cursor: cursor } = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "") as {
      next_cursor: string | null;
    });
    await moved.putStatePart(part, text);
  }
  const { state: name } = await moved.stagedState();
  await moved.commitState(name ?? "");
  const reset = await team.fork();
  await reset.reset();
  const blank = await reset.fork();
  const deleted = await team.fork();
  await deleted.delete();

  const sizes = await stored();
  const once = 1_000_000 + REST;
  for (const copy of [team, fork, imported, moved, reset]) {
    expect(sizes.get(copy.id)).toBeGreaterThan(1_000_000);
    expect(sizes.get(copy.id)).toBeLessThan(once);
  }
  expect(sizes.get(blank.id)).toBeLessThan(REST);
  expect(sizes.has(deleted.id)).toBe(false);

  for (const copy of [team, fork, imported, moved]) {
    expect(await copy.saveState()).toEqual(state);
    const { messages: said } = await copy.messages();
    expect(said[0]).toMatchObject({ content });
  }
  await run(fork, "And now?");
  expect((await fork.messages()).messages.at(-1)).toMatchObject({ content: "eve sees it." });
});
