import type { ComponentModel } from "../../../src/core/component/component.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { FunctionCall, LLMMessage } from "../../../src/core/models/llm-messages.ts";
import type { Effects } from "./effects.ts";
import { type ScriptedAgent, thought } from "./scripted-agent.ts";
import { agent, roundRobin } from "./team.ts";
import { type Mind, model } from "./test-model.ts";

/** A kind of team or agent, as a component whose effects a test has in hand. */
export interface Kind {
  name: string;
  component(effects: Effects): ComponentModel;
}

/** An agent of a test: thinks aloud, takes one step per answer and counts its answers. */
export function speaker(
  effects: Effects,
  name: string,
  say: (self: ScriptedAgent, heard: number) => string = (self, heard) =>
    `${name} ${self.answers + 1} after ${heard}`,
): ComponentModel {
  return agent(name, async function* (self, ctx, messages) {
    yield thought(name, ctx, `${name} thinks`);
    return ctx.step("work", async ({ idempotencyKey }) => {
      await effects.run(idempotencyKey);
      return say(self, messages.length);
    });
  });
}

/** An assistant; says how much it was asked with, unless its mind is another. */
export function assistant(
  effects: Effects,
  name: string,
  config: JsonObject = {},
  mind: Mind = (messages) => `${name} was told ${messages.length} things`,
): ComponentModel {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: `${name} helps.`,
      model_client: model(effects, mind),
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      ...config,
    },
  };
}

export function selector(effects: Effects, participants: ComponentModel[], maxTurns: number) {
  const names = participants.map(nameOf);
  const mind: Mind = ([question, ...feedback]) => {
    const said = textOf(question).match(/^\w+: /gm)?.length ?? 0;
    if (said === 2 && feedback.length === 0) return "nobody in particular";
    return `it is ${names[(said - 1) % names.length]} whom I choose`;
  };
  return component("SelectorGroupChat", {
    participants: [...participants],
    model_client: model(effects, mind),
    selector_prompt: "{history}",
    allow_repeated_speaker: false,
    model_client_streaming: true,
    emit_team_events: true,
    max_turns: maxTurns,
  });
}

export function swarm(participants: ComponentModel[], maxTurns: number): ComponentModel {
  return component("Swarm", { participants: [...participants], max_turns: maxTurns });
}

/** Hands over to each of `targets` in turn, and speaks in between where that is null. */
export function handsOver(targets: readonly (string | null)[]): Mind {
  return (messages) => {
    const answers = messages.filter(({ type }) => type === "AssistantMessage").length;
    const target = targets[answers] ?? null;
    return target === null ? `I stay after ${messages.length}` : call(`transfer_to_${target}`, {});
  };
}

/** Plans, has the first one work, finds that this does not get on, plans anew, has the second one work, and answers. */
export function magenticOne(
  effects: Effects,
  [first, second]: readonly [string, string],
  participants: readonly ComponentModel[],
): ComponentModel {
  const mind: Mind = (messages, place) => {
    const question = textOf(messages.at(-1));
    const anew = messages.some((message) => textOf(message).includes("new plan"));
    switch (question) {
      case "Facts?":
        return "the facts";
      case "Plan?":
        return "the plan";
      case "New facts?":
        return "the new facts";
      case "New plan?":
        return "the new plan";
      case "Answer?":
        return `the answer after ${messages.length}`;
    }
    // The first ledger of all cannot be read.
    if (!anew && messages.length === 2 && place.endsWith("ledger:0")) return "no ledger";
    const atEnd = messages.length > 2;
    return ledger({
      satisfied: anew && atEnd,
      progress: anew || !atEnd,
      next: anew ? second : first,
    });
  };
  return component("MagenticOneGroupChat", {
    participants: [...participants],
    model_client: model(effects, mind),
    max_stalls: 1,
    max_turns: 20,
    final_answer_prompt: "Answer?",
    orchestrator_prompts: {
      task_ledger_facts: "Facts?",
      task_ledger_plan: "Plan?",
      task_ledger_full: "{task} {facts} {plan}",
      progress_ledger: "Progress?",
      task_ledger_facts_update: "New facts?",
      task_ledger_plan_update: "New plan?",
    },
  });
}

function ledger(is: { satisfied: boolean; progress: boolean; next: string }): string {
  const entry = (answer: Json): Json => ({ reason: "it is so", answer });
  return JSON.stringify({
    is_request_satisfied: entry(is.satisfied),
    is_in_loop: entry(false),
    is_progress_being_made: entry(is.progress),
    next_speaker: entry(is.next),
    instruction_or_question: entry(`go on, ${is.next}`),
  });
}

/** Edges as `from>to`, `from>to:condition` or `from>to:condition:group`. */
export function graph(
  participants: ComponentModel[],
  edges: readonly string[],
  config: JsonObject = {},
): ComponentModel {
  const nodes: { [name: string]: { name: string; edges: JsonObject[] } } = {};
  for (const name of participants.map(nameOf)) {
    nodes[name] = { name, edges: [] };
  }
  for (const edge of edges) {
    const [ends = "", condition, group] = edge.split(":");
    const [from = "", target = ""] = ends.split(">");
    nodes[from]?.edges.push({
      target,
      ...(condition && { condition }),
      ...(group && { activation_group: group }),
    });
  }
  return component("GraphFlow", {
    participants: [...participants],
    graph: { nodes: nodes as unknown as Json },
    ...config,
  });
}

/** A wave of two, a join, and once around the loop. */
function loopingGraph(effects: Effects): ComponentModel {
  const judge = speaker(effects, "judge", ({ answers }) => (answers === 0 ? "again" : "done"));
  return graph(
    [
      assistant(effects, "start"),
      assistant(effects, "left", { model_client_stream: true }),
      speaker(effects, "right"),
      judge,
      assistant(effects, "last"),
    ],
    [
      "start>left",
      "start>right",
      "left>judge",
      "right>judge",
      "judge>left:again:loop",
      "judge>right:again:loop",
      "judge>last:done",
    ],
    { max_turns: 20 },
  );
}

export function named(team: ComponentModel, name: string): ComponentModel {
  return { ...team, config: { ...team.config, name } };
}

export function society(effects: Effects, name: string, team: ComponentModel): ComponentModel {
  const mind: Mind = (messages) => `${name} sums up ${messages.length}`;
  return component("SocietyOfMindAgent", {
    name,
    team: team,
    model_client: model(effects, mind),
  });
}

export function agentTool(subject: ComponentModel): ComponentModel {
  return component("AgentTool", { agent: subject, return_value_as_last_message: false });
}

export function teamTool(name: string, team: ComponentModel): ComponentModel {
  return component("TeamTool", {
    name,
    description: `The team ${name}.`,
    team: team,
    return_value_as_last_message: true,
  });
}

/** An assistant that answers everything by calling tools side by side, and then tells what came of it. */
export function boss(
  effects: Effects,
  name: string,
  tools: readonly ComponentModel[],
  calls: readonly string[],
): ComponentModel {
  const mind: Mind = (messages) => {
    const last = messages.at(-1);
    if (last?.type !== "FunctionExecutionResultMessage") {
      return calls.flatMap((tool, index) => call(tool, { task: `do ${index}` }, index));
    }
    return `${name} got ${last.content.map(({ content }) => content).join(" & ")}`;
  };
  const workbench = {
    provider: "autogen_core.tools.StaticStreamWorkbench",
    config: { tools: [...tools] },
  };
  const config = { workbench: [workbench], reflect_on_tool_use: true, model_client_stream: true };
  return assistant(effects, name, config, mind);
}

export function filtered(wrapped: ComponentModel, source: string): ComponentModel {
  return component("MessageFilterAgent", {
    name: nameOf(wrapped),
    wrapped_agent: wrapped,
    filter: { per_source: [{ source: "user" }, { source, position: "last", count: 1 }] },
  });
}

export function nameOf({ config }: ComponentModel): string {
  return config["name"] as string;
}

function textOf(message: LLMMessage | undefined): string {
  return typeof message?.content === "string" ? message.content : "";
}

function call(name: string, args: JsonObject, index = 0): FunctionCall[] {
  return [{ id: `call-${index}`, name, arguments: JSON.stringify(args) }];
}

function component(provider: string, config: JsonObject): ComponentModel {
  return { provider, config };
}

/** A team in a team in a team. */
function threeDeep(effects: Effects): ComponentModel {
  const inner = roundRobin([assistant(effects, "c"), speaker(effects, "d")], 2);
  const middle = roundRobin([speaker(effects, "b"), named(inner, "inner")], 2);
  return roundRobin([assistant(effects, "a"), named(middle, "middle")], 4);
}

/** All that speaks by others, side by side. */
function waveOfTeams(effects: Effects): ComponentModel {
  const mind = society(
    effects,
    "mind",
    swarm(
      [
        assistant(effects, "first", { handoffs: ["second"] }, handsOver(["second"])),
        speaker(effects, "second"),
      ],
      2,
    ),
  );
  const chooser = named(
    selector(effects, [assistant(effects, "x"), speaker(effects, "y")], 2),
    "chooser",
  );
  const chief = boss(effects, "chief", [agentTool(speaker(effects, "clerk"))], ["clerk", "clerk"]);
  return graph(
    [speaker(effects, "start"), mind, chooser, chief, speaker(effects, "end")],
    ["mind", "chooser", "chief"].flatMap((name) => [`start>${name}`, `${name}>end`]),
  );
}

export const KINDS: readonly Kind[] = [
  {
    name: "RoundRobinGroupChat",
    component: (effects) =>
      roundRobin(
        [assistant(effects, "a", { model_client_stream: true }), speaker(effects, "b")],
        4,
      ),
  },
  {
    name: "SelectorGroupChat",
    component: (effects) =>
      selector(effects, [assistant(effects, "a"), speaker(effects, "b"), speaker(effects, "c")], 4),
  },
  {
    name: "Swarm",
    component: (effects) =>
      swarm(
        [
          assistant(effects, "a", { handoffs: ["b"] }, handsOver(["b"])),
          assistant(effects, "b", { handoffs: ["c"] }, handsOver([null, "c"])),
          speaker(effects, "c"),
        ],
        5,
      ),
  },
  {
    name: "MagenticOneGroupChat",
    component: (effects) =>
      magenticOne(effects, ["a", "b"], [assistant(effects, "a"), speaker(effects, "b")]),
  },
  { name: "GraphFlow", component: loopingGraph },
  { name: "teams three deep", component: threeDeep },
  {
    name: "SocietyOfMindAgent",
    component: (effects) =>
      roundRobin(
        [
          society(effects, "mind", roundRobin([assistant(effects, "a"), speaker(effects, "b")], 2)),
          speaker(effects, "c"),
        ],
        3,
      ),
  },
  {
    name: "AgentTool",
    component: (effects) =>
      roundRobin(
        [
          boss(
            effects,
            "boss",
            [agentTool(assistant(effects, "worker")), agentTool(speaker(effects, "clerk"))],
            ["worker", "clerk", "worker"],
          ),
          speaker(effects, "b"),
        ],
        3,
      ),
  },
  {
    name: "TeamTool",
    component: (effects) =>
      boss(
        effects,
        "boss",
        [
          teamTool("crew", roundRobin([assistant(effects, "a"), speaker(effects, "b")], 2)),
          teamTool("pair", loopingGraph(effects)),
        ],
        ["crew", "pair"],
      ),
  },
  {
    name: "MessageFilterAgent",
    component: (effects) =>
      roundRobin(
        [
          filtered(assistant(effects, "a"), "b"),
          speaker(effects, "b"),
          filtered(speaker(effects, "c"), "a"),
        ],
        5,
      ),
  },
  { name: "a wave of teams", component: waveOfTeams },
];
