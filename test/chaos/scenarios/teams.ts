import type { JsonObject } from "troupe";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import {
  assistant,
  callsTools,
  component,
  graph,
  modelClient,
  STREAMING,
  team,
  tools,
} from "./components.ts";
import { PACED, type Scenario } from "./scenario.ts";

/** The selector's prompt contains the conversation: the last speaker in it determines the next. */
const chooses = (name: string, spoken?: string): RuleInput => ({
  name: `choose ${name}`,
  match: { user: "Choose.", ...(spoken !== undefined && { text: `${spoken}:` }) },
  pace_ms: 2,
  reply: { content: `Reply {digest}: ${name}` },
});

const handsOver = (from: string, to: string): RuleInput => ({
  name: `${from} hands over`,
  match: { system: `You are ${from}.`, role: "user" },
  reply: { tool_calls: [{ name: `transfer_to_${to}`, arguments: {} }] },
});

/** The answer to the orchestrator's question where the work stands. */
const ledger = (
  name: string,
  match: RuleInput["match"],
  { done = false, progress = true, speaker = "searcher", instruction = "Nothing." },
): RuleInput => {
  const entry = (answer: string | boolean): JsonObject => ({ reason: "Reply {digest}", answer });
  return {
    name,
    match: { text: "LEDGER", ...match },
    reply: {
      content: JSON.stringify({
        is_request_satisfied: entry(done),
        is_in_loop: entry(false),
        is_progress_being_made: entry(progress),
        next_speaker: entry(speaker),
        instruction_or_question: entry(instruction),
      }),
    },
  };
};

const ORCHESTRATOR_PROMPTS = {
  task_ledger_facts: "FACTS {task}",
  task_ledger_plan: "PLAN {team}",
  task_ledger_full: "FULL {task} {team} {facts} {plan}",
  progress_ledger: "LEDGER {names}",
  task_ledger_facts_update: "CHANGED FACTS {facts}",
  task_ledger_plan_update: "CHANGED PLAN",
};

const SIDE_BY_SIDE: Omit<Scenario, "name"> = {
  sideBySide: true,
  component: (services) =>
    graph(
      [
        assistant(services, "writer", STREAMING),
        assistant(services, "left", STREAMING),
        assistant(services, "middle", {
          ...STREAMING,
          ...tools("look_up", "charge"),
          reflect_on_tool_use: true,
        }),
        component("chaos.StepsAgent", { name: "right" }),
        assistant(services, "editor", STREAMING),
      ],
      {
        writer: ["left", "middle", "right"],
        left: ["editor"],
        middle: ["editor"],
        right: ["editor"],
      },
    ),
  rules: [callsTools("middle", "look_up", "charge"), PACED],
  task: "Write a line.",
};

export const TEAMS: readonly Scenario[] = [
  {
    name: "selector",
    component: (services) =>
      team(
        "SelectorGroupChat",
        ["writer", "critic", "editor"].map((name) => assistant(services, name, STREAMING)),
        {
          model_client: modelClient(services),
          selector_prompt: "Choose.\n{history}",
          allow_repeated_speaker: true,
          model_client_streaming: true,
          emit_team_events: true,
          max_turns: 3,
        },
      ),
    rules: [chooses("editor", "critic"), chooses("critic", "writer"), chooses("writer"), PACED],
    task: "Write a line.",
  },
  {
    name: "swarm",
    component: (services) =>
      team(
        "Swarm",
        [
          assistant(services, "desk", { handoffs: ["refunds"] }),
          assistant(services, "refunds", {
            ...STREAMING,
            ...tools("look_up", "charge"),
            handoffs: ["desk"],
            reflect_on_tool_use: true,
          }),
        ],
        { max_turns: 3 },
      ),
    rules: [handsOver("desk", "refunds"), callsTools("refunds", "look_up", "charge"), PACED],
    task: "Give me my money back.",
  },
  {
    name: "magentic one",
    component: (services) =>
      team(
        "MagenticOneGroupChat",
        [
          assistant(services, "searcher", STREAMING),
          assistant(services, "coder", {
            ...STREAMING,
            ...tools("note"),
            reflect_on_tool_use: true,
          }),
        ],
        {
          model_client: modelClient(services),
          max_turns: 10,
          max_stalls: 2,
          final_answer_prompt: "FINAL",
          orchestrator_prompts: ORCHESTRATOR_PROMPTS,
        },
      ),
    rules: [
      ledger("done", { any: "to: Count it." }, { done: true }),
      ledger(
        "the new plan",
        { any: "CHANGED FACTS" },
        { speaker: "coder", instruction: "Count it." },
      ),
      ledger("no progress", {}, { progress: false, instruction: "Search for it." }),
      PACED,
    ],
    task: "How many are there?",
  },
  {
    name: "graph with a loop",
    component: (services) =>
      graph(
        ["writer", "critic", "printer"].map((name) => assistant(services, name, STREAMING)),
        {
          writer: ["critic"],
          critic: [
            { target: "writer", condition: "AGAIN", activation_group: "again" },
            { target: "printer", condition: "FINE" },
          ],
        },
        { max_turns: 8 },
        "writer",
      ),
    rules: [
      {
        name: "fine",
        match: { system: "You are critic.", any: "AGAIN" },
        reply: { content: "Reply {digest} FINE" },
      },
      {
        name: "again",
        match: { system: "You are critic." },
        reply: { content: "Reply {digest} AGAIN" },
      },
      PACED,
    ],
    task: "Write a line.",
  },
  { name: "graph side by side", ...SIDE_BY_SIDE },
  {
    name: "retry of one side",
    ...SIDE_BY_SIDE,
    fails: {
      name: "refused",
      match: { system: "You are middle.", role: "tool" },
      fault: { kind: "status", status: 400 },
    },
  },
  {
    name: "society of mind",
    component: (services) =>
      team(
        "RoundRobinGroupChat",
        [
          component("autogen_agentchat.agents.SocietyOfMindAgent", {
            name: "society",
            model_client: modelClient(services),
            team: team(
              "RoundRobinGroupChat",
              ["ann", "ben"].map((name) => assistant(services, name, STREAMING)),
              { max_turns: 2 },
            ),
          }),
          component("autogen_agentchat.agents.MessageFilterAgent", {
            name: "listener",
            wrapped_agent: assistant(services, "listener"),
            filter: { per_source: [{ source: "society", position: "last", count: 1 }] },
          }),
        ],
        { max_turns: 4 },
      ),
    rules: [PACED],
    task: "What do you think?",
  },
];
