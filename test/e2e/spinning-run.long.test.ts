import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { TroupeClient } from "#client/index.ts";
import { Workerd } from "../chaos/harness/workerd.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { PATIENCE } from "../support/patience.ts";
import { configOfWorker } from "../support/workerd-config.ts";

const ENTRY = "test/team/support/spinning-worker.ts";

test("a run that ends the whole process each time fails in the end, and the server answers", async () => {
  const scratch = mkdtempSync(join(tmpdir(), "troupe-spinning-"));
  let spins = (): void => {};
  const config = await configOfWorker(["TROUPE_OPEN"], { entry: ENTRY });
  const state = join(scratch, "state");
  const lines: string[] = [];
  const onOutput = (line: string): void => {
    lines.push(line);
    if (line.includes("SPINNING")) spins();
  };
  const workerd = new Workerd({ config, state, vars: { TROUPE_OPEN: "1" }, onOutput });
  const spinning = (): Promise<"spinning"> =>
    new Promise((done) => {
      spins = () => done("spinning");
    });
  const call = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${workerd.origin}/v1/teams${path}`, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json" },
    });
    return response.json();
  };
  try {
    await workerd.start(null);
    const component = { provider: "test.SpinningAgent", config: { name: "spinner" } };
    await call("", { id: "team", component });
    let spun = spinning();
    const { id } = (await call("/team/runs", { task: "go" })) as RunInfo;
    let deaths = 0;
    let run: RunInfo | undefined;
    while (run === undefined && (await spun) === "spinning") {
      await workerd.kill();
      deaths++;
      expect(deaths).toBeLessThanOrEqual(11);
      spun = spinning();
      await workerd.start(null);
      // Any request loads the team; the process may spin before it can answer.
      const shown = call(`/team/runs/${id}`).catch(() => undefined) as Promise<RunInfo | undefined>;
      const seen = await Promise.race([spun, shown]);
      if (typeof seen === "object" && seen.ended_at !== null) run = seen;
    }
    expect(deaths).toBe(11);
    expect(run).toMatchObject({
      status: "failed",
      error: { type: "recovery_limit", turn: 2 },
    });
    expect(await call("/team")).toMatchObject({ status: "idle" });
    expect(lines.filter((line) => line.includes('"event":"run_recovered"'))).toHaveLength(10);
    expect(lines.find((line) => line.includes('"event":"run_failed"'))).toContain(
      '"class":"TroupeError","code":"recovery_limit"',
    );
  } finally {
    await workerd.kill();
    rmSync(scratch, { recursive: true, force: true });
  }
});

const TOOL = 'the step "call" ("count_forever") in the team\'s turn 2';

test.each([
  // In a tool: each time after the first two counts against it, and none against the others.
  ["caller", 30, 11, { step: "call", message: expect.stringContaining(TOOL) as string }],
  // While it waits like the others: they are executed one at a time in the end.
  ["receiver", 2, 45, { step: null }],
])("runs beside a %s complete that wait for a model", async (name, others, most, error) => {
  await using fake = await startFakeOpenAI({
    rules: [{ name: "long", hold: true, reply: { content: "Done." } }],
  });
  let spins = 0;
  await using worker = await KillableWorker.start(
    { SECRETS_KEY: btoa("k".repeat(32)) },
    {
      entry: ENTRY,
      logs: (line) => {
        if (line.includes("SPINNING")) spins++;
      },
    },
  );
  const { teams } = new TroupeClient({ baseURL: worker.origin });
  const model_client = {
    provider: "OpenAIChatCompletionClient",
    config: { model: "gpt-4o", base_url: fake.url, api_key: "k" },
  };
  const ids = Array.from({ length: others }, (_, index) => `innocent-${index}`);
  const runs = await Promise.all(
    ids.map(async (id) => {
      const config = { name: "helper", description: "", model_client };
      const team = await teams.create({ id, component: { provider: "AssistantAgent", config } });
      const { id: run } = await team.start("Take your time.");
      return `/v1/teams/${id}/runs/${run}`;
    }),
  );
  await vi.waitUntil(() => fake.requests.length >= others, PATIENCE);
  const component = { provider: "test.SpinningAgent", config: { name } };
  await teams.create({ id: "guilty", component });
  const started = await worker.fetch("/v1/teams/guilty/runs", jsonInit({ task: "go" }));
  const guilty = `/v1/teams/guilty/runs/${((await started.json()) as RunInfo).id}`;
  const look = async (path: string): Promise<RunInfo> =>
    (await (await worker.fetch(path)).json()) as RunInfo;

  let failed: RunInfo | undefined;
  let deaths = 0;
  while (failed === undefined) {
    await vi.waitUntil(() => spins > deaths, PATIENCE);
    await worker.kill();
    expect(++deaths).toBeLessThanOrEqual(most);
    // From here on each one runs alone until it makes progress.
    if (deaths === 28) fake.release("long");
    await worker.restart();
    // Any request loads a team, and no answer comes from a process that spins.
    const looks = [...runs, guilty].map((path) => look(path).catch(() => undefined));
    const spun = vi.waitUntil(() => spins > deaths, PATIENCE).catch(() => false);
    const seen = await Promise.race([spun, looks.at(-1)]);
    if (typeof seen === "object" && seen.status === "failed") failed = seen;
  }
  expect(deaths).toBeGreaterThanOrEqual(11);
  fake.release("long");
  const ended = async (): Promise<string[]> =>
    (await Promise.all(runs.map(look))).map(({ status }) => status);
  await expect.poll(ended, PATIENCE).toEqual(ids.map(() => "completed"));
  expect(failed.error).toMatchObject({ type: "recovery_limit", turn: 2, ...error });
});
