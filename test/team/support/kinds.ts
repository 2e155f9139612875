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
  selector,
  society,
  speaker,
  swarm,
  teamTool,
} from "./components.ts";
import type { Effects } from "./effects.ts";
import { roundRobin } from "./team.ts";

/** A kind of team or agent, as a component whose effects a test has in hand. */
export interface Kind {
  name: string;
  component(effects: Effects): ComponentModel;
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
  {
    name: "a node that is ready twice",
    component: (effects) =>
      graph(
        [speaker(effects, "a"), assistant(effects, "b"), assistant(effects, "c")],
        ["a>c::first", "b>c::second"],
      ),
  },
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
