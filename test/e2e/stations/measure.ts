import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { TroupeClient } from "#client/index.ts";
import { startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { instrumentCalls } from "../../support/instrument-calls.ts";
import { TestWorker } from "../../support/worker.ts";

/** The way of a streamed run of a team in memory. */
export interface Way {
  /** From the Worker's `fetch` to the request to the model. */
  calls: { file: string; name: string }[];
  /** The files whose functions called functions of other files on the way, also those that had returned. */
  files: string[];
  /** The files whose functions were called and called none of another file. */
  helpers: string[];
  /**
   * How often functions of other files are called, by the calling file and the function: up to the request to the model, and up to
   * the last frame.
   */
  entries: { before: Record<string, number>; all: Record<string, number> };
}

/** Runs a team twice in a bundle whose functions note who calls them: the first run builds the team, the second is measured. */
export async function measuredWay(): Promise<Way> {
  await using openai = await startFakeOpenAI({
    rules: [{ name: "greet", reply: { content: "Hello." } }],
  });
  await using worker = await TestWorker.start(
    { SECRETS_KEY: btoa("k".repeat(32)) },
    {
      entry: "test/e2e/worker/stations/worker.ts",
      esbuild: {
        minify: false,
        inject: [join(import.meta.dirname, "../worker/stations/calls.ts")],
        plugins: [instrumentCalls],
      },
    },
  );
  const client = new TroupeClient({ baseURL: await worker.origin });
  const team = await client.teams.create({ component: component(openai.url) });
  const run = async (task: string): Promise<void> => {
    for await (const item of team.run(task)) if (item.kind === "result") break;
  };
  await run("Hello?");
  // A run that begins before the last one is listed asks when everything else of the team is due.
  const listed = async (): Promise<boolean> => {
    const { runs } = await client.runs.list({ team: team.id, status: "completed" });
    return runs.length === 1;
  };
  while (!(await listed())) await setTimeout(10);
  await team.get();
  await run("Once more.");
  return (await (await worker.fetch("/way")).json()) as Way;
}

const component = (model: string) => ({
  provider: "RoundRobinGroupChat",
  config: {
    max_turns: 1,
    participants: [
      {
        provider: "AssistantAgent",
        config: {
          name: "greeter",
          description: "Greets.",
          model_client_stream: true,
          reflect_on_tool_use: false,
          tool_call_summary_format: "{result}",
          model_client: {
            provider: "OpenAIChatCompletionClient",
            config: { model: "gpt-4o", api_key: "key", base_url: model },
          },
        },
      },
    ],
  },
});

/** How often the run enters a function of another file. */
export function entriesOf(entries: Record<string, number>): number {
  return Object.values(entries).reduce((sum, count) => sum + count, 0);
}
