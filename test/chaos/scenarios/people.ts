import type { JsonObject } from "troupe";
import {
  assistant,
  callsTools,
  functionTool,
  graph,
  person,
  roundRobin,
  STREAMING,
} from "./components.ts";
import { PACED, type Scenario } from "./scenario.ts";

/** Humans at other places than in the team itself. */
export const PEOPLE: readonly Scenario[] = [
  {
    name: "human in a nested team",
    component: (services) =>
      roundRobin(
        [
          roundRobin([assistant(services, "helper", STREAMING), person("person")], 2, {
            name: "inner",
            description: "A team with a human.",
          }),
          assistant(services, "outer"),
        ],
        3,
      ),
    rules: [PACED],
    task: "Ask inside.",
    answers: ["The first answer.", "The second answer."],
  },
  {
    name: "two humans at once",
    sideBySide: true,
    component: (services) =>
      graph(
        [
          assistant(services, "asker", STREAMING),
          person("ann"),
          person("ben"),
          assistant(services, "other", STREAMING),
          assistant(services, "sum", STREAMING),
        ],
        { asker: ["ann", "ben", "other"], ann: ["sum"], ben: ["sum"], other: ["sum"] },
      ),
    rules: [PACED],
    task: "Ask both.",
    answers: { ann: "Ann's answer.", ben: "Ben's answer." },
  },
  {
    name: "one of two humans is away",
    sideBySide: true,
    component: (services) =>
      graph(
        [
          person("ann"),
          person("ben", { timeout_seconds: 0.5, default_answer: "Nobody is there." }),
          assistant(services, "sum", STREAMING),
        ],
        { ann: ["sum"], ben: ["sum"] },
      ),
    rules: [PACED],
    task: "Ask both.",
    answers: { ann: "Ann's answer." },
  },
  {
    name: "a tool under approval beside another",
    component: (services) =>
      roundRobin(
        [
          assistant(services, "clerk", {
            ...STREAMING,
            reflect_on_tool_use: true,
            tools: [
              functionTool("look_up"),
              functionTool("charge", { approval: "human" }),
            ] as unknown as JsonObject[],
          }),
        ],
        1,
      ),
    rules: [callsTools("clerk", "look_up", "charge"), PACED],
    task: "Look it up and charge.",
    answers: [],
  },
];
