// Teams as people have published them: they load, and run with an environment as people have one.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { PythonEnvironment } from "../support/python-environment.ts";
import { Sandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";
import { FIRST, PUBLIC_TEAMS, type PublicTeam } from "./public-teams.ts";
import { addStandIns } from "./stand-ins.ts";

interface Answer {
  id: string;
  notes: { path: string; message: string }[];
  errors?: { path: string; message: string }[];
}

let openai: FakeOpenAI;
let environment: PythonEnvironment;
let sandbox: Sandbox;
let worker: TestWorker;

beforeAll(async () => {
  // The model calls the tool that the task names.
  openai = await startFakeOpenAI({
    rules: [
      ...FIRST.map((name) => ({
        name: `choose ${name}`,
        match: { text: `Begin with ${name}.` },
        reply: { content: name },
      })),
      ...PUBLIC_TEAMS.flatMap(({ calls = [] }) =>
        calls.map(([name, args]) => ({
          name,
          match: { text: `Call ${name}.` },
          reply: { tool_calls: [{ name, arguments: args }] },
        })),
      ),
    ],
  });
  environment = await PythonEnvironment.make();
  await addStandIns(environment);
  sandbox = await Sandbox.start({ settings: { SANDBOX_PYTHON: environment.path } });
  worker = await TestWorker.start({
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
    SECRETS_KEY: btoa("k".repeat(32)),
    OPENAI_BASE_URL: openai.url,
    OPENAI_API_KEY: "key",
    SECRET_HOSTS: JSON.stringify({ OPENAI_API_KEY: [new URL(openai.url).host] }),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await environment[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

async function ask(path: string, body: object): Promise<{ status: number; answer: Answer }> {
  const response = await worker.fetch(path, jsonInit(body));
  return { status: response.status, answer: (await response.json()) as Answer };
}

/** A team from the dump as it is. */
async function create({ component, title }: PublicTeam): Promise<Answer> {
  const { status, answer } = await ask("/v1/teams", component);
  expect([title, status, answer.errors]).toEqual([title, 201, undefined]);
  return answer;
}

async function run(team: string, task: string): Promise<RunInfo> {
  const response = await worker.fetch(`/v1/teams/${team}/runs?wait=60`, jsonInit({ task }));
  return (await response.json()) as RunInfo;
}

/** The lines of the notes that install packages. */
function linesOf(notes: Answer["notes"]): string[] {
  return notes.flatMap(({ message }) => /Run "([^"]* pip install [^"]*)"/.exec(message)?.[1] ?? []);
}

/** Tools that need the standard library only. */
const LOCAL = new Set(["calculator", "count_rows", "refund_flight"]);

const loading = PUBLIC_TEAMS.filter((team) => team.refused === undefined);
const complete = loading.filter((team) => team.lacks === undefined);

test("20 of 24 teams load", () => {
  expect(PUBLIC_TEAMS).toHaveLength(24);
  expect(loading).toHaveLength(20);
});

describe("an environment without packages", () => {
  test.each(loading)(
    "has one line for all that a team lacks: $title",
    async ({ component, calls }) => {
      const { status, answer } = await ask("/v1/components/validate", component);
      expect([status, answer.errors]).toEqual([200, undefined]);
      // The packages of a component are in the line of each of its tools.
      const lines = new Set(
        linesOf(answer.notes).map((line) => line.split(" ").toSorted().join(" ")),
      );
      expect(lines.size).toBeLessThanOrEqual(1);
      const isLocal = calls?.every(([name]) => LOCAL.has(name)) ?? false;
      if (isLocal) expect(lines.size).toBe(0);
    },
  );

  test("lets a call fail with the line, and succeed after it was run, without a restart", async () => {
    const research = loading.find(({ title }) => title.includes("html2text"))!;
    const { id, notes } = await create(research);
    const [line = ""] = linesOf(notes);
    expect(line).toBe(`${environment.program} -m pip install httpx html2text beautifulsoup4`);
    const failed = await run(id, "Call web_search.");
    expect(JSON.stringify(failed.result)).toContain("No module named 'httpx'");
    expect(JSON.stringify(failed.result)).toContain(line);
    await install(line);
    const { result } = await run(id, "Call web_search.");
    expect(JSON.stringify(result)).toContain("https://tides.example");
    expect(linesOf((await create(research)).notes)).toEqual([]);
  });
});

async function install(line: string): Promise<void> {
  const env = { ...process.env, ...environment.pip };
  await promisify(execFile)("sh", ["-c", line], { env });
}

describe("stand-ins for the packages, from local wheels because PyPI cannot be reached", () => {
  test.each(complete)("let a team run its tools: $title", async (team) => {
    for (const line of new Set(linesOf((await create(team)).notes))) await install(line);
    const { id, notes } = await create(team);
    expect(linesOf(notes)).toEqual([]);
    for (const [name, , result] of team.calls ?? []) {
      const ended = await run(id, `Call ${name}.`);
      expect([name, ended.status, ended.error]).toEqual([name, "completed", null]);
      expect(JSON.stringify(ended.result?.messages)).toContain(JSON.stringify(result).slice(1, -1));
    }
    const { status } = await run(id, "Say hello.");
    expect(status).toBe("completed");
  });
});

describe("a key or an address that a model lacks", () => {
  test.each(loading.filter((team) => team.lacks !== undefined))(
    "is a note when the team is created, and an error when the model is called: $title",
    async (team) => {
      const { id, notes } = await create(team);
      expect(notes.map(({ message }) => message).join("\n")).toMatch(
        /Until then the model cannot be called/,
      );
      const ended = await run(id, "Say hello.");
      expect(ended.status).toBe("failed");
      expect(JSON.stringify(ended.error)).toMatch(team.lacks!);
    },
  );
});

test.each(PUBLIC_TEAMS.filter((team) => team.refused !== undefined))(
  "a part that has no place here is refused by name: $title",
  async ({ component, refused }) => {
    const { status, answer } = await ask("/v1/teams", component);
    expect(status).toBe(422);
    expect(JSON.stringify(answer.errors)).toMatch(refused!);
  },
);
