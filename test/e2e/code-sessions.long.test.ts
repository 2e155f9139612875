import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../support/http-app.ts";
import { Sandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";

let data: string;
/** A directory of this machine that code sees. */
let readable: string;
let sandbox: Sandbox;
let worker: TestWorker;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), "troupe-code-"));
  readable = mkdtempSync(join(tmpdir(), "troupe-readable-"));
  chmodSync(readable, 0o755);
  sandbox = await Sandbox.start({ data, settings: { SANDBOX_READABLE: readable } });
  worker = await TestWorker.start({ SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  for (const directory of [data, readable]) rmSync(directory, { recursive: true, force: true });
});

async function createRunner(id: string): Promise<void> {
  const component = {
    provider: "autogen_agentchat.agents.CodeExecutorAgent",
    config: {
      name: "runner",
      code_executor: {
        provider: "autogen_ext.code_executors.docker.DockerCommandLineCodeExecutor",
        config: { timeout: 30 },
      },
    },
  };
  const response = await worker.fetch("/v1/teams", jsonInit({ id, component }));
  expect(response.status).toBe(201);
}

/** Lets a team run a shell script. */
async function shell(team: string, script: string, wait = 30): Promise<RunInfo> {
  const task = `\`\`\`sh\n${script}\n\`\`\``;
  const response = await worker.fetch(`/v1/teams/${team}/runs?wait=${wait}`, jsonInit({ task }));
  return (await response.json()) as RunInfo;
}

function output({ result }: RunInfo): unknown {
  const last = result?.messages.at(-1);
  return last && "content" in last ? last.content : undefined;
}

test("code of a cancelled run is stopped and leaves nothing behind; a retry runs it again", async () => {
  await createRunner("cancelled");
  // What code can see outside of its workspace.
  const signal = join(readable, "go");
  const script = `ls; touch made; [ -e ${signal} ] || sleep 60; echo went`;
  const { id, status } = await shell("cancelled", script, 1);
  expect(status).toBe("running");
  const run = `/v1/teams/cancelled/runs/${id}`;
  await worker.fetch(`${run}/stop`, jsonInit({ mode: "now" }));
  writeFileSync(signal, "");
  const retried = (await (await worker.fetch(`${run}/retry`, jsonInit({}))).json()) as RunInfo;
  const ended = async (): Promise<RunInfo> =>
    (await worker.fetch(`/v1/teams/cancelled/runs/${retried.id}`)).json() as Promise<RunInfo>;
  await expect.poll(async () => (await ended()).status).toBe("completed");
  expect(output(await ended())).toBe("went\n");
});

test("a workspace stays with its team: a fork does not get it, a deletion erases it", async () => {
  await createRunner("owner");
  await shell("owner", "echo mine > a.txt");
  await worker.fetch("/v1/teams/owner/fork", jsonInit({ id: "fork" }));
  expect(output(await shell("fork", "ls"))).toContain("printed nothing");
  expect(output(await shell("owner", "ls"))).toBe("a.txt\n");
  const sessions = (): number => readdirSync(join(data, "sessions")).length;
  const before = sessions();
  expect((await worker.fetch("/v1/teams/owner", { method: "DELETE" })).status).toBe(204);
  await expect.poll(sessions).toBe(before - 1);
});
