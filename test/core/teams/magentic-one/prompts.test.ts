import { describe, expect, test } from "vitest";
import {
  Catalog,
  ComponentRegistry,
  coreComponents,
  dumpComponent,
  type JsonObject,
  MagenticOneGroupChat,
  run,
  ValueError,
} from "troupe";
import { isFinalAnswerTemplate } from "#core/teams/magentic-one/prompts-config.ts";
import { hash64 } from "#core/hash.ts";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { lines, TestAgent } from "../../support/agents.ts";
import { ledger, ledgerObject } from "../../support/ledger.ts";

const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));

const model = (...replies: string[]): JsonObject => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  config: { chat_completions: replies },
});

const assistant = (name: string): JsonObject => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name,
    description: `${name} helps.`,
    model_client: model("yes"),
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
  },
});

const component = (config: JsonObject = {}): JsonObject => ({
  provider: "autogen_agentchat.teams.MagenticOneGroupChat",
  config: {
    participants: [assistant("ann")],
    model_client: model("F", "P", ledger({ satisfied: true }), "A"),
    max_stalls: 3,
    final_answer_prompt: "Answer {task}!",
    ...config,
  },
});

describe("Troupe's own prompts", () => {
  /** What the model is asked in a run that plans twice, with our own prompts. */
  async function asked(): Promise<string[]> {
    const client = new ScriptedChatCompletionClient([
      "FACTS-1",
      "PLAN-1",
      ledger({ progress: false }),
      "FACTS-2",
      "PLAN-2",
      ledger({ satisfied: true }),
      "ANSWER",
    ]);
    const team = new MagenticOneGroupChat([new TestAgent("ann"), new TestAgent("bob")], {
      modelClient: client,
      maxStalls: 1,
    });
    const { messages } = await run(team, { task: "THE-TASK" });
    const requests = client.requests.map(({ messages: sent }) => {
      const content = sent.at(-1)?.content;
      return typeof content === "string" ? content : "";
    });
    return [...requests, ...lines(messages).slice(1, -1)];
  }

  test("contain the facts that the model and the team need in each step, and leave no placeholder", async () => {
    const [facts, plan, progress, newFacts, newPlan, , answer, told, toldAgain] = await asked();
    const team = "ann: ann is made for a test.\nbob: bob is made for a test.";
    expect(facts).toContain("THE-TASK");
    expect(plan).toContain(team);
    for (const part of ["THE-TASK", team, "ann, bob", ...Object.keys(ledgerObject())]) {
      expect(progress).toContain(part);
    }
    expect(newFacts).toContain("THE-TASK");
    expect(newFacts).toContain("FACTS-1");
    expect(newPlan).toContain(team);
    for (const part of ["THE-TASK", team, "FACTS-1", "PLAN-1"]) expect(told).toContain(part);
    for (const part of ["THE-TASK", team, "FACTS-2", "PLAN-2"]) expect(toldAgain).toContain(part);
    for (const text of await asked()) {
      expect(text).not.toMatch(/\{(task|team|facts|plan|names)\}|\{\{|\}\}\}/);
    }
    expect(answer).toBeDefined();
  });

  test("show the model a ledger of the form it must have", async () => {
    const [, , progress = ""] = await asked();
    const example = progress.slice(progress.indexOf("{"), progress.lastIndexOf("}") + 1);
    const filled = example.replaceAll("true or false", "true");
    expect(Object.keys(JSON.parse(filled) as object)).toEqual(Object.keys(ledgerObject()));
  });
});

describe("the prompts of component JSON", () => {
  const prompts = {
    task_ledger_facts: "{task}? {{}}",
    task_ledger_full: "{team} {names} {plan} {facts}",
  };

  test("replace Troupe's, one by one, and are dumped unchanged", async () => {
    const json = component({ orchestrator_prompts: prompts });
    const team = registry.load<MagenticOneGroupChat>(json, "team");
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages)[1]).toBe("MagenticOneOrchestrator: ann: ann helps. ann P F");
    expect(dumpComponent(team).config).toMatchObject({
      max_stalls: 3,
      final_answer_prompt: "Answer {task}!",
      orchestrator_prompts: prompts,
    });
    expect(dumpComponent(team).config).not.toHaveProperty("max_turns");
    const again = registry.load<MagenticOneGroupChat>(dumpComponent(team), "team");
    expect(dumpComponent(again)).toEqual(dumpComponent(team));
  });

  test("are not dumped if they are Troupe's", () => {
    const team = registry.load<MagenticOneGroupChat>(component(), "team");
    expect(dumpComponent(team).config).not.toHaveProperty("orchestrator_prompts");
  });

  test("are refused if they mention unknown placeholders, each by name", () => {
    const bad = {
      ...prompts,
      progress_ledger: '{"is_in_loop": true}',
      task_ledger_plan: "{crew}",
    };
    const issues = registry.validate(component({ orchestrator_prompts: bad }), "team");
    expect(issues.map(({ path }) => path)).toEqual([
      "component.config.orchestrator_prompts.task_ledger_plan",
      "component.config.orchestrator_prompts.progress_ledger",
    ]);
    expect(issues[0]?.message).toContain('there is no "crew", only {task}, {team}');
    const make = () =>
      new MagenticOneGroupChat([new TestAgent("ann")], {
        modelClient: new ScriptedChatCompletionClient([]),
        orchestratorPrompts: { taskLedgerFull: "{" },
      });
    expect(make).toThrow(ValueError);
  });

  test.each([
    ["participants[0]", { participants: [component()] }],
    ["final_answer_prompt", { final_answer_prompt: null }],
    ["max_stalls", { max_stalls: 1.5 }],
    ["model_client", { model_client: assistant("bob") }],
  ])("are refused at the place of another fault: %s", (place, config) => {
    const [issue] = registry.validate(component(config), "team");
    expect(issue?.path).toContain(`component.config.${place}`);
  });
});

describe("the prompt for the final answer", () => {
  test("is sent unchanged", async () => {
    const client = new ScriptedChatCompletionClient(["f", "p", ledger({ satisfied: true }), "x"]);
    const team = new MagenticOneGroupChat([new TestAgent("ann")], {
      modelClient: client,
      finalAnswerPrompt: "Answer {task} {{now}}",
    });
    await run(team, { task: "go" });
    expect(client.requests[3]?.messages.at(-1)?.content).toBe("Answer {task} {{now}}");
  });

  test("is a template if it is AutoGen's own, which its hash identifies", () => {
    expect(isFinalAnswerTemplate("Answer {task}")).toBe(false);
    // The hash of another text, to notice when hashes come out otherwise.
    expect(hash64("Answer {task}")).toBe("9e6fb77959608134");
  });
});
