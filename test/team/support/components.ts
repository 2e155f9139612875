import type { ComponentModel, FunctionCall, Json, JsonObject, LLMMessage } from "troupe";
import type { Effects } from "./effects.ts";
import { type ScriptedAgent, thought } from "./scripted-agent.ts";
import { agent } from "./team.ts";
import { type Mind, model } from "./test-model.ts";

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

/** An assistant; says how much it was asked with and how often, unless its mind is another. */
export function assistant(
  effects: Effects,
  name: string,
  config: JsonObject = {},
  mind: Mind = (messages, _place, time) => `${name} was told ${messages.length} things by ${time}`,
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

/** Plans, has the first one work, finds that this does not get on, plans again, has the second one work, and answers. */
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

export function human(config: JsonObject = {}, name = "human"): ComponentModel {
  return component("UserProxyAgent", { name, ...config });
}
