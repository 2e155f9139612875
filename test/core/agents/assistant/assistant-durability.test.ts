import { describe, expect, test } from "vitest";
import * as z from "zod";
import { AgentTool, AssistantAgent, FunctionTool, UserProxyAgent } from "troupe";
import type { AssistantAgentOptions, Message } from "troupe";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { type Interruption, outcome, RecordingHost } from "../../support/recording-host.ts";

/** What happened outside, over all attempts. */
interface World {
  models: number;
  effects: string[];
}

/**
 * A fresh agent, as after a restart: its model answers by what it is asked, so it does not matter how often the
 * process died before.
 */
function makeAgent(world: World, options: Partial<AssistantAgentOptions> = {}) {
  const reply = () => (request: { messages: readonly { type: string }[] }) => {
    world.models++;
    const rounds = request.messages.filter(
      ({ type }) => type === "FunctionExecutionResultMessage",
    ).length;
    if (rounds === 2) return { content: "all done here", thought: "enough" };
    return ["x", "y"].map((what, index) => ({
      id: "same",
      name: "effect",
      arguments: JSON.stringify({ what: `${what}${rounds}${index}` }),
    }));
  };
  return new AssistantAgent({
    name: "alice",
    modelClient: new ScriptedChatCompletionClient([reply(), reply(), reply()]),
    maxToolIterations: 4,
    tools: [
      new FunctionTool({
        name: "effect",
        description: "",
        parameters: z.object({ what: z.string() }),
        execute: ({ what }) => {
          world.effects.push(what);
          return `did ${what}`;
        },
      }),
    ],
    ...options,
  });
}

const recorded = (items: readonly Message[]) =>
  items.filter(({ type }) => type !== "ModelClientStreamingChunkEvent");

/** Attempts of one turn with a new agent each, until one gets through. */
async function attempts(
  world: World,
  interruptions: readonly Interruption[],
  options?: Partial<AssistantAgentOptions>,
) {
  const journal = new RecordingHost();
  const seen: Message[][] = [];
  for (const interruption of [...interruptions, {}]) {
    const agent = makeAgent(world, options);
    const run = await outcome(agent.onMessagesStream([], journal.attempt(interruption)));
    seen.push(recorded(run.items));
    if (run.result) return { ...run, seen, state: agent.saveState() };
  }
  throw new Error("the turn never ended");
}

const stepsOfTheTurn = 7;

describe.each([false, true])(
  "a turn that is interrupted while streaming is %s",
  (modelClientStream) => {
    test.each(Array.from({ length: stepsOfTheTurn }, (_, index) => index))(
      "ends the same after step %i, and nothing happens twice",
      async (afterSteps) => {
        const calm: World = { models: 0, effects: [] };
        const expected = await attempts(calm, [], { modelClientStream });
        const world: World = { models: 0, effects: [] };
        const actual = await attempts(world, [{ afterSteps }], { modelClientStream });
        expect(world).toEqual(calm);
        expect(recorded(actual.items)).toEqual(recorded(expected.items));
        expect(actual.result).toEqual(expected.result);
        expect(actual.state).toEqual(expected.state);
        const before = actual.seen[0]!;
        expect(before).toEqual(recorded(expected.items).slice(0, before.length));
      },
    );

    test("does not call a running tool again, and the model reads the reason", async () => {
      const world: World = { models: 0, effects: [] };
      const { result } = await attempts(world, [{ during: "tool:0:1/call" }], {
        modelClientStream,
      });
      expect(world.effects.toSorted()).toEqual(["x00", "x10", "y01", "y11"]);
      const results = result?.innerMessages?.find(({ type }) => type === "ToolCallExecutionEvent");
      expect(results).toMatchObject({
        content: [
          { is_error: false, content: "did x00" },
          { is_error: true, content: expect.stringContaining("outcome is unknown") },
        ],
      });
    });

    test("calls a model again that was answering", async () => {
      const world: World = { models: 0, effects: [] };
      const { result } = await attempts(world, [{ during: "model:1" }], { modelClientStream });
      expect(world.models).toBe(4);
      expect(result?.chatMessage).toMatchObject({ content: "all done here" });
    });
  },
);

test("an agent as a tool that asks a human waits for the answer and runs its part once", async () => {
  const journal = new RecordingHost();
  let models = 0;
  const attempt = () => {
    const boss = new AssistantAgent({
      name: "boss",
      modelClient: new ScriptedChatCompletionClient([
        () => {
          models++;
          return [
            { id: "c", name: "human", arguments: '{"task": "colour?"}' },
            { id: "c", name: "human", arguments: '{"task": "size?"}' },
          ];
        },
      ]),
      tools: [new AgentTool(new UserProxyAgent({ name: "human" }))],
    });
    return outcome(boss.onMessagesStream([], journal.attempt()));
  };
  const asked = new Set<string>();
  const answers = ["blue", "big"];
  let run = await attempt();
  while (run.error) {
    expect(run.error).toMatchObject({ kind: "suspend" });
    const open = journal.questions.filter(({ id }) => !journal.answers.has(id));
    expect(new Set(open.map(({ id }) => id)).size).toBe(1);
    const [question] = open;
    asked.add(question!.id);
    journal.answers.set(question!.id, { content: answers[asked.size - 1]! });
    run = await attempt();
  }
  expect(asked.size).toBe(2);
  expect(models).toBe(1);
  expect(run.result?.chatMessage).toMatchObject({ content: "human: blue\nhuman: big" });
});
