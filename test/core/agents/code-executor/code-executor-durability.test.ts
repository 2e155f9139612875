import { describe, expect, test } from "vitest";
import { CodeExecutorAgent, loadMessage } from "troupe";
import type { ChatMessage, Message } from "troupe";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { ORIGIN } from "../../support/agents.ts";
import { failsUntilGood, TestCodeExecutor } from "../../support/code-executor.ts";
import { type Interruption, outcome, RecordingHost } from "../../support/recording-host.ts";

/** What happened outside, over all attempts. */
class World {
  models = 0;
  approvals = 0;
  readonly executor = new TestCodeExecutor(failsUntilGood);
}

const task = loadMessage(
  { type: "TextMessage", source: "user", content: "go", id: "task" },
  ORIGIN,
) as ChatMessage;

/** A fresh agent, as after a restart: its model answers by what it is asked. */
function makeAgent(world: World, modelClientStream: boolean) {
  const reply = () => (request: { messages: readonly object[]; options: object }) => {
    world.models++;
    if ("jsonOutput" in request.options) return '{"retry": true, "reason": "be good"}';
    const said = JSON.stringify(request.messages);
    if (said.includes("fine")) return { content: "It is fine.", thought: "phew" };
    return said.includes("broken") ? "```sh\ngood\n```" : "```sh\nbad\n```";
  };
  return new CodeExecutorAgent({
    name: "runner",
    codeExecutor: world.executor,
    modelClient: new ScriptedChatCompletionClient(Array.from({ length: 4 }, reply)),
    modelClientStream,
    maxRetriesOnError: 1,
    approvalFunc: () => {
      world.approvals++;
      return { approved: true, reason: "" };
    },
  });
}

const recorded = (items: readonly Message[]) =>
  items.filter(({ type }) => type !== "ModelClientStreamingChunkEvent");

/** Attempts of one turn with a new agent each, until one gets through. */
async function attempts(world: World, interruptions: readonly Interruption[], stream: boolean) {
  const journal = new RecordingHost();
  for (const interruption of [...interruptions, {}]) {
    const agent = makeAgent(world, stream);
    const run = await outcome(agent.onMessagesStream([task], journal.attempt(interruption)));
    if (run.result)
      return { items: recorded(run.items), result: run.result, state: agent.saveState() };
  }
  throw new Error("the turn never ended");
}

/** Two rounds of writing, approving and running, one decision in between, and the answer. */
const stepsOfTheTurn = 8;

describe.each([false, true])("a turn that is interrupted while streaming is %s", (stream) => {
  test.each(Array.from({ length: stepsOfTheTurn }, (_, index) => index))(
    "ends the same after step %i, and nothing happens twice",
    async (afterSteps) => {
      const calm = new World();
      const expected = await attempts(calm, [], stream);
      const world = new World();
      const actual = await attempts(world, [{ afterSteps }], stream);
      expect(actual).toEqual(expected);
      expect(world.models).toBe(4);
      expect(world.approvals).toBe(2);
      expect(world.executor.ran).toEqual(calm.executor.ran);
    },
  );

  test("repeats the request under the same key if code was running", async () => {
    const world = new World();
    await attempts(world, [{ during: "code:0" }], stream);
    const [first, again, second] = world.executor.keys;
    expect(world.executor.ran.map(([block]) => block?.code)).toEqual(["bad\n", "bad\n", "good\n"]);
    expect(again).toBe(first);
    expect(second).not.toBe(first);
  });
});
