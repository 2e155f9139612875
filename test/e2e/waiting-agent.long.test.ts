import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo, RunTrace } from "troupe/client";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

const replay = {
  provider: "ReplayChatCompletionClient",
  config: { chat_completions: ["Hello."], cycle: true },
};

/** In its turn, an agent with code of its own speaks before the model of an assistant is called. */
const SOCIETY = {
  provider: "RoundRobinGroupChat",
  config: {
    max_turns: 1,
    participants: [
      {
        provider: "SocietyOfMindAgent",
        config: {
          name: "society",
          model_client: replay,
          team: {
            provider: "RoundRobinGroupChat",
            config: {
              max_turns: 2,
              participants: [
                { provider: "test.WaitingAgent", config: { name: "own" } },
                { provider: "AssistantAgent", config: { name: "ann", model_client: replay } },
              ],
            },
          },
        },
      },
    ],
  },
};

let worker: TestWorker;
beforeAll(async () => {
  worker = await TestWorker.start({}, { entry: "test/e2e/worker/waiting-agent.ts" });
});
afterAll(() => worker[Symbol.asyncDispose]());

async function json<T>(path: string, init?: RequestInit): Promise<T> {
  return (await (await worker.fetch(path, init)).json()) as T;
}

test("the state of an agent may have fields that are called as those of runs", async () => {
  const component = { provider: "test.WaitingAgent", config: { name: "own" } };
  const { id: team } = await json<{ id: string }>("/v1/teams", jsonInit({ component }));
  expect(await json(`/v1/teams/${team}/state`)).toMatchObject({
    runs: ["one", 2, null],
    requests: [null],
  });
});

test("a request is not shown when an agent waits for ever before it, and the answer comes after ten seconds", async () => {
  const { id: team } = await json<{ id: string }>("/v1/teams", jsonInit({ component: SOCIETY }));
  const runs = `/v1/teams/${team}/runs`;
  const run = await json<RunInfo>(`${runs}?wait=60`, jsonInit({ task: "Go." }));
  expect(run.status).toBe("completed");
  const { spans } = await json<RunTrace>(`${runs}/${run.id}/trace`);
  const span = spans.find(({ kind, agent }) => kind === "chat" && agent === "ann");
  const response = await worker.fetch(`${runs}/${run.id}/steps/${span?.span_id}/request`);
  expect(response.status).toBe(410);
  expect(await response.json()).toMatchObject({
    code: "request_not_known",
    detail: expect.stringMatching(/\.$/),
  });
});
