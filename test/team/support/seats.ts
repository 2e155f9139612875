import type { ComponentModel } from "troupe";
import {
  agentTool,
  assistant,
  boss,
  filtered,
  graph,
  handsOver,
  magenticOne,
  named,
  nameOf,
  selector,
  society,
  speaker,
  swarm,
  teamTool,
} from "./components.ts";
import type { Effects } from "./effects.ts";
import type { Kind } from "./kinds.ts";
import { roundRobin } from "./team.ts";

/** Where a human, by the name of `human`, can be. Each is asked once. */
export const SEATS: {
  seat: string;
  around: (asked: ComponentModel, effects: Effects) => ComponentModel;
}[] = [
  {
    seat: "a team in a team in a team",
    around: (asked, effects) =>
      roundRobin(
        [
          speaker(effects, "a"),
          named(
            roundRobin(
              [
                assistant(effects, "b"),
                named(roundRobin([speaker(effects, "c"), asked], 2), "inner"),
              ],
              2,
            ),
            "middle",
          ),
          speaker(effects, "d"),
        ],
        3,
      ),
  },
  {
    seat: "a SelectorGroupChat",
    around: (asked, effects) => selector(effects, [speaker(effects, "a"), asked], 3),
  },
  {
    seat: "a Swarm, by a handoff",
    around: (asked, effects) =>
      swarm(
        [
          assistant(effects, "a", { handoffs: ["human"] }, handsOver(["human"])),
          asked,
          speaker(effects, "b"),
        ],
        3,
      ),
  },
  {
    seat: "a MagenticOneGroupChat",
    around: (asked, effects) =>
      magenticOne(effects, ["human", "a"], [asked, speaker(effects, "a")]),
  },
  {
    seat: "a GraphFlow",
    around: (asked, effects) =>
      graph([speaker(effects, "a"), asked, speaker(effects, "b")], ["a>human", "human>b"]),
  },
  {
    seat: "a wave",
    around: (asked, effects) =>
      graph(
        [speaker(effects, "a"), asked, assistant(effects, "b"), speaker(effects, "c")],
        ["a>human", "a>b", "human>c", "b>c"],
      ),
  },
  {
    seat: "the team of a SocietyOfMindAgent",
    around: (asked, effects) =>
      roundRobin(
        [
          society(effects, "mind", roundRobin([speaker(effects, "a"), asked], 2)),
          speaker(effects, "b"),
        ],
        2,
      ),
  },
  {
    seat: "an AgentTool",
    around: (asked, effects) => boss(effects, "boss", [agentTool(asked)], ["human"]),
  },
  {
    seat: "a TeamTool, beside another tool",
    around: (asked, effects) =>
      boss(
        effects,
        "boss",
        [
          teamTool("crew", roundRobin([speaker(effects, "a"), asked], 2)),
          agentTool(assistant(effects, "worker")),
        ],
        ["crew", "worker"],
      ),
  },
  {
    seat: "a MessageFilterAgent",
    around: (asked, effects) =>
      roundRobin([speaker(effects, "a"), filtered(asked, "a"), speaker(effects, "b")], 3),
  },
];

/** People side by side with an agent that works. */
export function waveWith(people: readonly ComponentModel[]): Kind {
  return {
    name: "a wave",
    component: (effects) => {
      const names = people.map(nameOf);
      return graph(
        [
          speaker(effects, "start"),
          ...people,
          assistant(effects, "worker"),
          speaker(effects, "end"),
        ],
        [...names, "worker"].flatMap((name) => [`start>${name}`, `${name}>end`]),
      );
    },
  };
}
