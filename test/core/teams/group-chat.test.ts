import { describe, expect, test } from "vitest";
import {
  GroupChat,
  MaxMessageTermination,
  TurnSignal,
  createMessage,
  run,
  type GroupChatOptions,
} from "troupe";
import type {
  AgentEvent,
  Decision,
  GroupChatManager,
  GroupChatView,
  JsonObject,
  SelectorEvent,
  Spoken,
  Stop,
  TurnContext,
} from "troupe";
import { StateTree } from "#core/state/state-tree.ts";
import { lines, ORIGIN, speaker, TestAgent, text } from "../support/agents.ts";

type Traits = Pick<GroupChatManager, "orchestrates" | "finished" | "children">;

/** A manager whose decisions are given, in order. */
class Script implements GroupChatManager {
  readonly name = "Script";
  readonly calls: string[] = [];
  readonly #decisions: Decision[];
  #next = 0;

  constructor(decisions: Decision[], traits: Traits = {}) {
    this.#decisions = decisions;
    Object.assign(this, traits);
  }

  observe(spoken: readonly Spoken[], { thread }: GroupChatView): void {
    for (const { name, messages } of spoken) {
      this.calls.push(`${name ?? "task"} said ${lines(messages).join(", ")} (${thread.length})`);
    }
  }

  async *decide(
    _view: GroupChatView,
    ctx: TurnContext,
  ): AsyncGenerator<AgentEvent, Decision, void> {
    const decision = this.#decisions[this.#next++];
    if (decision === undefined) throw new Error("the script is over");
    const content = await ctx.step("choose", () => Promise.resolve(decision.kind));
    yield createMessage<SelectorEvent>(ctx, { type: "SelectorEvent", source: this.name, content });
    return decision;
  }

  onStop(): void {
    this.calls.push("stopped");
  }

  reset(): void {
    this.#next = 0;
  }

  saveState(): JsonObject {
    return { next: this.#next, troupe: { own: true } };
  }

  loadState(state: JsonObject): void {
    this.#next = Number(state.next);
  }

  head(): number {
    return this.#next;
  }

  loadHead(head: number): void {
    this.#next = head;
  }
}

class ScriptedChat extends GroupChat {
  readonly definition = {
    provider: "test.ScriptedChat",
    componentType: "team",
    role: "team",
    version: 1,
  } as const;
  readonly script: Script;

  constructor(agents: TestAgent[], script: Script, options: GroupChatOptions = {}) {
    super(agents, script, { ...options, name: "chat", description: "A chat for a test." });
    this.script = script;
  }
}

const speak = (...speakers: string[]): Decision => ({ kind: "speak", speakers });
const stop: Decision = { kind: "stop", stop: { content: "enough", source: "Script" } };

describe("a manager", () => {
  test("stops the chat, and its last message reaches all participants", async () => {
    const [ann, bob] = [new TestAgent("ann"), new TestAgent("bob")];
    const script = new Script([
      { ...speak("ann"), say: [text("Script", "ann, begin", ORIGIN)] },
      speak("bob"),
      { ...stop, say: [text("Script", "the end", ORIGIN)] },
    ]);
    const result = await run(new ScriptedChat([ann, bob], script), { task: "go" });
    expect(lines(result.messages)).toEqual([
      "user: go",
      "Script: speak",
      "Script: ann, begin",
      "ann: ann1",
      "Script: speak",
      "bob: bob1",
      "Script: stop",
      "Script: the end",
    ]);
    expect(result.stop_reason).toBe("enough");
    expect(ann.heard).toEqual([["go", "ann, begin"]]);
    expect(bob.heard).toEqual([["go", "ann, begin", "ann1"]]);
    expect(script.calls).toEqual([
      "task said user: go (1)",
      "ann said ann: ann1 (3)",
      "bob said bob: bob1 (4)",
    ]);
  });

  test("plans in a turn of its own and starts the chat over", async () => {
    const ann = new TestAgent("ann");
    const script = new Script([
      speak("ann"),
      { kind: "again", resetParticipants: true, say: [text("Script", "the plan", ORIGIN)] },
      speak("ann"),
      stop,
    ]);
    const chat = new ScriptedChat([ann], script, { maxTurns: 3 });
    await run(chat, { task: "go" });
    expect(ann.calls).toEqual(["reset"]);
    expect(ann.heard).toEqual([["go"], ["the plan"]]);
    const { agent_states } = chat.saveState() as { agent_states: { [name: string]: JsonObject } };
    expect(lines(agent_states.Script?.message_thread as never)).toEqual([
      "Script: the plan",
      "ann: ann1",
    ]);
    expect(agent_states.Script?.troupe).toEqual({ own: true });
  });

  test("lets several speak side by side; thread and conditions have the order of selection", async () => {
    const order: string[] = [];
    let release = (): void => {};
    const bobSpoke = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ann = speaker("ann", async () => {
      await bobSpoke;
      order.push("ann");
      return "slow";
    });
    const bob = speaker("bob", () => {
      order.push("bob");
      release();
      return "quick";
    });
    const script = new Script([speak("ann", "bob"), speak("ann", "bob")]);
    const chat = new ScriptedChat([ann, bob], script, {
      terminationCondition: new MaxMessageTermination(5),
    });
    const result = await run(chat, { task: "go" });
    expect(order).toEqual(["bob", "ann", "bob", "ann"]);
    expect(result.stop_reason).toContain("current message count: 5");
    expect(script.calls.slice(1, 3)).toEqual(["ann said ann: slow (3)", "bob said bob: quick (3)"]);
    expect(ann.heard).toEqual([["go"], ["quick"]]);
    expect(bob.heard).toEqual([["go"], ["slow"]]);
  });

  test("an unknown speaker fails the run, an empty choice ends it", async () => {
    const chat = (decision: Decision) =>
      new ScriptedChat([new TestAgent("ann")], new Script([decision]));
    await expect(run(chat(speak("zoe")))).rejects.toMatchObject({ code: "unknown_speaker" });
    expect((await run(chat(speak()))).stop_reason).toBe("The group chat is stopped.");
  });

  test("may be over by itself before the conditions are asked", async () => {
    let over: Stop | undefined;
    const script = new Script([speak("ann"), speak("ann")], { finished: () => over });
    const ann = speaker("ann", () => {
      over = { content: "complete", source: "Script" };
      return "done";
    });
    const chat = new ScriptedChat([ann], script, {
      terminationCondition: new MaxMessageTermination(2),
    });
    expect((await run(chat, { task: "go" })).stop_reason).toBe("complete");
    expect(script.calls.at(-1)).toBe("stopped");
    over = undefined;
    expect((await run(chat)).messages).toHaveLength(2);
  });

  test("may keep the task to itself and events out of the thread", async () => {
    const ann = new TestAgent("ann", async function* (_heard, ctx) {
      const thought: AgentEvent = { ...text("ann", "hm", ctx), type: "ThoughtEvent" };
      yield thought;
      return { chatMessage: text("ann", "well", ctx), innerMessages: [thought] };
    });
    const script = new Script([speak("ann"), speak("ann")], {
      orchestrates: true,
    });
    const chat = new ScriptedChat([ann], script, {
      terminationCondition: new MaxMessageTermination(3, { includeAgentEvent: true }),
    });
    const { messages, stop_reason } = await run(chat, { task: "go" });
    expect(stop_reason).toContain("current message count: 4");
    expect(messages).toHaveLength(7);
    const { agent_states } = chat.saveState() as { agent_states: { [name: string]: JsonObject } };
    expect(lines(agent_states.Script?.message_thread as never)).toEqual(["ann: well", "ann: well"]);
    expect(script.calls[0]).toBe("task said user: go (0)");
    expect(ann.heard).toEqual([[], []]);
  });

  test("may count turns itself", async () => {
    const script = new Script([speak("ann"), speak("ann"), stop], { orchestrates: true });
    const chat = new ScriptedChat([new TestAgent("ann")], script, { maxTurns: 1 });
    expect((await run(chat, { task: "go" })).stop_reason).toBe("enough");
  });

  test("has further fields, which are saved, too", () => {
    const context = new TestAgent("context");
    const script = new Script([], { children: () => ({ context }) });
    const tree = new StateTree(new ScriptedChat([new TestAgent("ann")], script));
    context.loadState({ replies: 3 });
    expect(tree.changes().heads).toEqual([{ path: "Script/context", value: { replies: 3 } }]);
  });
});

describe("a participant that fails", () => {
  test("fails the run with its own error after the others have ended", async () => {
    const done: string[] = [];
    const failing = speaker("failing", () => Promise.reject(new Error("out of order")));
    const other = speaker("other", async (_heard, ctx) => {
      try {
        for (let index = 0; ; index++) await ctx.step(`${index}`, () => Promise.resolve("busy"));
      } catch (error) {
        done.push(error instanceof TurnSignal ? error.kind : "no signal");
        throw error;
      }
    });
    const chat = new ScriptedChat([failing, other], new Script([speak("failing", "other")]));
    await expect(run(chat, { task: "go" })).rejects.toThrow("out of order");
    expect(done).toEqual(["halt"]);
  });
});
