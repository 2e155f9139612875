import { describe, expect, test } from "vitest";
import {
  BufferedChatCompletionContext,
  ReplayChatCompletionClient,
  UnboundedChatCompletionContext,
  run,
} from "troupe";
import type { JsonObject, StateError } from "troupe";
import { StateTree } from "#core/state/state-tree.ts";
import { ORIGIN, text } from "../../support/agents.ts";
import { outcome, RecordingHost } from "../../support/recording-host.ts";
import { trio } from "./support.ts";

const NAME = "SelectorGroupChatManager";

function managerState(state: JsonObject): JsonObject {
  return (state["agent_states"] as { [NAME]: JsonObject })[NAME];
}

/** The state as AutoGen saves it: without what we add. */
function asAutoGen(state: JsonObject): JsonObject {
  const { troupe: _, ...manager } = managerState(state);
  return { ...state, agent_states: { ...(state["agent_states"] as JsonObject), [NAME]: manager } };
}

describe("the saved state of a selector", () => {
  test("continues from its turn, as often as it is loaded", async () => {
    const before = trio(["bob"]);
    await run(before.team, { task: "go" });
    const state = before.team.saveState();
    expect(managerState(state)).toMatchObject({
      type: "SelectorManagerState",
      version: "1.0.0",
      previous_speaker: "bob",
      current_turn: 0,
    });
    const after = trio(["ann", "cat"]);
    await run(after.team, { task: "something else" });
    after.team.loadState(asAutoGen(state));
    after.team.loadState(asAutoGen(state));
    await run(after.team, { task: "on" });
    expect(String(after.asked().at(-1)).split("|").slice(1)).toEqual([
      "['ann', 'cat']",
      "user: go\n\n\nbob: bob1\n\n\nuser: on\n\n",
    ]);
  });

  test("has its own model context, which may differ from the thread", async () => {
    const initial = { content: "be brief", source: "boss", type: "UserMessage" } as const;
    const context = () => new UnboundedChatCompletionContext([initial]);
    const before = trio(["bob"], { modelContext: context() });
    await run(before.team, { task: "go" });
    const state = before.team.saveState();
    const history = "user: go\n\n\nbob: bob1\n\n\nuser: on\n\n";

    for (const [given, expected] of [
      [state, `boss: be brief\n\n\n${history}`],
      // Without it the context is made of its initial messages and the thread.
      [asAutoGen(state), `boss: be brief\n\n\n${history}`],
    ] as const) {
      const after = trio(["cat"], { modelContext: context() });
      after.team.loadState(given);
      await run(after.team, { task: "on" });
      expect(String(after.asked().at(-1)).split("|")[2]).toBe(expected);
    }

    before.team.loadState(asAutoGen(trio([]).team.saveState()));
    expect(managerState(before.team.saveState())["troupe"]).toMatchObject({
      model_context: { messages: [initial] },
    });
  });

  test.each<[JsonObject, string]>([
    [{ previous_speaker: 7 }, `agent_states.${NAME}.previous_speaker`],
    [{ troupe: { model_context: 7 } }, `agent_states.${NAME}.troupe.model_context`],
    [
      { troupe: { model_context: { messages: [{ type: "?" }] } } },
      `agent_states.${NAME}.troupe.model_context.messages[0].type`,
    ],
  ])("that is %j does not fit, and changes nothing", async (wrong, path) => {
    const { team } = trio(["bob"], { modelContext: new BufferedChatCompletionContext(5) });
    await run(team, { task: "go" });
    const state = team.saveState();
    const agentStates = state["agent_states"] as JsonObject;
    const bad = {
      ...state,
      agent_states: { ...agentStates, [NAME]: { ...managerState(state), ...wrong } },
    };
    expect(() => team.loadState(bad)).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ path })] }) as StateError,
    );
    expect(team.saveState()).toEqual(state);
  });
});

describe("the stored state of a selector", () => {
  /** A run of one turn, without the marks that `run` makes. */
  async function runOnce({ team }: ReturnType<typeof trio>, task: string): Promise<void> {
    const input = { messages: [text("user", task, ORIGIN)], outputTaskMessages: true };
    for (const turn of [team.begin.bind(team, input), team.turn.bind(team)]) {
      expect(await outcome(turn(new RecordingHost().attempt()))).not.toHaveProperty("error");
    }
  }

  test("is the previous speaker, the new part of the context, and the model's position", async () => {
    const stored = trio([], {
      modelClient: new ReplayChatCompletionClient(["bob"]),
      modelContext: new UnboundedChatCompletionContext(),
    });
    const tree = new StateTree(stored.team);
    await runOnce(stored, "go");
    const { heads, logs } = tree.changes();
    expect([...heads, ...logs].map(({ path }) => path)).toEqual([
      "",
      "bob",
      `${NAME}/model_client`,
      "thread",
      `${NAME}/model_context/messages`,
    ]);
    expect(heads[0]?.value).toMatchObject({ manager: { previous_speaker: "bob" } });
  });

  test("is restored, and is only read as far as the next selection shows it", async () => {
    const modelContext = () => new BufferedChatCompletionContext(3);
    const stored = trio([], {
      modelClient: new ReplayChatCompletionClient(["bob", "cat"], { cycle: true }),
      modelContext: modelContext(),
    });
    const tree = new StateTree(stored.team);
    for (let count = 0; count < 50; count++) await runOnce(stored, `go ${count}`);
    const { heads, logs } = tree.changes();
    const read: number[] = [];
    const again = trio(["ann"], { modelContext: modelContext() });
    new StateTree(again.team).restore({
      head: (path) => heads.find((head) => head.path === path)?.value,
      log: (path) => {
        const log = logs.find((one) => one.path === path);
        if (log === undefined) return undefined;
        const source = (from: number, to: number): unknown[] => {
          read.push(to - from);
          return log.items.slice(from, to);
        };
        return { generation: log.generation, length: log.items.length, read: source };
      },
    });
    await runOnce(again, "on");
    expect(String(again.asked()[0]).split("|").slice(1)).toEqual([
      "['ann', 'bob']",
      "user: go 49\n\n\ncat: cat25\n\n\nuser: on\n\n",
    ]);
    // Ann had not heard anything yet: she reads the thread, the selector its window.
    expect(read.toSorted((a, b) => a - b)).toEqual([2, 100]);
  });
});
