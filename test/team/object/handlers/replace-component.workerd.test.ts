import { describe, expect, test } from "vitest";
import type { ChatMessage, ComponentModel, JsonObject, Message } from "troupe";
import { assistant, replaying } from "../../support/assistants.ts";
import { agent, counter, roundRobin, TestTeam, texts, value } from "../../support/team.ts";

function contents(messages: readonly Message[]): unknown[] {
  return messages.map((message) => "content" in message && message.content);
}

/** An agent that says all it was ever told and said. */
function parrot(name: string): ComponentModel {
  return agent(name, async function* (self, _ctx, messages: readonly ChatMessage[]) {
    yield* [];
    return [...self.said.slice(), ...contents(messages)].join("+");
  });
}

async function state(team: TestTeam): Promise<TeamState> {
  return value(await team.gateway.saveState()) as unknown as TeamState;
}

interface TeamState {
  agent_states: Record<string, { agent_state: JsonObject; message_thread: Message[] }>;
}

const MANAGERS: Record<string, string> = {
  round_robin: "RoundRobinGroupChatManager",
  selector: "SelectorGroupChatManager",
  swarm: "SwarmGroupChatManager",
  magentic: "MagenticOneOrchestrator",
  graph: "GraphManager",
};

/** A team of each kind whose run is one turn of one of its members. */
function kinds(members: readonly ComponentModel[]): Record<string, ComponentModel> {
  const common = { participants: members as never, max_turns: 1 };
  const ledger = (answer: boolean): string =>
    JSON.stringify({
      is_request_satisfied: { reason: "", answer },
      is_in_loop: { reason: "", answer: false },
      is_progress_being_made: { reason: "", answer: true },
      next_speaker: { reason: "", answer: "a" },
      instruction_or_question: { reason: "", answer: "Speak." },
    });
  const round = ["facts", "plan", ledger(false), ledger(true), "done"];
  return {
    round_robin: { provider: "RoundRobinGroupChat", config: common },
    selector: {
      provider: "SelectorGroupChat",
      config: {
        ...common,
        model_client: replaying(["a", "b", "a", "b"]),
        selector_prompt: "{roles} {participants} {history}",
        allow_repeated_speaker: false,
      },
    },
    swarm: { provider: "Swarm", config: common },
    magentic: {
      provider: "MagenticOneGroupChat",
      config: {
        participants: members as never,
        model_client: replaying([...round, ...round]),
        max_stalls: 3,
        final_answer_prompt: "Answer.",
      },
    },
    graph: {
      provider: "GraphFlow",
      config: {
        ...common,
        graph: {
          nodes: {
            a: { name: "a", edges: [{ target: "b" }], activation: "all" },
            b: { name: "b", edges: [], activation: "all" },
          },
        },
      },
    },
  };
}

const ANSWERS = ["one", "two", "three", "four"];

describe("a team of another kind", () => {
  const members = [assistant("a", ANSWERS), assistant("b", ANSWERS)];
  const all = kinds(members);

  test.for(Object.keys(all))("that was %s keeps thread and contexts", async (kind) => {
    const team = await TestTeam.create(all[kind]!);
    const first = await team.finished((await team.start("go")).id);
    expect(first).toMatchObject({ status: "completed", error: null });
    const before = await state(team);
    const thread = before.agent_states[MANAGERS[kind]!]!.message_thread;
    expect(thread.length).toBeGreaterThan(1);
    for (const [other, component] of Object.entries(all)) {
      const copy = await team.fork();
      value(await copy.gateway.replaceComponent(component));
      const after = await state(copy);
      for (const name of ["a", "b"]) {
        expect(after.agent_states[name], `${kind} to ${other}`).toMatchObject({
          agent_state: before.agent_states[name]!.agent_state,
        });
      }
      const events = other === "magentic" ? ["SelectSpeakerEvent", "ThoughtEvent"] : [];
      expect(after.agent_states[MANAGERS[other]!]!.message_thread).toEqual(
        thread.filter(({ type }) => !events.includes(type)),
      );
      await copy.evict();
      expect(await state(copy)).toEqual(after);
      const run = await copy.finished((await copy.start("go on")).id);
      expect(run, `${kind} to ${other}`).toMatchObject({ status: "completed", error: null });
      // An agent that spoke before continues with the next answer; the same client is at the same place.
      const said = (run.result?.messages ?? []).filter(
        ({ source }) => source === "a" || source === "b",
      );
      for (const message of said) {
        const earlier = thread.filter(({ source }) => source === message.source).length;
        expect(contents([message])).toEqual([ANSWERS[earlier]]);
      }
    }
  });
});

describe("another component", () => {
  test("takes over the state where it fits", async () => {
    const first = parrot("a");
    const team = await TestTeam.create(roundRobin([first], 1));
    await team.finished((await team.start("1")).id);
    const changed = value(await team.gateway.replaceComponent(roundRobin([first], 2)));
    expect(changed.component_version).toBe(2);
    await team.evict();
    expect(texts(await team.finished((await team.start("2")).id))).toEqual(["2", "1+2", "1+1+2"]);

    const strangers = await team.gateway.replaceComponent(roundRobin([parrot("z")], 1));
    expect(strangers).toMatchObject({ ok: false, problem: { status: 422 } });
    expect(value(await team.gateway.team()).component_version).toBe(2);
    expect(await team.gateway.replaceComponent({ provider: "nobody", config: {} })).toMatchObject({
      ok: false,
      problem: { status: 422, code: "component_unknown_provider" },
    });
  });

  test("is the one whose version later runs show, also in the lists and after a restart", async () => {
    const team = await TestTeam.create(roundRobin([parrot("a")], 1));
    const first = await team.finished((await team.start("1")).id);
    value(await team.gateway.replaceComponent(roundRobin([parrot("a")], 2)));
    const second = await team.finished((await team.start("2")).id);
    expect([first, second].map((run) => run.component_version)).toEqual([1, 2]);
    await team.evict();
    const { runs } = value(await team.gateway.runs({ limit: 10 }));
    expect(runs.map((run) => run.component_version)).toEqual([2, 1]);
  });

  test("is refused where it would lose a part of the state", async () => {
    const team = await TestTeam.create(roundRobin([counter("a"), counter("b")], 2));
    const component = value(await team.gateway.team()).component;
    await team.finished((await team.start("go")).id);
    const saved = value(await team.gateway.saveState());
    const refused = (path: string): object => ({
      ok: false,
      problem: { status: 422, code: "invalid_state", errors: [{ path }] },
    });
    expect(await team.gateway.replaceComponent(roundRobin([counter("a")], 2))).toMatchObject(
      refused("agent_states.b"),
    );
    expect(await team.gateway.replaceComponent(counter("a"))).toMatchObject({
      ok: false,
      problem: { status: 422, code: "invalid_state" },
    });
    expect(value(await team.gateway.team())).toMatchObject({ component, component_version: 1 });
    expect(value(await team.gateway.saveState())).toEqual(saved);
  });

  test("is refused where it would replace another version than the one that was changed", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 1));
    const [mine, theirs] = [roundRobin([counter("a")], 2), roundRobin([counter("a")], 3)];
    const both = await Promise.all(
      [theirs, mine].map((component) =>
        team.gateway.replaceComponent(component, { versions: ["1"] }),
      ),
    );
    expect(both[0]).toMatchObject({ ok: true, value: { component_version: 2 } });
    expect(both[1]).toMatchObject({
      ok: false,
      problem: { status: 412, code: "component_replaced", extra: { component_version: 2 } },
    });
    const { component } = value(await team.gateway.team());
    expect(component.config).toMatchObject({ max_turns: 3 });

    // A request whose answer was lost finds that it was carried out.
    expect(value(await team.gateway.replaceComponent(theirs, { versions: ["1"] }))).toMatchObject({
      component,
      component_version: 2,
    });
    expect(
      value(await team.gateway.replaceComponent(mine, { versions: ["2"] })).component_version,
    ).toBe(3);
  });

  test("keeps the state of agents that do not speak for a while", async () => {
    const team = await TestTeam.create(roundRobin([parrot("a"), parrot("b")], 2));
    await team.finished((await team.start("1")).id);
    value(await team.gateway.replaceComponent(roundRobin([parrot("a"), parrot("b")], 1)));
    // In the same instance: what replaced the state is what continues.
    expect(texts(await team.finished((await team.start("2")).id))).toEqual(["2", "1+1+1+2"]);
    const saved = value(await team.gateway.saveState());
    await team.evict();
    expect(value(await team.gateway.saveState())).toEqual(saved);
    expect(texts(await team.finished((await team.start("3")).id))).toEqual([
      "3",
      "1+1+2+1+1+1+2+3",
    ]);
  });

  test("keeps nothing of the conversation for new agents", async () => {
    const team = await TestTeam.create(roundRobin([parrot("a")], 1));
    await team.finished((await team.start("1")).id);
    value(await team.gateway.replaceComponent(roundRobin([parrot("a"), parrot("b")], 2)));
    expect(texts(await team.finished((await team.start("2")).id))).toEqual(["2", "1+2", "2+1+2"]);
  });

  test("may omit agents that have nothing to lose, and any agent after a reset", async () => {
    const human: ComponentModel = { provider: "UserProxyAgent", config: { name: "human" } };
    const [a, b, c] = [counter("a"), counter("b"), counter("c")];
    const team = await TestTeam.create(roundRobin([a, b, human, c], 2));
    await team.finished((await team.start("go")).id);
    const refused = await team.gateway.replaceComponent(roundRobin([c], 1));
    expect(refused).toMatchObject({
      problem: {
        status: 422,
        code: "invalid_state",
        errors: [
          { path: "agent_states.a", message: "has no place in the component" },
          { path: "agent_states.b", message: "has no place in the component" },
        ],
      },
    });
    value(await team.gateway.replaceComponent(roundRobin([a, b], 2)));
    value(await team.gateway.reset());
    value(await team.gateway.replaceComponent(roundRobin([c], 1)));
    value(await team.gateway.replaceComponent(counter("d")));
    expect(texts(await team.finished((await team.start("go")).id))).toEqual(["go", "d 1"]);
  });

  test("may not omit memories, which a reset keeps", async () => {
    const knowing = (facts: readonly string[]): JsonObject => ({
      provider: "ListMemory",
      config: {
        memory_contents: facts.map((content) => ({ content, mime_type: "text/plain" })),
      },
    });
    const remembering = (config: JsonObject, answers = ["one"]): ComponentModel =>
      roundRobin([assistant("a", answers, config)], 1);
    const team = await TestTeam.create(remembering({ memory: [knowing(["the first"])] }));
    await team.finished((await team.start("go")).id);
    value(await team.gateway.reset());
    // What came with the component may go with it.
    value(await team.gateway.replaceComponent(remembering({})));
    value(await team.gateway.replaceComponent(remembering({ memory: [knowing([])] })));
    const told = JSON.stringify(value(await team.gateway.saveState())).replace(
      '"memory_contents":[]',
      '"memory_contents":[{"content":"the second","mime_type":"text/plain"}]',
    );
    value(await team.gateway.loadState(JSON.parse(told)));
    value(await team.gateway.reset());
    expect(await team.gateway.replaceComponent(remembering({}))).toMatchObject({
      problem: { errors: [{ path: "agent_states.a.agent_state.memory-0" }] },
    });
    value(await team.gateway.replaceComponent(remembering({ memory: [knowing([])] }, ["two"])));
    expect(JSON.stringify(value(await team.gateway.saveState()))).toContain("the second");
  });

  test("begins changed conditions and limits again, and continues with those that stay", async () => {
    const ends = (messages: number, max_turns?: number): ComponentModel => ({
      provider: "RoundRobinGroupChat",
      config: {
        participants: [assistant("a", ["a1", "a2", "a3", "a4", "a5"])] as never,
        termination_condition: {
          provider: "MaxMessageTermination",
          config: { max_messages: messages },
        },
        ...(max_turns && { max_turns }),
      },
    });
    const team = await TestTeam.create(ends(4));
    await team.finished((await team.start("go")).id);
    // In the middle of a run: three of four messages are said.
    const middle = await team.fork(3);
    const said = async (component: ComponentModel): Promise<unknown[]> => {
      const copy = await middle.fork();
      value(await copy.gateway.replaceComponent(component));
      return texts(await copy.finished((await copy.start(null)).id));
    };
    expect(await said(ends(4))).toEqual(["a3"]);
    expect(await said(ends(2))).toEqual(["a3", "a4"]);
    expect(await said(ends(4, 9))).toEqual(["a3"]);
    expect(await said(ends(3, 1))).toEqual(["a3"]);
    expect(await said(ends(9, 2))).toEqual(["a3", "a4"]);
  });

  test("keeps the position of a replay client that stays, not of another", async () => {
    const team = await TestTeam.create(roundRobin([assistant("a", ["a1", "a2"])], 1));
    await team.finished((await team.start("go")).id);
    const said = async (component: ComponentModel): Promise<unknown[]> => {
      const copy = await team.fork();
      value(await copy.gateway.replaceComponent(roundRobin([component], 1)));
      return texts(await copy.finished((await copy.start(null)).id));
    };
    expect(await said(assistant("a", ["a1", "a2"], { system_message: "Changed." }))).toEqual([
      "a2",
    ]);
    expect(await said(assistant("a", ["x1", "x2"]))).toEqual(["x1"]);
  });

  test("keeps contexts of another kind or size, memories and tools' states", async () => {
    const helper = assistant("helper", ["h1", "h2"]);
    const tool = (agent_: ComponentModel): ComponentModel => ({
      provider: "AgentTool",
      config: { agent: agent_ },
    });
    const boss = (config: JsonObject): ComponentModel => {
      const call = {
        finish_reason: "function_calls",
        content: [{ id: "1", name: "helper", arguments: '{"task":"help"}' }],
        usage: { prompt_tokens: 0, completion_tokens: 0 },
        cached: false,
      };
      return assistant("boss", [call, "b2"], {
        tools: [tool(helper)] as never,
        memory: [{ provider: "ListMemory", config: { memory_contents: [] } }] as never,
        ...config,
      });
    };
    const team = await TestTeam.create(roundRobin([boss({})], 1));
    expect(await team.finished((await team.start("go")).id)).toMatchObject({ status: "completed" });
    const before = await state(team);
    const own = before.agent_states["boss"]!.agent_state;
    expect(JSON.stringify(own["troupe"])).toContain("h1");
    const attempt = async (config: JsonObject): Promise<TestTeam | JsonObject> => {
      const copy = await team.fork();
      const replaced = await copy.gateway.replaceComponent(roundRobin([boss(config)], 1));
      return replaced.ok ? copy : (replaced.problem.errors as never);
    };
    for (const context of [
      { provider: "BufferedChatCompletionContext", config: { buffer_size: 2 } },
      { provider: "UnboundedChatCompletionContext", config: {} },
    ]) {
      const copy = (await attempt({ model_context: context as never })) as TestTeam;
      expect((await state(copy)).agent_states["boss"]!.agent_state).toEqual(own);
      expect(texts(await copy.finished((await copy.start(null)).id))).toEqual(["b2"]);
    }
    expect(await attempt({ tools: [] })).toEqual([
      {
        path: "agent_states.boss.agent_state.workbench-0",
        message: "has no place in the component",
      },
    ]);
    // A memory that is still empty is not a loss.
    expect(await attempt({ memory: [] })).toBeInstanceOf(TestTeam);
  });

  test("is compared inside inner teams, too", async () => {
    const inner = (members: readonly ComponentModel[], name = "inner"): ComponentModel => {
      const team = roundRobin(members, 1);
      return { ...team, config: { ...team.config, name } };
    };
    const [a, b] = [parrot("a"), counter("b")];
    const team = await TestTeam.create(roundRobin([inner([a, b])], 2));
    await team.finished((await team.start("1")).id);
    expect(await team.gateway.replaceComponent(roundRobin([inner([b])], 1))).toMatchObject({
      problem: { errors: [{ path: "agent_states.inner.agent_state.agent_states.a" }] },
    });
    expect(
      await team.gateway.replaceComponent(roundRobin([inner([a, b], "other")], 1)),
    ).toMatchObject({ problem: { errors: [{ path: "agent_states.inner" }] } });
    const before = await state(team);
    value(await team.gateway.replaceComponent(roundRobin([inner([b, a, counter("c")])], 1)));
    const after = await state(team);
    const members = (of: TeamState): unknown =>
      of.agent_states["inner"]!.agent_state["agent_states"];
    expect(members(after)).toMatchObject({
      a: (members(before) as JsonObject)["a"] as never,
      b: (members(before) as JsonObject)["b"] as never,
    });
  });

  test("is refused with another class for an agent that has said something", async () => {
    const team = await TestTeam.create(roundRobin([counter("a"), counter("b")], 1));
    await team.finished((await team.start("go")).id);
    const others = [assistant("a", ["a1"]), assistant("b", ["b1"])];
    expect(await team.gateway.replaceComponent(roundRobin(others, 1))).toMatchObject({
      problem: {
        errors: [
          {
            path: "agent_states.a.agent_state.type",
            message: 'is "ScriptedAgentState"; it must be "AssistantAgentState"',
          },
        ],
      },
    });
  });

  test("writes the changed parts, not the conversation", async () => {
    const long = "x".repeat(100_000);
    const team = await TestTeam.create(
      roundRobin(
        [
          assistant(
            "a",
            Array.from({ length: 10 }, () => long),
            {},
          ),
        ],
        10,
      ),
    );
    await team.finished((await team.start("go")).id);
    const turn = value(await team.gateway.team()).turn + 1;
    value(
      await team.gateway.replaceComponent(
        roundRobin([assistant("a", [long, "end"], { system_message: "Changed." })], 1),
      ),
    );
    expect(await team.sql(`select path from log where turn = ${turn}`)).toEqual([]);
    await team.evict();
    expect(texts(await team.finished((await team.start(null)).id))).toEqual([long]);
    expect(
      (await state(team)).agent_states["RoundRobinGroupChatManager"]!.message_thread,
    ).toHaveLength(12);
  });
});
