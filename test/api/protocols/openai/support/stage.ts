import OpenAI from "openai";
import type { JsonObject } from "troupe";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { TestWorker, type TestWorkerOptions } from "../../../../support/worker.ts";

export const LOCATE = {
  name: "locate",
  description: "Says where the user is.",
  parameters: {
    type: "object",
    properties: { precise: { type: "boolean" }, device: { type: "integer" } },
    required: ["precise"],
    additionalProperties: false,
  },
};

/** The service with a model whose answers depend on what it is asked. */
export interface Stage extends AsyncDisposable {
  model: FakeOpenAI;
  worker: TestWorker;
  /** The unmodified client; it does not try again by itself. */
  openai: OpenAI;
}

export async function startStage(
  settings: Record<string, string> = {},
  options: Pick<TestWorkerOptions, "bucket"> = {},
): Promise<Stage> {
  const model = await startFakeOpenAI({
    rules: [
      {
        name: "tell",
        match: { role: "tool" },
        reply: { content: "You are in Vienna." },
        pace_ms: 20,
      },
      {
        name: "locate",
        match: { text: "Where am I" },
        reply: {
          content: "Let me see.",
          tool_calls: [{ id: "call_1", name: "locate", arguments: { precise: false } }],
        },
      },
      {
        name: "locate twice",
        match: { text: "Both of us" },
        reply: {
          tool_calls: [
            { id: "call_1", name: "locate", arguments: { precise: false } },
            { id: "call_2", name: "locate", arguments: { precise: true } },
          ],
        },
      },
      {
        name: "locate a device",
        match: { text: "Where is my phone" },
        reply: {
          tool_calls: [
            {
              id: "call_1",
              name: "locate",
              arguments: '{"precise":true,"device":9007199254740993}',
            },
          ],
        },
      },
      { name: "slow", match: { any: "slowly" }, hold: true, reply: { content: "At last." } },
      { name: "think", match: { any: "Think" }, reply: { reasoning: "Hm.", content: "Seven." } },
      {
        name: "fail",
        match: { any: "Fail" },
        fault: { kind: "status", status: 400, message: "No such thing." },
      },
      { name: "write", reply: { content: "Four little words here." }, pace_ms: 15 },
    ],
  });
  const worker = await TestWorker.start(
    {
      OPENAI_API_KEY: "test-key",
      OPENAI_BASE_URL: model.url,
      ...(settings["TROUPE_OPEN"] === "" && { ALLOWED_EGRESS: new URL(model.url).origin }),
      ...settings,
    },
    options,
  );
  return {
    model,
    worker,
    openai: client(await worker.origin),
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

export function client(origin: string, apiKey = "none"): OpenAI {
  return new OpenAI({ baseURL: `${origin}/openai/v1`, apiKey, maxRetries: 0 });
}

/** Everything a stream has. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

export interface ShownTeam {
  status: string;
  active_run: string | null;
  forked_from: { team_id: string; turn: number } | null;
}

export async function teamOf(worker: TestWorker, id: string): Promise<ShownTeam> {
  return (await (await worker.fetch(`/v1/teams/${id}`)).json()) as ShownTeam;
}

interface ShownRun {
  id: string;
  status: string;
  task: { source: string; content: unknown; type: string }[];
  metadata: JsonObject;
}

/** The team's runs, newest first. */
export async function runsOf(worker: TestWorker, team: string): Promise<ShownRun[]> {
  const response = await worker.fetch(`/v1/teams/${team}/runs`);
  return ((await response.json()) as { runs: ShownRun[] }).runs;
}
