import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start();
});

afterAll(() => worker[Symbol.asyncDispose]());

const calls = (name: string) => ({
  finish_reason: "function_calls",
  content: [{ id: "c1", name, arguments: "{}" }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
  cached: false,
});

const client = (chat_completions: unknown[]) => ({
  provider: "ReplayChatCompletionClient",
  config: {
    chat_completions,
    model_info: {
      vision: false,
      function_calling: true,
      json_output: false,
      structured_output: false,
      family: "unknown",
    },
  },
});

const agent = (name: string, chat_completions: unknown[], handoffs: string[] = []) => ({
  provider: "AssistantAgent",
  config: { name, description: "", model_client: client(chat_completions), handoffs },
});

const human = { provider: "UserProxyAgent", config: { name: "editor" } };

async function newTeam(component: object): Promise<string> {
  const created = await worker.fetch("/v1/teams", jsonInit({ component }));
  expect(created.status, await created.clone().text()).toBe(201);
  return ((await created.json()) as { id: string }).id;
}

async function run(team: string, task: unknown): Promise<RunInfo> {
  const response = await worker.fetch(`/v1/teams/${team}/runs?wait=60`, jsonInit({ task }));
  return (await response.json()) as RunInfo;
}

/** Answers all questions of a run, and returns the run when it has ended. */
async function answer(team: string, { id }: RunInfo, content: string): Promise<RunInfo> {
  const path = `/v1/teams/${team}/runs/${id}`;
  for (;;) {
    const found = (await (await worker.fetch(path)).json()) as RunInfo;
    if (found.ended_at !== null) return found;
    for (const request of found.requests)
      await worker.fetch(`${path}/requests/${request.id}`, jsonInit({ content }));
  }
}

const said = ({ result }: RunInfo) =>
  result?.messages
    .filter(({ type, source }) => type.endsWith("Message") && source !== "user")
    .map((message) => [message.type, message.source]);

test.each([
  ["a text", "Go on."],
  ["nothing new", null],
  ["a handoff", { type: "HandoffMessage", source: "user", target: "clerk", content: "Go on." }],
])("a swarm in a team fails once for a handoff to a stranger, then works: %s", async (_, task) => {
  const swarm = {
    provider: "Swarm",
    config: {
      name: "back_office",
      participants: [agent("clerk", ["Done."], ["desk"])],
      max_turns: 1,
    },
  };
  const team = await newTeam({
    provider: "RoundRobinGroupChat",
    config: {
      participants: [agent("desk", [calls("transfer_to_manager")], ["manager"]), swarm],
      termination_condition: {
        provider: "TextMentionTermination",
        config: { text: "Done." },
      },
    },
  });
  const failed = await run(team, "Help.");
  expect(failed.status).toBe("failed");
  expect(failed.error?.message).toContain("The target manager is not one of the participants");
  const done = await run(team, task);
  expect(done.error).toBeNull();
  expect(said(done)?.at(-1)).toEqual(["TextMessage", "clerk"]);
});

test("a human in a society of mind answers with a text, to handoffs and later requests, too", async () => {
  const mind = {
    provider: "SocietyOfMindAgent",
    config: {
      name: "mind",
      model_client: client(["One.", "Two.", "Three."]),
      team: {
        provider: "RoundRobinGroupChat",
        config: { participants: [human], max_turns: 1 },
      },
    },
  };
  const team = await newTeam({
    provider: "Swarm",
    config: {
      participants: [agent("desk", [calls("transfer_to_mind")], ["mind"]), mind],
      max_turns: 2,
    },
  });
  const first = await run(team, "Help.");
  expect(first.status, JSON.stringify(first.error)).toBe("waiting");
  expect(first.requests[0]?.prompt).toBe("Enter your response: ");
  const one = await answer(team, first, "Yes.");
  expect(said(one)).toEqual([
    ["HandoffMessage", "desk"],
    ["TextMessage", "editor"],
    ["TextMessage", "mind"],
  ]);
  // Without anything new it gets its earlier requests alone.
  const second = await run(team, null);
  expect(second.status, JSON.stringify(second.error)).toBe("waiting");
  const two = await answer(team, second, "Still yes.");
  expect(said(two)).toEqual([
    ["TextMessage", "editor"],
    ["TextMessage", "mind"],
    ["TextMessage", "editor"],
    ["TextMessage", "mind"],
  ]);
});
