import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { HeldModel } from "../../support/held-model.ts";
import { freePort } from "../../support/ports.ts";
import { runningProcesses } from "../../support/programs.ts";
import { PythonEnvironment } from "../../support/python-environment.ts";
import { PATIENCE } from "../../support/patience.ts";
import { BuiltProject, Served } from "./support/served.ts";

const SANDBOX = resolve(import.meta.dirname, "../../../sandbox");

let project: BuiltProject;
let port: number;

beforeAll(async () => {
  project = await BuiltProject.make();
  port = await freePort();
});

afterAll(() => project[Symbol.dispose]());

function apiKey(): string {
  return readFileSync(join(project.state, "api-key"), "utf8").trim();
}

function client({ url }: Served): TroupeClient {
  return new TroupeClient({ baseURL: url, token: apiKey() });
}

/** The workerd processes on the state of this test. */
function runtimes(): number[] {
  return runningProcesses()
    .filter(({ command }) => command.includes(`=${project.state}/`))
    .map(({ pid }) => pid);
}

test("the first start generates keys and shows them once, in lines of JSON only", async () => {
  await using first = await Served.ready(project, port);
  const made = await first.line(({ event }) => event === "keys_generated");
  expect(made).toMatchObject({ level: "info", api_key: apiKey(), tenant: "local" });
  expect(statSync(join(project.state, "api-key")).mode & 0o777).toBe(0o600);
  expect((await fetch(`${first.url}/v1/teams`)).status).toBe(401);
  expect((await client(first).teams.list()).teams).toEqual([]);
  const asset = await fetch(`${first.url}/favicon.svg`);
  expect(asset.headers.get("content-type")).toBe("image/svg+xml");
  expect(asset.headers.get("content-security-policy")).toContain("default-src 'none'");
  await first.line(
    ({ event, path, status }) => event === "request" && path === "/v1/teams" && status === 401,
  );
  expect(first.text).toBe("");
  expect(await first.stop()).toBe(0);
  expect(existsSync(join(project.state, "workerd.capnp"))).toBe(false);

  await using second = await Served.ready(project, port);
  expect(JSON.stringify(second.lines)).not.toContain(apiKey());
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a run that is active at %s continues at the next start, without a request",
  async (signal) => {
    await using model = await HeldModel.start();
    const settings = { ALLOWED_EGRESS: model.origin };
    await using first = await Served.ready(project, port, [], settings);
    const component = {
      provider: "AssistantAgent",
      config: { name: "writer", model_client: model.client() },
    };
    const id = `writer-${signal.toLowerCase()}`;
    const team = await client(first).teams.create({ id, component: component as never });
    const { id: run } = await team.start("Write.");
    (await model.request(1)).begin("Half");
    await first.stop(signal);
    await vi.waitUntil(() => runtimes().length === 0, PATIENCE);

    await using second = await Served.ready(project, port, [], settings);
    (await model.request(2)).end("The whole text.");
    const again = client(second).team(id);
    await expect.poll(async () => (await again.getRun(run)).status).toBe("completed");
    const { result } = await again.getRun(run);
    expect(result?.messages.at(-1)).toMatchObject({ content: "The whole text." });
  },
);

test("a deleted team leaves no file behind after the next start", async () => {
  const files = (): string[] =>
    globSync("v3/do/troupe-TeamObject/*.sqlite", { cwd: project.state }).toSorted();
  await using first = await Served.ready(project, port);
  await first.stop();
  const before = files();
  {
    await using server = await Served.ready(project, port);
    const component = { provider: "UserProxyAgent", config: { name: "human" } };
    const team = await client(server).teams.create({ component });
    expect(files().length).toBeGreaterThan(before.length);
    await team.delete();
  }
  await using _again = await Served.ready(project, port);
  expect(files()).toEqual(before);
});

test("code runs in the sandbox that the server starts", async () => {
  await using server = await Served.ready(project, port, ["--sandbox", SANDBOX]);
  const team = await client(server).teams.create({ id: "code", template: "code_runner" });
  const { messages } = await team.run("```python\nprint(6 * 7)\n```").result();
  expect(messages.at(-1)).toMatchObject({ content: expect.stringContaining("42") });
});

test("Python of a team imports the modules of the virtual environment that --python names", async () => {
  await using environment = await PythonEnvironment.make(["--without-pip"]);
  await environment.addModule("greetings", "def hello(name):\n    return f'Hello, {name}!'\n");
  const args = ["--sandbox", SANDBOX, "--python", environment.path];
  await using server = await Served.ready(project, port, args);
  const team = await client(server).teams.create({ id: "greets", template: "code_runner" });
  const { messages } = await team
    .run("```python\nimport greetings\nprint(greetings.hello('Ada'))\n```")
    .result();
  expect(messages.at(-1)).toMatchObject({ content: expect.stringContaining("Hello, Ada!") });
});

test("a folder that is not the sandbox is refused", async () => {
  const server = new Served(project, port, ["--sandbox", project.directory]);
  expect(await server.exit()).toBe(2);
  expect(server.text).toContain("is not the folder of the sandbox: it has no main.ts.");
});

test("a Worker that is killed is restarted, and says so", async () => {
  await using server = await Served.ready(project, port);
  const [pid = 0] = runtimes();
  process.kill(pid, "SIGKILL");
  await server.line(({ event }) => event === "worker_restarted");
  await expect.poll(async () => (await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(runtimes()).not.toContain(pid);
});

test("a Worker above --max-memory is restarted", async () => {
  await using server = await Served.ready(project, port, ["--max-memory", "1"]);
  expect(await server.line(({ event }) => event === "memory_limit")).toMatchObject({
    level: "warn",
  });
  await server.line(({ event }) => event === "worker_restarted");
});

test("requests that write are refused while the disk has less space than --min-free-disk", async () => {
  await using server = await Served.ready(project, port, ["--min-free-disk", "999999999"]);
  const headers = { authorization: `Bearer ${apiKey()}` };
  const refused = await fetch(`${server.url}/v1/teams`, { method: "POST", headers, body: "{}" });
  expect(refused.status).toBe(507);
  expect(await refused.json()).toMatchObject({ code: "disk_full" });
  expect((await fetch(`${server.url}/v1/teams`, { headers })).status).toBe(200);
});

test("a server that other machines reach requires keys", async () => {
  const open = new Served(project, port, ["--host", "0.0.0.0"], { TROUPE_OPEN: "1" });
  expect(await open.exit()).toBe(2);
  expect(open.text).toContain(
    "TROUPE_OPEN is 1, which opens the API to everyone who reaches 0.0.0.0.",
  );
  await using server = await Served.ready(project, port, ["--host", "0.0.0.0"]);
  expect((await fetch(`${server.url}/v1/teams`)).status).toBe(401);
});

test("a second server on the same state is refused with the way to start it", async () => {
  await using server = await Served.ready(project, port);
  const second = new Served(project, await freePort());
  expect(await second.exit()).toBe(1);
  expect(second.text).toContain(`another server: process ${server.pid}`);
  expect(second.text).toMatch(/npx troupe serve --port \d+ --state \.troupe\/state-2/);
});
