import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { testWith } from "../support/programs.ts";
import { Sandbox } from "../support/sandbox.ts";

let openai: FakeOpenAI;
let sandbox: Sandbox;
let worker: KillableWorker;

const call = (name: string, args: Record<string, string | string[]>) => ({
  tool_calls: [{ name, arguments: args }],
});

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "load", match: { text: "Begin." }, reply: call("load_skill", { name: "greet" }) },
      { name: "loaded", match: { text: "Files of the skill" }, reply: { content: "Loaded." } },
      {
        name: "read",
        match: { text: "Read it." },
        reply: call("read_skill_file", { name: "greet", path: "words.txt" }),
      },
      { name: "words", match: { text: "words of" }, reply: { content: "I have read it." } },
      {
        name: "script",
        match: { text: "Run it." },
        reply: call("run_skill_script", { name: "greet", path: "scripts/hello.py", args: ["Ann"] }),
      },
    ],
  });
  sandbox = await Sandbox.start();
  worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    OPERATOR_KEY_HASH: "",
    ALLOWED_EGRESS: openai.origin,
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

const HELLO = `import sys, pathlib
folder = pathlib.Path(__file__).parent.parent
try:
    (folder / "words.txt").write_text("changed")
except OSError:
    print("cannot be changed")
print((folder / "words.txt").read_text(), "for", *sys.argv[1:])
`;

const filesOf = (version: number, name = "greet"): Record<string, string> => ({
  "SKILL.md": `---\nname: ${name}\ndescription: Greets, version ${version}.\n---\nGreet well.\n`,
  "words.txt": `words of version ${version}`,
  "scripts/hello.py": HELLO,
});

const put = (name: string, files: object): Promise<Response> =>
  worker.fetch(`/v1/skills/${name}`, jsonInit({ files }, "PUT"));

async function read<T>(path: string): Promise<T> {
  return (await worker.fetch(path)).json() as Promise<T>;
}

describe("the API of skills", () => {
  test("keeps versions, and makes none of equal files in another form", async () => {
    const first = await put("kept", filesOf(1, "kept"));
    expect(first.status).toBe(201);
    expect(first.headers.get("location")).toBe("/v1/skills/kept");
    expect(await first.json()).toMatchObject({
      name: "kept",
      version: 1,
      description: "Greets, version 1.",
      text: "Greet well.",
      allowed_tools: null,
      front_matter: { name: "kept" },
      files: [{ path: "SKILL.md" }, { path: "scripts/hello.py" }, { path: "words.txt" }],
    });
    const list = Object.entries(filesOf(1, "kept")).map(([path, content]) => ({
      path,
      base64: Buffer.from(content).toString("base64"),
    }));
    const equal = await put("kept", list);
    expect([equal.status, ((await equal.json()) as { version: number }).version]).toEqual([200, 1]);
    expect((await put("kept", filesOf(2, "kept"))).status).toBe(200);
    const { versions } = await read<{ versions: { version: number; description: string }[] }>(
      "/v1/skills/kept/versions",
    );
    expect(versions.map(({ version, description }) => [version, description])).toEqual([
      [2, "Greets, version 2."],
      [1, "Greets, version 1."],
    ]);
    const page = await read<{ next_cursor: string }>("/v1/skills/kept/versions?limit=1");
    const rest = await read(`/v1/skills/kept/versions?limit=1&cursor=${page.next_cursor}`);
    expect(rest).toMatchObject({ versions: [{ version: 1 }], next_cursor: null });
    expect(await read("/v1/skills/kept?version=1")).toMatchObject({ version: 1 });
    const file = await worker.fetch("/v1/skills/kept/files/words.txt?version=1");
    expect(await file.text()).toBe("words of version 1");
    expect(file.headers.get("content-disposition")).toBe("attachment");
  });

  test("takes a zip archive, which is the same skill as its folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "skill-"));
    for (const [path, content] of Object.entries(filesOf(1, "zipped"))) {
      mkdirSync(join(folder, "zipped", path, ".."), { recursive: true });
      writeFileSync(join(folder, "zipped", path), content);
    }
    const pack =
      "import shutil, sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[2], 'zipped')";
    execFileSync("python3", ["-c", pack, join(folder, "archive"), folder]);
    const body = readFileSync(join(folder, "archive.zip"));
    rmSync(folder, { recursive: true });
    expect((await put("zipped", filesOf(1, "zipped"))).status).toBe(201);
    const headers = { "content-type": "application/zip" };
    const response = await worker.fetch("/v1/skills/zipped", { method: "PUT", headers, body });
    expect([response.status, await response.json()]).toMatchObject([200, { version: 1 }]);
  });

  test("keeps files larger than a row, also over a kill", async () => {
    const big = Buffer.alloc(3_500_000, 7);
    big.write("begin", 0);
    big.write("end", big.length - 3);
    const files = {
      ...filesOf(1, "large"),
      "assets/big.bin": { base64: big.toString("base64") },
      "assets/small.txt": "small",
    };
    expect((await put("large", files)).status).toBe(201);
    await worker.kill();
    await worker.restart();
    const response = await worker.fetch("/v1/skills/large/files/assets/big.bin");
    expect(Buffer.from(await response.arrayBuffer()).equals(big)).toBe(true);
    const small = await worker.fetch("/v1/skills/large/files/assets/small.txt");
    expect(await small.text()).toBe("small");
  });

  test.each([
    [
      { "SKILL.md": "---\nname: other\ndescription: d\n---\n" },
      422,
      "SKILL.md",
      'line 2: name is "other", and the folder of the skill is "bad": both must be equal',
    ],
    [{ "SKILL.md": "---\nname: bad\n---\n" }, 422, "SKILL.md", "line 1: description is missing"],
    [
      { ...filesOf(1, "bad"), "../up": "1" },
      422,
      "../up",
      "has .., which leads out of the folder of the skill",
    ],
    [{ "a.txt": "1" }, 422, "SKILL.md", "is missing: a skill is a folder with SKILL.md in it"],
    [
      { "SKILL.md": { base64: "no base64" } },
      422,
      "files.SKILL.md.base64",
      "is not base64 with its padding",
    ],
    [[{ path: "SKILL.md" }], 422, "files", undefined],
  ])("refuses a folder with the place and the rule: %#", async (files, status, path, message) => {
    const response = await put("bad", files);
    const problem = (await response.json()) as { errors: { path: string; message: string }[] };
    expect(response.status).toBe(status);
    expect(problem.errors[0]!.path).toContain(path);
    if (message !== undefined) expect(problem.errors[0]!.message).toBe(message);
    expect((await worker.fetch("/v1/skills/bad")).status).toBe(404);
  });

  test("refuses what is too large, and other media types", async () => {
    const large = { ...filesOf(1, "bad"), big: "a".repeat(10_000_001) };
    expect((await put("bad", large)).status).toBe(413);
    const sent = (type: string, body: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
      worker.fetch("/v1/skills/bad", { method: "PUT", headers: { "content-type": type }, body });
    expect((await sent("application/zip", new Uint8Array(10_000_001))).status).toBe(413);
    expect((await sent("application/zip", "nothing")).status).toBe(422);
    expect((await sent("text/plain", "nothing")).status).toBe(415);
  });

  test("lists skills by name, and deletes one with its versions", async () => {
    for (const name of ["list-b", "list-a"]) await put(name, filesOf(1, name));
    const names: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page: { skills: { name: string }[]; next_cursor: string | null } = await read(
        `/v1/skills?limit=1${query}`,
      );
      names.push(...page.skills.map(({ name }) => name));
      cursor = page.next_cursor;
    }
    expect(names).toEqual(names.toSorted());
    expect(names).toContain("list-a");
    const remove = (): Promise<Response> => worker.fetch("/v1/skills/list-a", { method: "DELETE" });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await worker.fetch("/v1/skills/list-a/versions")).status).toBe(404);
    expect((await put("list-a", filesOf(1, "list-a"))).status).toBe(201);
  });
});

const component = (config: object = {}) => ({
  provider: "RoundRobinGroupChat",
  config: {
    max_turns: 3,
    participants: [
      {
        provider: "AssistantAgent",
        config: {
          name: "helper",
          skills: ["greet"],
          model_client: {
            provider: "OpenAIChatCompletionClient",
            config: { model: "gpt-4o", api_key: "key", base_url: openai.url },
          },
          ...config,
        },
      },
      { provider: "UserProxyAgent", config: { name: "user", description: "A person." } },
    ],
  },
});

async function started(id: string, task: string, config?: object): Promise<RunInfo> {
  const created = await worker.fetch("/v1/teams", jsonInit({ id, component: component(config) }));
  expect(created.status).toBe(201);
  const response = await worker.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task }));
  return (await response.json()) as RunInfo;
}

async function answer({ id, team_id, requests }: RunInfo, body: object): Promise<void> {
  const path = `/v1/teams/${team_id}/runs/${id}/requests/${requests[0]?.id}`;
  const answered = await worker.fetch(path, jsonInit(body));
  expect(answered.status, await answered.text()).toBe(200);
}

async function ended({ id, team_id }: RunInfo, status: string): Promise<RunInfo> {
  let run: RunInfo | undefined;
  await expect
    .poll(async () => {
      run = await read<RunInfo>(`/v1/teams/${team_id}/runs/${id}`);
      return run.status;
    })
    .toBe(status);
  return run as RunInfo;
}

/** The last message of each request to the model, and its system message. */
const asked = (): string[] =>
  openai.log.requests.map(({ body }) => {
    const { messages } = body as { messages: { role: string; content: unknown }[] };
    return JSON.stringify([messages[0], messages.at(-1)]);
  });

describe("a run", () => {
  test("keeps to the version that it has found when there is a newer one, over a kill", async () => {
    await put("greet", filesOf(1));
    openai.log.requests.length = 0;
    const run = await started("pinned", "Begin.");
    expect(run.status).toBe("waiting");
    await put("greet", filesOf(2));
    await worker.kill();
    await worker.restart();
    await answer(run, { content: "Read it." });
    await ended(run, "completed");
    const requests = asked();
    expect(requests.every((text) => text.includes("greet: Greets, version 1."))).toBe(true);
    expect(requests.at(-1)).toContain("words of version 1");
    const next = await worker.fetch("/v1/teams/pinned/runs?wait=60", jsonInit({ task: "Begin." }));
    const waiting = (await next.json()) as RunInfo;
    // It is the user's turn.
    if (waiting.requests.length > 0) await answer(waiting, { content: "Begin." });
    await expect.poll(() => asked().at(-1)).toContain("greet: Greets, version 2.");
  });

  test("that a fork begins finds the newest version, and the forked run keeps its own", async () => {
    await put("greet", filesOf(5));
    const run = await started("forked", "Begin.");
    expect(run.status).toBe("waiting");
    const body = jsonInit({ id: "branch" });
    const fork = await worker.fetch("/v1/teams/forked/fork", body);
    expect(fork.status, await fork.text()).toBe(201);
    await put("greet", filesOf(6));
    openai.log.requests.length = 0;
    const other = await worker.fetch("/v1/teams/branch/runs?wait=60", jsonInit({ task: "Begin." }));
    const waiting = (await other.json()) as RunInfo;
    if (waiting.requests.length > 0) await answer(waiting, { content: "Begin." });
    await expect.poll(() => asked().at(-1)).toContain("greet: Greets, version 6.");
    await answer(run, { content: "Read it." });
    await ended(run, "completed");
    expect(asked().at(-1)).toContain("words of version 5");
  });

  test("has a note where there is no such skill, which validation knows before", async () => {
    const body = { component: component({ skills: ["nowhere", "greet"] }) };
    const validated = await worker.fetch("/v1/components/validate", jsonInit(body));
    expect(await validated.json()).toMatchObject({
      notes: [
        {
          path: "component.config.participants[0].config.skills[0]",
          message: expect.stringContaining('there is no skill "nowhere"') as string,
        },
      ],
    });
  });

  const withPython = testWith("python3");

  withPython("runs a script in the sandbox, which cannot change the folder", async () => {
    await put("greet", filesOf(3));
    openai.log.requests.length = 0;
    const run = await started("scripted", "Run it.");
    expect(run.status).toBe("waiting");
    const messages = await read("/v1/teams/scripted/messages");
    expect(JSON.stringify(messages)).toContain(
      String.raw`cannot be changed\nwords of version 3 for Ann`,
    );
  });

  withPython("asks a human before a script where the agent says so", async () => {
    const run = await started("approved", "Run it.", { approval: "human" });
    expect(run.requests).toMatchObject([
      { kind: "approval", tool_call: { name: "run_skill_script" } },
    ]);
    await answer(run, { approved: false, reason: "Not now." });
    await expect
      .poll(async () => JSON.stringify(await read("/v1/teams/approved/messages")))
      .toContain("The tool call was not approved. Reason: Not now.");
  });
});
