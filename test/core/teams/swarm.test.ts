import { describe, expect, test } from "vitest";
import {
  AssistantAgent,
  HandoffTermination,
  MaxMessageTermination,
  RoundRobinGroupChat,
  Swarm,
  TextMentionTermination,
  UserProxyAgent,
  createMessage,
  reset,
  run,
  type Task,
} from "troupe";
import type {
  ChatMessage,
  GroupChatOptions,
  HandoffMessage,
  JsonObject,
  Message,
  AgentResponse,
  Team,
  TurnContext,
} from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { StateTree } from "#core/state/state-tree.ts";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { lines, TestAgent, text } from "../support/agents.ts";
import { outcome, RecordingHost } from "../support/recording-host.ts";

const DONE = new TextMentionTermination("DONE");

/** An agent that says these things one after the other; `>bob` hands over to bob. */
class Clerk extends TestAgent {
  override readonly producedMessageTypes = ["TextMessage", "HandoffMessage"];
  #said = 0;

  readonly #says: readonly string[];

  constructor(name: string, ...says: readonly string[]) {
    super(name);
    this.#says = says;
  }

  // oxlint-disable-next-line require-yield
  override async *onMessagesStream(
    _heard: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const content = this.#says[this.#said++] ?? "DONE";
    const target = content.slice(1);
    const chatMessage = content.startsWith(">")
      ? createMessage<HandoffMessage>(ctx, {
          type: "HandoffMessage",
          source: this.name,
          content: `over to ${target}`,
          target,
          context: [],
        })
      : text(this.name, content, ctx);
    return { chatMessage, innerMessages: null };
  }

  override saveState(): JsonObject {
    return { said: this.#said };
  }

  override loadState(state: JsonObject): void {
    this.#said = Number(state["said"]);
  }
}

const handoff = (target: string, content = "yours"): Task => ({
  type: "HandoffMessage",
  source: "user",
  target,
  content,
});

async function said(team: Team, task: Task): Promise<string[]> {
  return lines((await run(team, { task, outputTaskMessages: false })).messages);
}

describe("a swarm", () => {
  test("follows handoffs, and the present member keeps its turn without one", async () => {
    const team = new Swarm([new Clerk("ann", "hm", ">bob"), new Clerk("bob", "well", "DONE")], {
      terminationCondition: DONE,
    });
    expect(await said(team, "go")).toEqual([
      "ann: hm",
      "ann: over to bob",
      "bob: well",
      "bob: DONE",
    ]);
  });

  test("ends when an outsider is named, and is resumed only by a handoff to a member", async () => {
    const team = new Swarm([new Clerk("ann", ">bob"), new Clerk("bob", ">user", "DONE")], {
      terminationCondition: new HandoffTermination("user").or(DONE),
    });
    const first = await run(team, { task: "go" });
    expect(first.stop_reason).toBe("Handoff to user from bob detected.");
    const refusal = { code: "invalid_task", message: expect.stringContaining("['ann', 'bob']") };
    await expect(said(team, "yes")).rejects.toMatchObject(refusal);
    await expect(said(team, null)).rejects.toMatchObject(refusal);
    await expect(said(team, handoff("user"))).rejects.toMatchObject({
      ...refusal,
      issues: [{ path: "task[0].target", message: expect.stringContaining("target user") }],
    });
    expect(await said(team, handoff("bob"))).toEqual(["bob: DONE"]);
    expect(await said(team, "more")).toEqual(["bob: DONE"]);
  });

  test("follows the last of several handoffs in a task", async () => {
    const team = new Swarm([new Clerk("ann"), new Clerk("bob")], { terminationCondition: DONE });
    const task = [handoff("ann"), handoff("bob")] as Task;
    expect(await said(team, task)).toEqual(["bob: DONE"]);
  });

  test("fails when no member has that name, and continues once a member is named", async () => {
    const team = new Swarm([new Clerk("ann", ">ghost", "DONE")], { terminationCondition: DONE });
    await expect(said(team, "go")).rejects.toMatchObject({
      code: "unknown_speaker",
      message: expect.stringMatching(/"ghost".*the participants are: ann/),
    });
    await expect(said(team, "go")).rejects.toMatchObject({ code: "invalid_task" });
    expect(await said(team, handoff("ann"))).toEqual(["ann: DONE"]);
  });

  test("follows the first handoff that its agent calls in parallel", async () => {
    const call = (name: string) => ({ id: "same", name: `transfer_to_${name}`, arguments: "{}" });
    const ann = new AssistantAgent({
      name: "ann",
      modelClient: new ScriptedChatCompletionClient([[call("bob"), call("cleo")]]),
      handoffs: ["bob", "cleo"],
    });
    const team = new Swarm([ann, new Clerk("cleo"), new Clerk("bob")], {
      terminationCondition: DONE,
    });
    expect((await said(team, "go")).at(-1)).toBe("bob: DONE");
  });

  test("begins with its first member again after a reset", async () => {
    const team = new Swarm([new Clerk("ann"), new Clerk("bob")], { terminationCondition: DONE });
    expect(await said(team, handoff("bob"))).toEqual(["bob: DONE"]);
    await reset(team);
    expect(await said(team, "go")).toEqual(["ann: DONE"]);
  });

  test("does not begin with an agent that cannot hand over", () => {
    expect(() => new Swarm([new TestAgent("ann"), new Clerk("bob")])).toThrow(
      expect.objectContaining({
        code: "invalid_value",
        issues: [{ path: "participants[0]", message: expect.stringContaining('"ann"') }],
      }),
    );
    expect(() => new Swarm([])).toThrow("at least one participant");
  });
});

describe("a swarm's state", () => {
  const make = () =>
    new Swarm([new Clerk("ann", ">bob", "DONE"), new Clerk("bob", "DONE", ">user")], {
      terminationCondition: DONE.or(new HandoffTermination("user")),
    });

  test("names the present member, in AutoGen's form", async () => {
    const team = make();
    expect(team.saveState()).toMatchObject({
      agent_states: { SwarmGroupChatManager: { current_speaker: "ann" } },
    });
    await run(team, { task: "go" });
    const state = team.saveState();
    expect(state).toMatchObject({
      agent_states: {
        SwarmGroupChatManager: { type: "SwarmManagerState", current_speaker: "bob" },
      },
    });
    const other = make();
    other.loadState(state);
    expect(other.saveState()).toEqual(state);
    expect(await said(other, "more")).toEqual(["bob: over to user"]);
  });

  test("takes the last handoff of the thread if AutoGen saved it", async () => {
    const team = make();
    await run(team, { task: "go" });
    const state = structuredClone(team.saveState()) as { agent_states: Record<string, JsonObject> };
    const manager = state.agent_states["SwarmGroupChatManager"]!;
    delete manager["troupe"];
    // AutoGen notes the speaker when it is chosen, which may be long after the handoff.
    manager["current_speaker"] = "ann";
    const other = make();
    other.loadState(state);
    expect(await said(other, "more")).toEqual(["bob: over to user"]);
  });

  test.each([{ current_speaker: 7 }, { troupe: { handoff: 7 } }])(
    "that does not fit is refused: %o",
    async (wrong) => {
      const team = make();
      await run(team, { task: "go" });
      const before = team.saveState();
      const state = structuredClone(before) as { agent_states: Record<string, JsonObject> };
      Object.assign(state.agent_states["SwarmGroupChatManager"]!, wrong);
      expect(() => team.loadState(state)).toThrow("SwarmGroupChatManager");
      expect(team.saveState()).toEqual(before);
    },
  );

  test("is rolled back with a turn that is given up", async () => {
    const team = make();
    const tree = new StateTree(team);
    const task = { messages: null, outputTaskMessages: false };
    const ctx = TurnScope.root(new InMemoryHost({}).turn(0));
    await outcome(team.begin(task, ctx.scope("0")));
    const before = team.saveState();
    await outcome(team.turn(ctx.scope("1")));
    await outcome(team.turn(ctx.scope("2")));
    expect(team.saveState()).toMatchObject({
      agent_states: { SwarmGroupChatManager: { current_speaker: "bob" } },
    });
    tree.rollback();
    expect(team.saveState()).toEqual(before);
  });
});

describe("a team in a swarm", () => {
  const inner = (
    members: readonly (TestAgent | UserProxyAgent)[],
    options: GroupChatOptions = {},
  ) =>
    new Swarm(members, {
      name: "office",
      terminationCondition: new HandoffTermination("ann").or(DONE),
      ...options,
    });

  test("gets handoffs by its name and hands over with its last message", async () => {
    const cleo = new Clerk("cleo", ">dan", "all fine", "DONE");
    const dan = new Clerk("dan", "looking", ">ann", ">cleo");
    const office = inner([cleo, dan]);
    const ann = new Clerk("ann", ">office", ">office", "DONE");
    const team = new Swarm([ann, office], { terminationCondition: DONE });
    expect(await said(team, "go")).toEqual([
      "ann: over to office",
      "cleo: over to dan",
      "dan: looking",
      "dan: over to ann",
      // The office continues with the agent that spoke last.
      "ann: over to office",
      "dan: over to cleo",
      "cleo: all fine",
      "cleo: DONE",
    ]);
    const copy = new Swarm([new Clerk("ann"), inner([new Clerk("cleo"), new Clerk("dan")])]);
    copy.loadState(team.saveState());
    expect(copy.saveState()).toMatchObject({
      agent_states: {
        SwarmGroupChatManager: { current_speaker: "office", troupe: { handoff: "office" } },
      },
    });
  });

  test("does not stop because of handoffs between others on the way to it", async () => {
    const office = inner([new Clerk("cleo", ">bob")], {
      terminationCondition: new HandoffTermination("bob"),
    });
    const ann = new Clerk("ann", ">bob");
    const bob = new Clerk("bob", ">office", "DONE");
    const team = new Swarm([ann, bob, office], {
      terminationCondition: DONE,
      emitTeamEvents: true,
    });
    expect((await said(team, "go")).filter((line) => line.startsWith("Swarm"))).toEqual([
      "SwarmGroupChatManager: ['ann']",
      "SwarmGroupChatManager: ['bob']",
      "SwarmGroupChatManager: ['office']",
      "SwarmGroupChatManager: ['bob']",
    ]);
  });

  test("forgets a handoff to a stranger from an earlier run, also if no run failed for it", async () => {
    const make = (maxTurns: number) => {
      const office = inner([new Clerk("cleo", "well")], { maxTurns: 1 });
      return new RoundRobinGroupChat([new Clerk("ann", ">nobody"), office], { maxTurns });
    };
    const team = make(1);
    expect(await said(team, "go")).toEqual(["ann: over to nobody"]);
    expect(await said(team, "more")).toEqual(["cleo: well"]);
    await expect(said(make(2), "go")).rejects.toThrow(/target nobody is not one/);
  });

  test("counts handoffs like any other message", async () => {
    const office = inner([new Clerk("cleo", "well", "so")], {
      terminationCondition: new MaxMessageTermination(4),
    });
    const ann = new Clerk("ann", ">bob", "DONE");
    const bob = new Clerk("bob", ">office");
    const team = new Swarm([ann, bob, office], { terminationCondition: DONE, maxTurns: 3 });
    expect(await said(team, "go")).toEqual([
      "ann: over to bob",
      "bob: over to office",
      "cleo: well",
    ]);
  });

  test("stays the present member when it ends without a handoff, whatever its members handed over", async () => {
    const office = inner([new Clerk("cleo", ">dan"), new Clerk("dan", "well", "so", "DONE")], {
      maxTurns: 2,
    });
    const team = new Swarm([office, new Clerk("ann")], { terminationCondition: DONE });
    expect(await said(team, "go")).toEqual([
      "cleo: over to dan",
      "dan: well",
      "dan: so",
      "dan: DONE",
    ]);
  });

  test("may be the first member", async () => {
    const office = inner([new Clerk("cleo", ">ann")]);
    const team = new Swarm([office, new Clerk("ann")], { terminationCondition: DONE });
    expect(await said(team, "go")).toEqual(["cleo: over to ann", "ann: DONE"]);
    expect(await said(team, handoff("office"))).toEqual(["cleo: DONE"]);
  });

  test("lets a human inside answer the agent that handed over, through any number of teams", async () => {
    const human = new UserProxyAgent({ name: "human" });
    const desk = new RoundRobinGroupChat([human], { name: "desk", maxTurns: 1 });
    const office = new RoundRobinGroupChat([desk], { name: "office", maxTurns: 1 });
    const team = new Swarm([new Clerk("ann", ">office", "DONE"), office], {
      terminationCondition: DONE,
    });
    const prompts: string[] = [];
    const { messages } = await run(team, {
      task: "go",
      answer: ({ prompt }) => {
        prompts.push(prompt);
        return Promise.resolve({ content: "blue" });
      },
    });
    expect(prompts).toEqual(["Handoff received from ann. Enter your response: "]);
    expect(messages.at(-2)).toMatchObject({ source: "human", content: "blue", target: "ann" });
    expect(messages.at(-1)).toMatchObject({ source: "ann", content: "DONE" });
  });
});

test("a turn that is interrupted at any step ends the same", async () => {
  const attempt = async (
    journal: RecordingHost,
    models: { calls: number },
    afterSteps = Infinity,
  ) => {
    const modelClient = () =>
      new ScriptedChatCompletionClient([
        ({ options: { tools = [] } }) => {
          models.calls++;
          const [tool] = tools;
          return tool ? [{ id: "c", name: tool.name, arguments: "{}" }] : "DONE";
        },
      ]);
    const office = new Swarm(
      [
        new AssistantAgent({ name: "cleo", modelClient: modelClient(), handoffs: ["dan"] }),
        new AssistantAgent({ name: "dan", modelClient: modelClient() }),
      ],
      { name: "office", terminationCondition: DONE },
    );
    const team = new Swarm([office], { terminationCondition: DONE });
    const turn = await outcome(team.turn(journal.attempt({ afterSteps })));
    return { ...turn, state: team.saveState() };
  };
  const calm = await attempt(new RecordingHost(), { calls: 0 });
  expect(lines(calm.items).at(-1)).toBe("dan: DONE");
  for (const afterSteps of [0, 1]) {
    const journal = new RecordingHost();
    const models = { calls: 0 };
    expect((await attempt(journal, models, afterSteps)).error).toMatchObject({
      kind: "superseded",
    });
    expect(await attempt(journal, models)).toEqual(calm);
    expect(models.calls).toBe(2);
  }
});
