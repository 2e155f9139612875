import { describe, expect, test } from "vitest";
import type { ComponentModel, CreateResult, JsonObject } from "troupe";
import { TestTeam, value } from "../support/team.ts";

/** What a maker wants back with an answer: long enough to be stored by reference. */
const dataOf = (answer: string) => ({
  maker: "acme",
  model: "thinker",
  data: { signature: `${answer} `.repeat(40), none: null },
});

function reply(content: CreateResult["content"], of: string | null): JsonObject {
  return {
    finish_reason: typeof content === "string" ? "stop" : "function_calls",
    content,
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
    thought: null,
    ...(of !== null && { troupe: dataOf(of) }),
  };
}

const call = (name: string) => ({ id: `call_${name}`, name, arguments: "{}" });

function agent(name: string, replies: readonly JsonObject[], config: JsonObject): ComponentModel {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: name,
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions: replies as JsonObject[],
          model_info: {
            vision: false,
            function_calling: true,
            json_output: false,
            structured_output: false,
            family: "unknown",
          },
        },
      },
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      max_tool_iterations: 5,
      ...config,
    },
  };
}

/** Ann calls a tool and hands over with a result; Ben answers. Each answer has what its maker wants back. */
const swarm = (of: (name: string) => string | null = (name) => name): ComponentModel => ({
  provider: "Swarm",
  config: {
    participants: [
      agent(
        "ann",
        [
          reply([call("look")], of("first")),
          reply([call("look"), call("transfer_to_ben")], of("second")),
        ],
        { handoffs: ["ben"] },
      ),
      agent("ben", [reply("Done.", of("third"))], {}),
    ],
    termination_condition: { provider: "TextMessageTermination", config: { source: "ben" } },
  },
});

async function worked(component = swarm()): Promise<TestTeam> {
  const team = await TestTeam.create(component);
  await team.finished((await team.start("Look.")).id);
  return team;
}

/** All that the object has stored. */
async function stored(team: TestTeam): Promise<string> {
  const tables = await team.sql<{ name: string }>(
    "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\' and name not like 'sqlite%'",
  );
  const rows = [];
  for (const { name } of tables)
    if (name !== "meta") rows.push(await team.sql(`select * from "${name}"`));
  return JSON.stringify(rows);
}

const times = (text: string, part: string): number => text.split(part).length - 1;

function contextOf(state: unknown, name: string): unknown[] {
  const { agent_states } = state as {
    agent_states: Record<string, { agent_state: { llm_context: { messages: unknown[] } } }>;
  };
  return agent_states[name]?.agent_state.llm_context.messages ?? [];
}

const troupes = (messages: unknown[]): unknown[] =>
  messages.flatMap((message) => (message as { troupe?: unknown }).troupe ?? []);

describe("the data that a maker needs back", () => {
  test("is part of the state, of the agent that it was given to and the one that takes over", async () => {
    const team = await worked();
    const state = value(await team.gateway.saveState());
    expect(troupes(contextOf(state, "ann"))).toEqual([dataOf("first"), dataOf("second")]);
    expect(troupes(contextOf(state, "ben"))).toEqual([dataOf("second"), dataOf("third")]);
    await team.evict();
    expect(value(await team.gateway.saveState())).toEqual(state);
    const fork = await team.fork();
    expect(value(await fork.gateway.saveState())).toEqual(state);
    const other = await TestTeam.create(swarm());
    value(await other.gateway.loadState(state));
    expect(value(await other.gateway.saveState())).toEqual(state);
  });

  test("is stored once, whether the log has it or not, and nothing is left of a step", async () => {
    const text = await stored(await worked());
    for (const answer of ["first", "second", "third"])
      expect([answer, times(text, dataOf(answer).data.signature)]).toEqual([answer, 1]);
  });

  test("is stored once even if the object was unloaded between a handoff and the turn that takes it over", async () => {
    const until = (condition: ComponentModel): ComponentModel => {
      const { config, ...model } = swarm();
      return { ...model, config: { ...config, termination_condition: condition } };
    };
    const handedOver = { provider: "HandoffTermination", config: { target: "ben" } };
    const team = await TestTeam.create(until(handedOver));
    await team.finished((await team.start("Look.")).id);
    value(await team.gateway.replaceComponent(swarm()));
    await team.evict();
    await team.finished((await team.start(null)).id);
    const state = value(await team.gateway.saveState());
    expect(troupes(contextOf(state, "ben"))).toEqual([dataOf("second"), dataOf("third")]);
    const text = await stored(team);
    for (const answer of ["first", "second", "third"])
      expect([answer, times(text, dataOf(answer).data.signature)]).toEqual([answer, 1]);
    await team.evict();
    expect(value(await team.gateway.saveState())).toEqual(state);
  });

  test("is in the log only where a handoff passes it on", async () => {
    const team = await worked();
    const bodies = await team.sql<{ body: string }>("select body from event");
    const types = bodies
      .map(({ body }) => JSON.parse(body) as { type?: string })
      .filter((event) => JSON.stringify(event).includes("acme"))
      .map(({ type }) => type);
    expect(types).toEqual(["HandoffMessage"]);
  });

  test("costs no row", async () => {
    const rows = async (component: ComponentModel): Promise<number> => {
      const team = await TestTeam.create(component);
      await team.delivered();
      const before = await team.rowsWritten();
      await team.finished((await team.start("Look.")).id);
      await team.delivered();
      return (await team.rowsWritten()) - before;
    };
    expect(await rows(swarm())).toBe(await rows(swarm(() => null)));
  });

  test("is gone after a reset", async () => {
    const team = await worked();
    value(await team.gateway.reset());
    expect(JSON.stringify(value(await team.gateway.saveState()))).not.toContain("acme");
  });
});
