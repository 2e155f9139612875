import type { CreateTeam } from "troupe/client";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";

export const VISITS = `month,visits,readers
Jan,4210,380
Feb,4680,450
Mar,5920,610
Apr,5510,640
May,7340,890
Jun,8890,1180
`;

const CODE = `
import csv
import matplotlib.pyplot as plt

rows = list(csv.DictReader(open("visits.csv")))
months = [row["month"] for row in rows]
fig, ax = plt.subplots(figsize=(6, 2.9), layout="constrained")
for key, color in [("visits", "#4f46e5"), ("readers", "#db2777")]:
    counts = [int(row[key]) for row in rows]
    ax.plot(months, counts, color=color, marker="o", linewidth=2.5)
    ax.fill_between(months, counts, color=color, alpha=0.12)
    ax.annotate(key, (months[-1], counts[-1]), (4, 9), color=color,
                textcoords="offset points", ha="right", weight="bold")
ax.spines[["top", "right"]].set_visible(False)
ax.set(title="Visits and returning readers", ylim=(0, 11_000))
fig.savefig("visits.png", dpi=150)
print("Readers grew from 9 % to 13 % of all visits.")
`;

const THOUGHT =
  "The plot answers half of the question: visits have doubled since January, and readers who come back have tripled. April is the exception: fewer visits, but more readers. That is worth a sentence, because it shows that a quiet month did not cost us anybody. The axis begins at zero, so nothing is exaggerated. Before I call it good, I want to check whether the share of readers is right: 380 of 4210 is 9 %, and 1180 of 8890 is 13 %.";

const AGENTS = ["analyst", "reviewer", "editor"];

/** A server of models for {@link newsroom}. The thought of its reviewer is written slowly. */
export function newsroomModels(): Promise<FakeOpenAI> {
  return startFakeOpenAI({
    rules: [
      {
        name: "analyst",
        match: { system: "the analyst" },
        reply: {
          content: `One line for each, so that both can be compared.\n\n\`\`\`python${CODE}\`\`\``,
        },
      },
      {
        name: "reviewer",
        match: { system: "the reviewer" },
        pace_ms: 60,
        reply: { content: `<think>${THOUGHT}</think>GOOD` },
      },
    ],
  });
}

/** An analyst whose code draws a plot, one who runs it, and a reviewer who sends it back or on to an editor. */
export function newsroom(url: string): NonNullable<CreateTeam["component"]> {
  const edge = (target: string, condition?: string) => ({
    target,
    ...(condition && { condition }),
  });
  const nodes = {
    analyst: [edge("runner")],
    runner: [edge("reviewer")],
    reviewer: [edge("analyst", "AGAIN"), edge("editor", "GOOD")],
    editor: [],
  };
  const assistants = AGENTS.map((name) => ({
    provider: "AssistantAgent",
    config: {
      name,
      system_message: `You are the ${name}.`,
      model_client_stream: true,
      model_client: {
        provider: "OpenAIChatCompletionClient",
        config: { model: "gpt-4o", base_url: url, api_key: "test" },
      },
    },
  }));
  const runner = {
    provider: "CodeExecutorAgent",
    config: {
      name: "runner",
      code_executor: { provider: "SandboxCodeExecutor", config: {} },
      sources: ["analyst"],
    },
  };
  return {
    provider: "GraphFlow",
    config: {
      participants: [...assistants, runner],
      graph: {
        default_start_node: "analyst",
        nodes: Object.fromEntries(
          Object.entries(nodes).map(([name, edges]) => [name, { name, edges, activation: "any" }]),
        ),
      },
      termination_condition: { provider: "MaxMessageTermination", config: { max_messages: 20 } },
    },
  };
}
