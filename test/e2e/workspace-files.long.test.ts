import { request as httpRequest } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jsonInit } from "../support/http-app.ts";
import { Sandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";

const MAX_FILE_BYTES = 200_000;

let sandbox: Sandbox;
let worker: TestWorker;

const runner = {
  provider: "autogen_agentchat.agents.CodeExecutorAgent",
  config: {
    name: "runner",
    code_executor: { provider: "troupe.code_executors.SandboxCodeExecutor", config: {} },
  },
};

beforeAll(async () => {
  sandbox = await Sandbox.start();
  worker = await TestWorker.start({
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
    SECRETS_KEY: btoa("k".repeat(32)),
    MAX_FILE_BYTES: String(MAX_FILE_BYTES),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

/** Each request has a connection of its own: the server may close an idle one in the moment in which it is used again. */
async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("connection", "close");
  return worker.fetch(path, { ...init, headers });
}

async function newTeam(): Promise<string> {
  const response = await ask("/v1/teams", jsonInit({ component: runner }));
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

function at(team: string, path: string): string {
  return `/v1/teams/${team}/files/${path}`;
}

function put(
  team: string,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<Response> {
  return ask(at(team, path), { method: "PUT", body });
}

interface Listed {
  files: { path: string; size: number; modified_at: string; media_type: string }[];
  next_cursor: string | null;
}

async function list(team: string, query = ""): Promise<Listed> {
  const response = await ask(`/v1/teams/${team}/files${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Listed;
}

interface Ran {
  messages: { type: string; content: string; metadata: Record<string, string> }[];
}

/** The messages of a run whose code is Python. */
async function run(team: string, code: string): Promise<Ran["messages"]> {
  const task = `\`\`\`python\n${code}\n\`\`\``;
  const started = await ask(`/v1/teams/${team}/runs?wait=60`, jsonInit({ task }));
  expect(await started.json()).toMatchObject({ status: "completed" });
  const thread = await ask(`/v1/teams/${team}/messages`);
  return ((await thread.json()) as Ran).messages;
}

/** Sends a path as it is: `fetch` would resolve it first. */
async function raw(method: string, path: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(await worker.origin);
  const request = httpRequest({ hostname, port, method, path });
  request.end(method === "PUT" ? "intruder" : undefined);
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      void textOf(response).then((body) => resolve({ status: response.statusCode ?? 0, body }));
    });
  });
}

const problem = async (response: Response): Promise<[number, unknown]> => [
  response.status,
  ((await response.json()) as { code: unknown }).code,
];

describe("the files of a team", () => {
  test("contain a run's input and output, and the message with its output names them", async () => {
    const team = await newTeam();
    const created = await put(team, "data/in%20put.csv", "1\n2\n39\n");
    expect([created.status, created.headers.get("location")]).toEqual([
      201,
      at(team, "data/in%20put.csv"),
    ]);
    expect((await put(team, "data/in%20put.csv", "1\n2\n40\n")).status).toBe(204);
    const messages = await run(
      team,
      'total = sum(map(int, open("data/in put.csv")))\nopen("plot.png", "wb").write(bytes([137, 80, 78, 71, total]))\nprint(total)',
    );
    expect(messages.at(-1)).toMatchObject({
      type: "TextMessage",
      content: "43\n",
      metadata: { files: '["plot.png"]' },
    });
    expect(await list(team)).toEqual({
      files: [
        {
          path: "data/in put.csv",
          size: 7,
          modified_at: expect.any(String) as string,
          media_type: "text/csv; charset=utf-8",
        },
        {
          path: "plot.png",
          size: 5,
          modified_at: expect.any(String) as string,
          media_type: "image/png",
        },
      ],
      next_cursor: null,
    });
    const plot = await ask(at(team, "plot.png"));
    expect(new Uint8Array(await plot.arrayBuffer())).toEqual(
      Uint8Array.from([137, 80, 78, 71, 43]),
    );
    expect(Object.fromEntries(plot.headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": "inline; filename*=UTF-8''plot.png",
      "content-length": "5",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    const head = await ask(at(team, "plot.png"), { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "5"]);
    expect((await ask(at(team, "plot.png"), { method: "DELETE" })).status).toBe(204);
    expect(await problem(await ask(at(team, "plot.png"), { method: "DELETE" }))).toEqual([
      404,
      "file_not_found",
    ]);
    expect((await run(team, 'print("quiet")')).at(-1)).toMatchObject({ metadata: {} });
  });

  test.each([
    ["page.html", "text/html; charset=utf-8"],
    ["picture.svg", "image/svg+xml; charset=utf-8"],
    ["code.js", "text/javascript; charset=utf-8"],
    ["no-extension", "application/octet-stream"],
    ['it\'s (1)*"x".unknown', "application/octet-stream"],
    ["ünïcode ✓.TXT", "text/plain; charset=utf-8"],
  ])("%s is downloaded and never shown as a page", async (name, type) => {
    const team = await newTeam();
    expect((await put(team, encodeURIComponent(name), "<script>alert(1)</script>")).status).toBe(
      201,
    );
    const { headers } = await ask(at(team, encodeURIComponent(name)));
    expect(headers.get("content-type")).toBe(type);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const [, encoded = ""] =
      /^attachment; filename\*=UTF-8''([\w.%~!-]+)$/.exec(
        headers.get("content-disposition") ?? "",
      ) ?? [];
    expect(decodeURIComponent(encoded)).toBe(name);
  });

  test("are listed in pages", async () => {
    const team = await newTeam();
    for (const name of ["a", "b", "c/d", "e"]) await put(team, name, name);
    const first = await list(team, "?limit=3");
    expect(first.files.map(({ path }) => path)).toEqual(["a", "b", "c/d"]);
    const rest = await list(team, `?limit=3&cursor=${encodeURIComponent(first.next_cursor ?? "")}`);
    expect(rest.files.map(({ path }) => path)).toEqual(["e"]);
    expect(rest.next_cursor).toBeNull();
    const response = await ask(`/v1/teams/${team}/files?limit=0`);
    expect(await problem(response)).toEqual([422, "invalid_query"]);
  });

  test("are those of one team", async () => {
    const team = await newTeam();
    await put(team, "mine", "1");
    expect((await list(await newTeam())).files).toEqual([]);
    expect(await problem(await ask("/v1/teams/nobody/files"))).toEqual([404, "team_not_found"]);
    expect(await problem(await put("nobody", "x", "1"))).toEqual([404, "team_not_found"]);
    expect((await ask(`/v1/teams/${team}`, { method: "DELETE" })).status).toBe(204);
    expect((await ask(at(team, "mine"))).status).toBe(404);
  });

  test("arrive and leave in pieces, whole", async () => {
    const team = await newTeam();
    const bytes = new Uint8Array(MAX_FILE_BYTES).map((_, index) => index % 251);
    const pieces = Array.from({ length: 10 }, (_, index) =>
      bytes.subarray(index * 20_000, (index + 1) * 20_000),
    );
    const response = await ask(at(team, "pieces.bin"), {
      method: "PUT",
      body: ReadableStream.from(pieces),
      duplex: "half",
    });
    expect(response.status).toBe(201);
    const read = await ask(at(team, "pieces.bin"));
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(bytes);
  });

  test("have a limit, however their size is declared", async () => {
    const team = await newTeam();
    for (const size of [MAX_FILE_BYTES + 1, 40_000_000]) {
      const bytes = new Uint8Array(size);
      expect(await problem(await put(team, "large", bytes))).toEqual([413, "body_too_large"]);
      const streamed = await ask(at(team, "large"), {
        method: "PUT",
        body: ReadableStream.from([
          bytes.subarray(0, MAX_FILE_BYTES),
          bytes.subarray(MAX_FILE_BYTES),
        ]),
        duplex: "half",
      });
      expect(await problem(streamed)).toEqual([413, "body_too_large"]);
    }
    expect((await list(team)).files).toEqual([]);
  });

  test("are not written by a client that leaves in the middle", async () => {
    const team = await newTeam();
    const gone = new AbortController();
    async function* halves(): AsyncGenerator<Uint8Array, void, void> {
      yield new Uint8Array(1000);
      setTimeout(() => gone.abort(), 200);
      await new Promise(() => {});
    }
    const sent = ask(at(team, "half"), {
      method: "PUT",
      body: ReadableStream.from(halves()),
      duplex: "half",
      signal: gone.signal,
    });
    await expect(sent).rejects.toThrow("abort");
    expect((await put(team, "whole", "1")).status).toBe(201);
    expect((await list(team)).files.map(({ path }) => path)).toEqual(["whole"]);
  });

  test("are found by path only, and links are not followed", async () => {
    const team = await newTeam();
    await put(team, "dir/x", "1");
    await run(
      team,
      'import os\nos.symlink("/etc/passwd", "link")\nos.symlink("/etc", "etc")\nos.symlink("dir/x", "inside")',
    );
    const invalid = [
      ["GET", "link", "is_a_link"],
      ["GET", "etc/passwd", "is_a_link"],
      ["GET", "inside", "is_a_link"],
      ["PUT", "etc/intruder", "is_a_link"],
      ["DELETE", "etc/passwd", "is_a_link"],
      ["GET", "dir%2fx", "invalid_path"],
      ["GET", "..%2f..%2fx", "invalid_path"],
      ["PUT", "..%5cx", "invalid_path"],
      ["PUT", "dir//x", "invalid_path"],
      ["PUT", "%00", "invalid_path"],
      ["PUT", "line%0abreak", "invalid_path"],
      ["GET", "%ff", "invalid_path"],
      ["GET", "%", "invalid_path"],
      ["PUT", "x".repeat(256), "invalid_path"],
      ["PUT", `${"d/".repeat(40)}x`, "invalid_path"],
    ] as const;
    for (const [method, path, code] of invalid) {
      const { status, body } = await raw(method, at(team, path));
      const { errors, ...said } = JSON.parse(body) as { errors: { path: string }[] };
      expect([method, path, status, said]).toMatchObject([method, path, 422, { code }]);
      expect(errors.map(({ path: field }) => field)).toEqual(["path"]);
    }
    for (const path of ["../secret", "../../../../etc/passwd", "%2e%2e/%2e%2e/x", "a/../../b"]) {
      const { status } = await raw("GET", at(team, path));
      expect([404, 422]).toContain(status);
    }
    const { status, body } = await raw("PUT", at(team, "dir"));
    expect([status, JSON.parse(body)]).toMatchObject([
      409,
      { code: "is_a_directory", detail: '"dir" is a directory.' },
    ]);
    expect((await list(team)).files.map(({ path }) => path)).toEqual(["dir/x"]);
  });
});
