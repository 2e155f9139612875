import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { ROOT } from "../../../support/npm-start.ts";
import { TestWorker } from "../../../support/worker.ts";
import { jsonLines, troupe } from "../../support/command.ts";
import { conversation, HUMAN, speaker } from "../../support/teams.ts";

let worker: TestWorker;
let url: string;
let client: TroupeClient;

beforeAll(async () => {
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  url = await worker.origin;
  client = new TroupeClient({ baseURL: url });
});

afterAll(() => worker[Symbol.asyncDispose]());

describe("troupe teams, templates, export and delete", () => {
  test("list the teams, by status and text", async () => {
    await client.teams.create({ id: "quiet", label: "The quiet one", component: HUMAN });
    await client.teams.create({ id: "asking", component: HUMAN });
    await client.team("asking").start("Hello");
    const listed = async (...args: string[]): Promise<unknown[]> =>
      jsonLines((await troupe(["teams", "--json", ...args], { url })).stdout).map(({ id }) => id);
    await expect.poll(() => listed("--status", "waiting")).toEqual(["asking"]);
    expect(await listed()).toEqual(expect.arrayContaining(["asking", "quiet"]));
    expect(await listed("--search", "quiet one")).toEqual(["quiet"]);
    const { code, stdout } = await troupe(["teams", "--search", "quiet"], { url });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^quiet {2}idle {5}\d{4}-\S+Z {2}The quiet one\n$/);
    const none = await troupe(["teams", "--search", "nothing like it"], { url });
    expect(none).toMatchObject({ code: 0, stdout: "No teams match.\n" });
    const wrong = await troupe(["teams", "--status", "asleep"], { url });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("idle") });
  });

  test("list the templates", async () => {
    const { code, stdout } = await troupe(["templates"], { url });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^writer_critic {2}\S/m);
    const { stdout: json } = await troupe(["templates", "--json"], { url });
    expect(jsonLines(json)).toContainEqual(expect.objectContaining({ name: "writer_critic" }));
  });

  test("an exported team is imported again; its secrets are not exported", async () => {
    const component = {
      provider: "autogen_agentchat.agents.AssistantAgent",
      config: {
        name: "helper",
        model_client: {
          provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
          config: { model: "gpt-4o", api_key: "sk-a-secret" },
        },
      },
    };
    await client.teams.create({ id: "exported", component });
    const { code, stdout, stderr } = await troupe(["export", "exported"], { url });
    expect(code).toBe(0);
    expect(stdout).not.toContain("sk-a-secret");
    expect(stderr).toContain("Secrets are shown as");
    const filled = stdout.replaceAll("**********", "sk-another");
    const again = await troupe(["import", "-", "--id", "again"], { url, input: filled });
    expect(again).toMatchObject({ code: 0, stdout: "again\n" });
    const body = JSON.stringify({ id: "other", label: "Ours", component: JSON.parse(filled) });
    const wrapped = await troupe(["import", "-", "--label", "Mine", "--json"], {
      url,
      input: body,
    });
    expect(jsonLines(wrapped.stdout)).toMatchObject([{ id: "other", label: "Mine" }]);
    const one = await troupe(["export", "again", "--json"], { url });
    expect(jsonLines(one.stdout)).toEqual([JSON.parse(stdout)]);
  });

  test("the state is exported, too", async () => {
    await client.teams.create({ id: "said", component: speaker(["Once."]) });
    await client.team("said").run("Speak").result();
    const { code, stdout } = await troupe(["export", "said", "--state"], { url });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(await client.team("said").saveState());
    expect(stdout).toContain("Once.");
  });

  test("a deleted team is gone", async () => {
    await client.teams.create({ id: "old", component: HUMAN });
    const deleted = await troupe(["delete", "old"], { url });
    expect(deleted).toMatchObject({ code: 0, stdout: "Team old is deleted.\n" });
    const again = await troupe(["delete", "old", "--json"], { url });
    expect(again.code).toBe(1);
    expect(jsonLines(again.stderr)).toMatchObject([{ error: { code: "team_not_found" } }]);
  });
});

describe("troupe pause, resume and retry", () => {
  test("a run is paused and continues", async () => {
    await client.teams.create({ id: "long", component: conversation(["Yes?", "Fine."]) });
    const team = client.team("long");
    const { id: run } = await team.start("Hello");
    await expect.poll(async () => (await team.getRun(run)).status).toBe("waiting");
    const paused = await troupe(["pause", "long"], { url });
    const stdout = "The run pauses once its agents have finished their current steps.\n";
    expect(paused).toMatchObject({ code: 0, stdout });
    const [request] = await team.requests(run);
    await team.answer(run, request?.id ?? "", { content: "A walk" });
    await expect.poll(async () => (await team.getRun(run)).status).toBe("paused");
    const resumed = await troupe(["resume", "long", "--json"], { url });
    expect(resumed.code).toBe(0);
    expect(jsonLines(resumed.stdout)).toMatchObject([{ id: run }]);
    await expect.poll(async () => (await team.getRun(run)).status).toBe("waiting");
    expect((await troupe(["attach", "long"], { url })).stdout).toMatch(/speaker: Fine\.\n$/);
    await team.stop(run, "now");
    const nothing = await troupe(["pause", "long", "--json"], { url });
    expect(nothing.code).toBe(1);
    expect(jsonLines(nothing.stderr)).toMatchObject([{ error: { code: "nothing_runs" } }]);
  });

  test("a failed run is retried and shown", async () => {
    const unused = await troupe(["retry", "never", "--json"], { url });
    expect(jsonLines(unused.stderr)).toMatchObject([{ error: { code: "team_not_found" } }]);
    await client.teams.create({ id: "failing", component: speaker([]) });
    const early = await troupe(["retry", "failing", "--json"], { url });
    expect(early.code).toBe(1);
    expect(jsonLines(early.stderr)).toMatchObject([{ error: { code: "never_ran" } }]);
    expect((await troupe(["run", "failing", "Speak"], { url })).code).toBe(3);
    await client.team("failing").replaceComponent(speaker(["Now it works."]));
    const retried = await troupe(["retry", "failing"], { url });
    expect(retried.code).toBe(0);
    expect(retried.stdout).toContain("speaker: Now it works.\n");
    const again = await troupe(["retry", "failing", "--json"], { url });
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('"code":"') });
  });
});

describe("the command line without a terminal", () => {
  test("shows a run that waits with attach, reports it, and ends with 5", async () => {
    await client.teams.create({ id: "talk", component: conversation(["What shall we do?"]) });
    const { id: run } = await client.team("talk").start("Hello");
    await expect.poll(async () => (await client.team("talk").getRun(run)).status).toBe("waiting");
    const attached = await troupe(["attach", "talk"], { url, input: "A walk\n" });
    expect(attached.code).toBe(5);
    expect(attached.stdout).toBe("user: Hello\nspeaker: What shall we do?\n");
    expect(attached.stderr).toContain('The run waits for a human. Answer with "troupe inbox"');
    const json = await troupe(["attach", "talk", "--json"], { url });
    expect(json.code).toBe(5);
    expect(jsonLines(json.stdout).map(({ kind }) => kind)).toContain("message");
  });

  test("accepts a reader that ends before the output does", async () => {
    const texts = Array.from({ length: 40 }, (_, turn) => `${turn} ${"long ".repeat(500)}`);
    await client.teams.create({ id: "much", component: speaker(texts) });
    for (const [turn] of texts.entries()) await client.team("much").run(`Turn ${turn}`).result();
    const program = `'${process.execPath}' src/cli/bin.ts`;
    const script = `set -o pipefail; ${program} logs much --json | head -1 | cut -c1-8`;
    const shell = spawn("bash", ["-c", script], {
      cwd: ROOT,
      env: { ...process.env, TROUPE_URL: url },
    });
    let stdout = "";
    let stderr = "";
    shell.stdout.on("data", (data) => (stdout += String(data)));
    shell.stderr.on("data", (data) => (stderr += String(data)));
    const [code] = (await once(shell, "close")) as [number];
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '{"kind":\n', stderr: "" });
  });

  test("reports an output that cannot be written as an error", async () => {
    const script = `'${process.execPath}' src/cli/bin.ts templates > /dev/full`;
    const shell = spawn("bash", ["-c", script], {
      cwd: ROOT,
      env: { ...process.env, TROUPE_URL: url },
    });
    let stderr = "";
    shell.stderr.on("data", (data) => (stderr += String(data)));
    const [code] = (await once(shell, "close")) as [number];
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: Cannot write the output: ENOSPC.*\n$/);
  });
});

describe("a server that is not Troupe", () => {
  const ANSWERS = {
    page: [200, "text/html", "<!doctype html><title>Router</title>"],
    "other JSON": [200, "application/json", '{"hello":"world"}'],
    "a list": [200, "application/json", "[]"],
    "404 as a page": [404, "text/html", "<h1>Not found</h1>"],
    "404 as JSON": [404, "application/json", '{"error":"not found"}'],
    nothing: [204, "text/plain", ""],
  } as const;
  let kind: keyof typeof ANSWERS;
  const server = createServer((_, response) => {
    const [status, type, body] = ANSWERS[kind];
    response.writeHead(status, { "content-type": type }).end(body);
  });
  let directory: string;

  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    directory = mkdtempSync(join(tmpdir(), "troupe-cli-"));
    writeFileSync(join(directory, "human.json"), JSON.stringify(HUMAN));
  });

  afterAll(() => {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test.for(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])(
    "gets one sentence for %s",
    async (answer) => {
      kind = answer;
      const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, stdout, stderr } = await troupe(["teams"], { url: other });
      expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
      expect(stderr).toBe(
        `error: The server at ${other} is not Troupe: it does not serve /v1/whoami as Troupe does. Check --url or TROUPE_URL, and the path if Troupe is mounted under one.\n`,
      );
    },
  );

  test.for([["logs", "x"], ["run", "x", "y"], ["import", "human.json"], ["inbox"]])(
    "gets it for %j, too",
    async (args) => {
      kind = "page";
      const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agents`;
      const { code, stderr } = await troupe([...args, "--json"], { url: other, cwd: directory });
      expect(code).toBe(6);
      expect(jsonLines(stderr)).toMatchObject([{ error: { code: "no_troupe" } }]);
      expect(stderr).toContain("/agents/v1/whoami");
    },
  );
});
