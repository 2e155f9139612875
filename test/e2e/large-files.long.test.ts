// A PDF of 3 MB in the workspace, with the default limits: a Worker, a sandbox, a model server, HTTP.
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { pdfOf } from "../support/pdf.ts";
import { Sandbox } from "../support/sandbox.ts";

/** It does not compress. */
const NOISE = Buffer.concat(
  Array.from({ length: 100_000 }, (_, n) => createHash("sha256").update(`${n}`).digest()),
);
const PDF = Buffer.concat([pdfOf("The rent is 900 euros."), NOISE.subarray(0, 3_000_000)]);
/** What an object stores besides: its tables, and what was said. */
const REST = 250_000;

let models: FakeOpenAI;
let sandbox: Sandbox;
let worker: KillableWorker;

beforeAll(async () => {
  models = await startFakeOpenAI({
    rules: [
      {
        name: "stall",
        times: 1,
        match: { system: "You are ben." },
        reply: { content: "Lost." },
        fault: { kind: "stall", after_chunks: 0 },
      },
      { name: "say", reply: { content: "I have read it." } },
    ],
  });
  sandbox = await Sandbox.start();
  worker = await KillableWorker.start({
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
    SECRETS_KEY: btoa("k".repeat(32)),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await models.close();
});

const component = (): object => ({
  provider: "RoundRobinGroupChat",
  config: {
    participants: ["ann", "ben", "eve"].map((name) => ({
      provider: "AssistantAgent",
      config: {
        name,
        description: name,
        system_message: `You are ${name}.`,
        model_client: {
          provider: "OpenAIChatCompletionClient",
          config: { model: "gpt-4o", api_key: "key", base_url: models.url },
        },
      },
    })),
    max_turns: 3,
  },
});

const said = (...content: unknown[]): object => ({
  type: "MultiModalMessage",
  source: "user",
  content,
});

async function json<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await worker.fetch(path, init);
  const text = await response.text();
  expect(response.ok, `${path}: ${text.slice(0, 300)}`).toBe(true);
  return (text === "" ? null : JSON.parse(text)) as T;
}

const put = (team: string, name: string, bytes: Uint8Array<ArrayBuffer>): Promise<null> =>
  json(`/v1/teams/${team}/files/${name}`, { method: "PUT", body: bytes });

/** The hashes of the files that requests to the model had. */
function asked(): string[] {
  return models.requests.flatMap(({ body }) => {
    const { messages } = body as { messages: { content: unknown }[] };
    const parts = messages.flatMap(({ content }) => content) as { file?: { file_data: string } }[];
    return parts.flatMap(({ file }) =>
      file === undefined ? [] : [sha256(Buffer.from(file.file_data.split(",")[1] ?? "", "base64"))],
    );
  });
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Bytes of the teams' databases by id, read while the Worker is down. */
function stored(): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const file of globSync(`${worker.state}/**/*.sqlite`)) {
    using db = new DatabaseSync(file);
    const number = (pragma: string): number =>
      Number(Object.values(db.prepare(pragma).get() ?? {})[0]);
    const table = db.prepare("select 1 from sqlite_master where name = 'head'").get();
    const row = table && db.prepare("select value from meta where name = 'team'").get();
    if (row === undefined) continue;
    const pages = number("pragma page_count") - number("pragma freelist_count");
    const { id } = JSON.parse(String(row["value"])) as { id: string };
    sizes.set(id, pages * number("pragma page_size"));
  }
  return sizes;
}

test("three agents read a large file through kill -9 and a fork, and it is stored once", async () => {
  const { id: team } = await json<{ id: string }>(
    "/v1/teams",
    jsonInit({ component: component() }),
  );
  await put(team, "lease.pdf", PDF);
  const task = said("What is the rent?", { path: "lease.pdf" });
  const { id: run } = await json<RunInfo>(`/v1/teams/${team}/runs`, jsonInit({ task }));
  await models.log.until((requests) => requests.length === 2, 30_000);
  await worker.kill();
  await worker.restart();
  const events = await worker.fetch(`/v1/teams/${team}/runs/${run}/events`, {
    headers: { accept: "text/event-stream" },
  });
  await events.text();
  const { status } = await json<RunInfo>(`/v1/teams/${team}/runs/${run}`);
  expect(status).toBe("completed");
  expect(asked()).toEqual(Array.from({ length: 4 }, () => sha256(PDF)));

  const { id: fork } = await json<{ id: string }>(`/v1/teams/${team}/fork`, jsonInit({}));
  const again = await json<RunInfo>(
    `/v1/teams/${fork}/runs?wait=60`,
    jsonInit({ task: "And now?" }),
  );
  expect(again.status).toBe("completed");
  expect(asked()).toHaveLength(7);
  expect(new Set(asked())).toEqual(new Set([sha256(PDF)]));

  const part = { data: PDF.toString("base64"), name: "lease.pdf", media_type: "application/pdf" };
  for (const one of [team, fork]) {
    const { messages } = await json<{ messages: { content: unknown }[] }>(
      `/v1/teams/${one}/messages`,
    );
    expect(messages[0]?.content).toEqual(["What is the rent?", part]);
    const state = JSON.stringify(await json(`/v1/teams/${one}/state`));
    // In the thread and in three contexts.
    expect(state.split(part.data)).toHaveLength(5);
  }
  await worker.kill();
  const sizes = stored();
  await worker.restart();
  for (const one of [team, fork]) {
    expect(sizes.get(one)).toBeGreaterThan(PDF.length);
    expect(sizes.get(one)).toBeLessThan(PDF.length + REST);
  }
});

test("files above the limit are refused, alone or together, and the error says where a file may be", async () => {
  const { id: team } = await json<{ id: string }>(
    "/v1/teams",
    jsonInit({ component: component() }),
  );
  await put(team, "lease.pdf", PDF);
  await put(team, "large.txt", Buffer.alloc(5_000_001, "a"));
  const refused = async (task: unknown): Promise<{ errors?: unknown; detail: string }> => {
    const response = await worker.fetch(`/v1/teams/${team}/runs`, jsonInit({ task }));
    expect(response.ok).toBe(false);
    return (await response.json()) as { detail: string };
  };
  const message = expect.stringContaining(
    "all files and images together have at most 5000000 bytes (MAX_MESSAGE_FILES_BYTES)",
  );
  expect(await refused(said({ path: "large.txt" }))).toMatchObject({
    errors: [{ path: "task.content[0].path", message }],
  });
  const twice = [said({ path: "lease.pdf" }), said("Read.", { path: "lease.pdf" })];
  expect(await refused(twice)).toMatchObject({
    errors: [{ path: "task[1].content[1].path", message }],
  });
  const data = { data: PDF.toString("base64"), name: "lease.pdf", media_type: "application/pdf" };
  expect((await refused(said(data))).detail).toBe(
    "The body is larger than 1000000 bytes. A file of a message may be in the team's workspace or at a URL instead, named by its path or url.",
  );
});
