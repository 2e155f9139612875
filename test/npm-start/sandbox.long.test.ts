import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort, isFree } from "../support/ports.ts";

let persistTo: string;
let port: number;

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-start-"));
  port = await freePort();
});

afterAll(() => rmSync(persistTo, { recursive: true, force: true }));

test("npm start brings a sandbox, starts it again when it dies, and takes it along when killed", async () => {
  const server = await NpmStart.ready({
    port,
    persistTo,
    sandbox: true,
    // It starts in no time.
    settings: {
      SANDBOX_ISOLATION: "process",
      SANDBOX_FORCE_PROCESS: "1",
      SANDBOX_KEY: "is-not-for-this-one",
    },
  });
  const health = await fetch(`${server.url}/healthz`);
  expect(await health.json()).toEqual({ status: "ok", code: "service", sandbox: "ready" });
  const component = {
    provider: "CodeExecutorAgent",
    config: { name: "runner", code_executor: { provider: "SandboxCodeExecutor", config: {} } },
  };
  await fetch(`${server.url}/v1/teams`, jsonInit({ id: "t", component }));
  const messagesOf = async (team: string, task: string) => {
    const response = await fetch(`${server.url}/v1/teams/${team}/runs?wait=60`, jsonInit({ task }));
    return ((await response.json()) as RunInfo).result?.messages ?? [];
  };
  const run = async (task: string): Promise<unknown> => {
    const last = (await messagesOf("t", task)).at(-1);
    return last && "content" in last ? last.content : undefined;
  };
  await fetch(`${server.url}/v1/teams`, jsonInit({ id: "pair", template: "coding_pair" }));
  const said = await messagesOf("pair", "Which primes are there below 100?");
  expect(said).toMatchObject([
    { source: "user" },
    { source: "coder" },
    { source: "code_runner", content: expect.stringContaining("25 found, the last is 97") },
    { source: "coder", content: expect.stringContaining("25 primes below 100") },
  ]);
  expect(await run("```sh\necho kept > file.txt; echo $((6 * 7))\n```")).toBe("42\n");

  const [, pid] = await server.until(/The agents' code runs in a sandbox .* process (\d+)/);
  process.kill(Number(pid), "SIGKILL");
  await server.until(/The sandbox ended \(SIGKILL\) and is restarted\./);
  expect(await run("```sh\ncat file.txt\n```")).toBe("kept\n");

  const vars = readFileSync(join(persistTo, `vars.env`), "utf8");
  const sandboxPort = Number(/SANDBOX_URL='http:\/\/127\.0\.0\.1:(\d+)'/.exec(vars)?.[1]);
  expect(await isFree(sandboxPort)).toBe(false);
  process.kill(Number(server.pid), "SIGKILL");
  await server.exit();
  await expect.poll(() => isFree(sandboxPort)).toBe(true);
});

test("CODE=off starts no sandbox, and the server says so", async () => {
  await using server = await NpmStart.ready({
    port,
    persistTo,
    sandbox: true,
    settings: { CODE: "off" },
  });
  await server.until(/Agents cannot run code: CODE is off\./);
  const health = await fetch(`${server.url}/healthz`);
  expect(await health.json()).toEqual({ status: "ok", code: "off", sandbox: "off" });
});

test("a sandbox that does not start is reported with its reason, and the server answers without it", async () => {
  await using server = new NpmStart({
    port,
    persistTo,
    sandbox: true,
    settings: { SANDBOX_ISOLATION: "glass", TENANT_TEAM: "5" },
  });
  await server.until(
    /TENANT_TEAM is not a setting and has no effect\. Did you mean TENANT_TEAMS\?/,
  );
  const [report] = await server.until(/The sandbox does not start:[\s\S]*?It ended: exit code 1\./);
  expect(report).toContain("SANDBOX_ISOLATION must be wasm or process");
  await server.until(/Agents cannot run code: the sandbox did not start\./);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});
