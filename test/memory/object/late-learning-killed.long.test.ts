import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { UsageReport } from "#contract/usage/usage-report.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import { jsonInit } from "../../support/http-app.ts";
import { KillableWorker } from "../../support/killable-worker.ts";

const FACT = "Ada takes her tea without milk.";
const LEARNS = { system: "You keep the long-term memory" };
const TALK: RuleInput = {
  name: "talk",
  match: { system: "You are ann." },
  reply: { content: "Hello.", usage: { prompt_tokens: 10, completion_tokens: 5 } },
};
const FACTS: RuleInput = {
  name: "facts",
  match: LEARNS,
  reply: {
    content: JSON.stringify({ facts: [FACT] }),
    usage: { prompt_tokens: 100, completion_tokens: 20 },
  },
};
/** The server of the model that learns is away. */
const AWAY: RuleInput = { name: "away", match: LEARNS, fault: { kind: "status", status: 503 } };

let fake: FakeOpenAI;
let worker: KillableWorker;

beforeAll(async () => {
  fake = await startFakeOpenAI();
  worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    MODEL_PRICES: JSON.stringify({ fake: { input: 1, output: 10 } }),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

async function json<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await worker.fetch(`/v1${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** A run of a team and a user of its own, which has completed although nothing could be learned from it. */
async function runWithoutLearning(name: string): Promise<RunInfo> {
  const model_client = {
    provider: "OpenAIChatCompletionClient",
    config: {
      model: "fake",
      base_url: fake.url,
      api_key: "key",
      model_info: {
        vision: false,
        function_calling: true,
        json_output: true,
        structured_output: false,
        family: "unknown",
      },
      retry: { attempts: 1 },
    },
  };
  const memory = {
    provider: "troupe.memory.VectorMemory",
    config: { scope: "user", extract: { model_client } },
  };
  const component = {
    provider: "AssistantAgent",
    config: { name: "ann", system_message: "You are ann.", model_client, memory: [memory] },
  };
  await json("/teams", jsonInit({ id: name, component }));
  // What is learned later would be too much for the run.
  const start = { task: "Hello.", user: name, max_total_tokens: 50 };
  const run = await json<RunInfo>(`/teams/${name}/runs?wait=60`, jsonInit(start));
  expect(run).toMatchObject({
    status: "completed",
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  });
  return run;
}

async function remembered(name: string): Promise<string[]> {
  const { memories } = await json<{ memories: { content: string }[] }>(
    `/memories?scope=user&user=${name}`,
  );
  return memories.map(({ content }) => content);
}

const present = ({ team_id, id }: RunInfo): Promise<RunInfo> =>
  json(`/teams/${team_id}/runs/${id}`);

interface Left {
  run: string;
  since: number;
  next_at: number;
}

/**
 * Lets time pass for what teams have left to do, while the server is down.
 *
 * @param crowded the run whose team gets more to do than it keeps
 * @returns the runs that have left something
 */
async function whileDown(age: (left: Left) => number, crowded: string): Promise<string[]> {
  await worker.kill();
  const directory = join(worker.state, "TeamObject");
  const runs: string[] = [];
  for (const file of readdirSync(directory).filter((name) => name.endsWith(".sqlite"))) {
    if (file === "metadata.sqlite") continue;
    using db = new DatabaseSync(join(directory, file));
    const rows = db.prepare("select name, value from meta where name like 'unfinished:%'").all();
    for (const { name, value } of rows) {
      const left = JSON.parse(String(value)) as Left;
      runs.push(left.run);
      const aged = { ...left, since: left.since - age(left), next_at: 0 };
      const write = db.prepare("insert or replace into meta values (?, ?)");
      write.run(String(name), JSON.stringify(aged));
      if (left.run === crowded) {
        // As much as a team keeps, for later.
        for (let other = 0; other < 100; other++) {
          const next_at = Date.now() + 3_600_000;
          write.run(
            `unfinished:${other}`,
            JSON.stringify({ ...left, run: String(other), next_at }),
          );
        }
      }
    }
  }
  await worker.restart();
  return runs;
}

test("facts that a run could not learn are learned later, once, for at most a day, and count for the run and its day but no limit", async () => {
  fake.rules.set([AWAY, FACTS, TALK]);
  const run = await runWithoutLearning("learns");
  const old = await runWithoutLearning("old");
  const forgotten = await runWithoutLearning("forgotten");
  await worker.fetch(`/v1/memories?run=${forgotten.id}&team=forgotten`, { method: "DELETE" });
  fake.rules.set([FACTS, TALK]);
  const left = await whileDown((one) => (one.run === old.id ? 86_400_000 : 0), run.id);
  expect(left.toSorted()).toEqual([run.id, old.id].toSorted());

  const patience = { timeout: 60_000 };
  await expect.poll(() => remembered("learns"), patience).toEqual([FACT]);
  const after = await present(run);
  expect(after).toMatchObject({
    status: "completed",
    usage: { prompt_tokens: 110, completion_tokens: 25 },
    cost: (110 * 1 + 25 * 10) / 1e6,
    ended_at: run.ended_at,
  });
  expect(after.notes).toEqual(run.notes);
  const usage = async (): Promise<UsageReport["usage"]> =>
    (await json<UsageReport>("/usage?by=day,team,model")).usage;
  await expect
    .poll(async () => (await usage()).filter(({ team }) => team === "learns"), patience)
    .toMatchObject([{ runs: 1, prompt_tokens: 110, completion_tokens: 25 }]);
  const { runs } = await json<{ runs: RunInfo[] }>("/runs?team=learns");
  expect(runs).toMatchObject([{ id: run.id, usage: { prompt_tokens: 110 } }]);

  // The day of this one is over: it has the cause instead.
  const message = expect.stringMatching(/learned nothing from this run: .*503/) as string;
  await expect
    .poll(async () => (await present(old)).notes, patience)
    .toEqual([...(run.notes ?? []), { agent: null, message }]);
  expect(await remembered("old")).toEqual([]);
  expect(await remembered("forgotten")).toEqual([]);
  expect(fake.requests.filter(({ rule }) => rule === "facts")).toHaveLength(1);

  // The team has enough left to do: another run has the cause at once.
  fake.rules.set([AWAY, FACTS, TALK]);
  const start = jsonInit({ task: "Hello.", user: "learns" });
  const refused = await json<RunInfo>("/teams/learns/runs?wait=60", start);
  expect(refused.notes).toContainEqual({ agent: null, message });
});
