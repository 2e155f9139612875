import { expect, test } from "vitest";
import { jsonInit } from "../../support/http-app.ts";
import { KillableWorker } from "../../support/killable-worker.ts";

const FACTS = 6;
/** When the process is killed, in milliseconds after the run was accepted or the server is back. */
const KILLS = [5, 40, 15, 80, 150, 25];

interface Run {
  id: string;
  status: string;
  result: { messages: { type: string; content: { content: string }[] }[] };
}

/** An agent that remembers facts one after the other, and then says that it is done. */
function remembering(facts: readonly string[], scope: "team" | "user"): object {
  const calls = facts.map((fact, index) => ({
    finish_reason: "function_calls",
    content: [
      { id: `call-${index}`, name: "remember", arguments: JSON.stringify({ content: fact }) },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
  }));
  const model_client = {
    provider: "ReplayChatCompletionClient",
    config: { chat_completions: [...calls, "Done.", "Done."], model_info: MODEL },
  };
  const memory = {
    provider: "troupe.memory.VectorMemory",
    config: { scope, k: 20, writable: true },
  };
  const assistant = {
    provider: "AssistantAgent",
    config: { name: "ann", model_client, memory: [memory], max_tool_iterations: FACTS + 1 },
  };
  return { provider: "RoundRobinGroupChat", config: { participants: [assistant], max_turns: 1 } };
}

const MODEL = {
  vision: false,
  function_calling: true,
  json_output: false,
  structured_output: false,
  family: "unknown",
};

test.for(["team", "user"] as const)(
  "facts that a run remembers for the %s are stored once, whenever the server is killed",
  async (scope) => {
    await using worker = await KillableWorker.start();
    const json = async <T>(path: string, body?: object): Promise<T> => {
      const response = await worker.fetch(path, body && jsonInit(body));
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    };
    const facts = Array.from({ length: FACTS }, (_, n) => `fact number ${n}`);
    const team = await json<{ id: string }>("/v1/teams", { component: remembering(facts, scope) });
    const runs = `/v1/teams/${team.id}/runs`;
    const { id } = await json<Run>(runs, { task: "Remember.", user: "anna" });
    for (const ms of KILLS) {
      // When a process dies is what this test varies: there is no event to wait for.
      await new Promise((resolve) => setTimeout(resolve, ms));
      await worker.kill();
      await worker.restart();
    }
    const status = async (): Promise<string> => (await json<Run>(`${runs}/${id}`)).status;
    await expect.poll(status, { interval: 100 }).toBe("completed");
    // The same team, or another one of the same user.
    const reader =
      scope === "team"
        ? team
        : await json<{ id: string }>("/v1/teams", { component: remembering([], scope) });
    const read = await json<Run>(`/v1/teams/${reader.id}/runs?wait=60`, {
      task: "Which facts have a number?",
      user: "anna",
    });
    const recalled = read.result.messages
      .filter(({ type }) => type === "MemoryQueryEvent")
      .flatMap(({ content }) => content.map((entry) => entry.content));
    expect(recalled.toSorted()).toEqual(facts);
  },
);
