import { describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { roundRobin, TestTeam, value } from "../../support/team.ts";

const LONG = "word ".repeat(40);
/** Texts that rows may refer to, repeat, or mistake for a reference. */
const REPLIES = [
  LONG,
  LONG,
  `\0${LONG}`,
  "\u00001",
  "\u00001.0",
  "\0\u00001",
  `{"refs":["${LONG}"]}`,
];

function assistant(name: string): ComponentModel {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: "An assistant",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: { chat_completions: REPLIES },
      },
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
    },
  };
}

async function worked(): Promise<TestTeam> {
  const team = await TestTeam.create(
    roundRobin([assistant("writer"), assistant("critic")], 2 * REPLIES.length),
  );
  await team.finished((await team.start(`Begin with this: ${LONG}`)).id);
  return team;
}

describe("threads and contexts that refer to the event log", () => {
  test("are the same when they are read from storage", async () => {
    const team = await worked();
    const bodies = await team.sql<{ body: string }>("select body from log");
    expect(bodies.filter(({ body }) => body.startsWith('{"refs":')).length).toBeGreaterThan(0);
    const before = value(await team.gateway.saveState());
    await team.evict();
    const after = value(await team.gateway.saveState());
    expect(after).toEqual(before);
    for (const reply of REPLIES) expect(JSON.stringify(after)).toContain(JSON.stringify(reply));
  });

  test("are copied whole into a fork, whose log has other cursors", async () => {
    const team = await worked();
    const state = value(await team.gateway.saveState());
    const fork = await team.fork();
    expect(value(await fork.gateway.saveState())).toEqual(state);
    const bodies = await fork.sql<{ body: string }>("select body from log");
    expect(bodies.filter(({ body }) => body.startsWith('{"refs":'))).toEqual([]);
  });
});
