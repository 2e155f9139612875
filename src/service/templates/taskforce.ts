import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import type { Template } from "../../core/component/template.ts";
import { TaskBoard } from "../../core/memories/task-board.ts";
import type { CreateResult } from "../../core/models/chat-completion-client.ts";
import { DiGraphBuilder } from "../../core/teams/graph-flow/di-graph-builder.ts";
import { GraphFlow } from "../../core/teams/graph-flow/graph-flow.ts";
import type { Team } from "../../core/teams/team.ts";
import { lazyTemplate } from "./lazy-template.ts";
import { calling, replaying } from "./replay.ts";

/** The runs for which the answers name the tasks that the board gives next. */
const RUNS = 20;

interface Worker {
  name: string;
  task: string;
  result: string;
  says: string;
}

const WORKERS: readonly Worker[] = [
  {
    name: "venue_scout",
    task: "Find a room for 40 people",
    result: "The library's hall, free on Friday evening, 120 euros.",
    says: "I have found a room: the hall of the library, on Friday evening.",
  },
  {
    name: "caterer",
    task: "Plan food and drinks",
    result: "Soup, bread and apple juice: 240 euros for 40 guests.",
    says: "Soup, bread and apple juice for 40 guests cost 240 euros.",
  },
  {
    name: "herald",
    task: "Write the invitation",
    result: "Come on Friday at seven: an evening of stories and soup.",
    says: "The invitation reads: Come on Friday at seven, an evening of stories and soup.",
  },
];

/** A planner and three workers, who share a board of tasks. */
export function taskforce(): Template {
  return lazyTemplate(
    {
      name: "taskforce",
      description:
        "A planner writes tasks on the team's board, and three workers claim and finish them side by side. You can add, change and reorder tasks while they work. Works without a model: the agents repeat prepared calls.",
      task: "Prepare an evening of stories for 40 guests.",
    },
    team,
  );
}

function team(): Team {
  const planner = member("planner", "Divides the work into tasks on the board.", (run) => [
    planned(run),
    "Three tasks are on the board. Everybody takes one.",
  ]);
  const workers = WORKERS.map(({ name, result, says }, index) =>
    member(name, "Claims a task of the board, does it and finishes it.", (run) => {
      const id = `t${run * WORKERS.length + index + 1}`;
      return [
        calling(`${name}-claim-${run}`, "claim_task", { id }),
        calling(`${name}-finish-${run}`, "finish_task", { id, note: result }),
        says,
      ];
    }),
  );
  const graph = new DiGraphBuilder().addNode(planner);
  for (const worker of workers) graph.addNode(worker).addEdge(planner, worker);
  return new GraphFlow(graph.getParticipants(), graph.build());
}

/** One reply that adds a task for each worker. */
function planned(run: number): CreateResult {
  const calls = WORKERS.map(({ task }, index) =>
    calling(`plan-${run}-${index}`, "add_task", { title: task }),
  );
  const [first] = calls;
  if (first === undefined) throw new Error("the taskforce has no workers");
  return { ...first, content: calls.flatMap(({ content }) => content as never[]) };
}

function member(
  name: string,
  description: string,
  answersOf: (run: number) => readonly (string | CreateResult)[],
): AssistantAgent {
  const answers = Array.from({ length: RUNS }, (_, run) => answersOf(run)).flat();
  return new AssistantAgent({
    name,
    description,
    systemMessage: description,
    modelClient: replaying(answers),
    modelClientStream: true,
    maxToolIterations: 4,
    memory: [new TaskBoard()],
  });
}
