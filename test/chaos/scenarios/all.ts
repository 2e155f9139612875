import type { JsonObject } from "troupe";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import {
  assistant,
  callsTools,
  codeRunner,
  component,
  mcpWorkbench,
  modelClient,
  person,
  roundRobin,
  type Services,
  STREAMING,
  tools,
} from "./components.ts";
import { MAKERS } from "./makers.ts";
import { NESTED } from "./nested.ts";
import { PEOPLE } from "./people.ts";
import { PACED, type Scenario } from "./scenario.ts";
import { TEAMS } from "./teams.ts";

function duet(services: Services, turns: number) {
  return roundRobin(
    [assistant(services, "writer", STREAMING), assistant(services, "critic", STREAMING)],
    turns,
  );
}

function clerk(services: Services) {
  return roundRobin(
    [
      assistant(services, "clerk", {
        ...STREAMING,
        ...tools("look_up", "charge", "note"),
        reflect_on_tool_use: true,
      }),
    ],
    1,
  );
}

const CLERK_CALLS = [callsTools("clerk", "look_up", "charge", "note"), PACED];

/** The model refuses the request that follows tool calls. */
const REFUSED: RuleInput = {
  name: "refused",
  match: { role: "tool" },
  fault: { kind: "status", status: 400 },
};

/** Meets faults of the model; its client loses patience soon. */
export const FAULTY: Scenario = {
  name: "model faults",
  component: (services) => {
    const impatient = { ...STREAMING, model_client: modelClient(services, { timeout: 1.5 }) };
    return roundRobin(
      [assistant(services, "writer", impatient), assistant(services, "critic", impatient)],
      3,
    );
  },
  rules: [PACED],
  task: "Write a line.",
};

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "duet",
    component: (services) => duet(services, 3),
    rules: [PACED],
    task: "Write a line.",
  },
  {
    name: "tools",
    component: clerk,
    rules: CLERK_CALLS,
    task: "Charge the customer.",
  },
  {
    name: "MCP tools",
    component: (services) =>
      roundRobin(
        [
          assistant(services, "clerk", {
            ...STREAMING,
            ...mcpWorkbench(services),
            reflect_on_tool_use: true,
          }),
        ],
        1,
      ),
    rules: CLERK_CALLS,
    task: "Charge the customer.",
  },
  {
    name: "human",
    component: (services) => roundRobin([assistant(services, "helper"), person("person")], 4),
    rules: [PACED],
    task: "Ask me.",
    answers: ["The first answer.", "The second answer."],
  },
  {
    name: "nobody answers",
    component: (services) =>
      roundRobin(
        [
          assistant(services, "helper"),
          person("person", { timeout_seconds: 0.5, default_answer: "Nobody is there." }),
        ],
        3,
      ),
    rules: [PACED],
    task: "Ask me.",
  },
  {
    name: "asks before repeating",
    component: (services) =>
      roundRobin(
        [assistant(services, "clerk", { ...tools("pay", "look_up"), reflect_on_tool_use: true })],
        1,
      ),
    rules: [callsTools("clerk", "pay", "look_up"), PACED],
    task: "Pay the bill.",
    answers: [],
  },
  {
    name: "buffered",
    component: (services) =>
      roundRobin(
        ["ann", "ben"].map((name) =>
          assistant(services, name, {
            model_context: component("autogen_core.model_context.BufferedChatCompletionContext", {
              buffer_size: 2,
            }) as unknown as JsonObject,
          }),
        ),
        4,
      ),
    rules: [PACED],
    task: "Count.",
  },
  {
    name: "custom agent",
    component: (services) =>
      roundRobin(
        [component("chaos.StepsAgent", { name: "stepper" }), assistant(services, "reader")],
        2,
      ),
    rules: [PACED],
    task: "Take steps.",
  },
  {
    // The output shows how often the code ran: it increments a counter in a file.
    name: "code",
    component: (services) => roundRobin([assistant(services, "coder"), codeRunner("runner")], 4),
    rules: [
      {
        name: "code",
        match: { system: "You are coder." },
        reply: {
          content:
            "```sh\necho Counting.\nn=$(cat n 2>/dev/null || echo 0)\nsleep 0.1\necho $((n + 1)) > n\ncat n\n```\nReply {digest}",
        },
      },
    ],
    task: "Count.",
  },
  {
    name: "pause",
    component: (services) => duet(services, 4),
    rules: [PACED],
    task: "Go on.",
    pause: { afterRequests: 2 },
  },
  {
    name: "cancel",
    component: (services) => duet(services, 6),
    rules: [PACED],
    task: "Go on.",
    stop: { mode: "now", afterRequests: 3 },
  },
  {
    name: "cancel after tools",
    component: clerk,
    rules: CLERK_CALLS,
    task: "Charge the customer.",
    stop: { mode: "now", afterRequests: 2 },
  },
  {
    name: "stop after turn",
    component: (services) => duet(services, 6),
    rules: [PACED],
    task: "Go on.",
    stop: { mode: "after_turn", afterRequests: 3 },
  },
  {
    name: "retry",
    component: clerk,
    rules: CLERK_CALLS,
    task: "Charge the customer.",
    fails: REFUSED,
  },
  ...TEAMS,
  ...MAKERS,
  ...NESTED,
  ...PEOPLE,
];
