import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";

const ALL_BYTES = 600_000_000;
const PIECE = "x".repeat(60_000);
const TOKEN = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: PIECE } }] })}\n\n`;
const CALL = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: "f", arguments: PIECE } }] } }] })}\n\n`;

/** What is sent again and again, after a beginning, by the first part of the path. */
const ANSWERS: Record<string, { status?: number; type: string; start: string; piece: string }> = {
  tokens: { type: "text/event-stream", start: "", piece: TOKEN },
  calls: { type: "text/event-stream", start: "", piece: CALL },
  event: { type: "text/event-stream", start: "data: ", piece: PIECE },
  json: { type: "application/json", start: '{"choices":[{"message":{"content":"', piece: PIECE },
  failure: { status: 400, type: "text/plain", start: "", piece: PIECE },
};

let asked = 0;
const server = createServer((request, response) => {
  asked++;
  request.resume();
  const { status = 200, type, start, piece } = ANSWERS[request.url?.split("/")[1] ?? ""]!;
  response.writeHead(status, { "content-type": type });
  response.write(start);
  send(response, piece, ALL_BYTES);
});

function send(response: ServerResponse, piece: string, left: number): void {
  let rest = left;
  while (!response.destroyed && rest > 0) {
    rest -= piece.length;
    if (response.write(piece)) continue;
    response.once("drain", () => send(response, piece, rest));
    return;
  }
  response.end();
}

let worker: KillableWorker;
let host = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  worker = await KillableWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

const agent = (path: string, streams: boolean): JsonObject => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "helper",
    model_client_stream: streams,
    model_client: {
      provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
      config: { model: "gpt-4o", api_key: "none", base_url: `http://${host}/${path}` },
    },
  },
});

const remote = (path: string): JsonObject => ({
  provider: "troupe.agents.A2AAgent",
  config: { name: "remote", url: `http://${host}/${path}` },
});

test.each([
  ["a stream of tokens", () => agent("tokens", true), 16_777_216],
  ["a stream of arguments", () => agent("calls", true), 16_777_216],
  ["an event without an end", () => agent("event", true), 16_777_216],
  ["a document without an end", () => agent("json", false), 16_777_216],
  ["an error without an end", () => agent("failure", false), undefined],
  ["a card without an end", () => remote("json"), 16_777_216],
])("%s ends with an error that is not retried", async (name, component, limit) => {
  asked = 0;
  const id = name.replaceAll(" ", "-");
  const created = await worker.fetch("/v1/teams", jsonInit({ id, component: component() }));
  expect(created.status, await created.clone().text()).toBe(201);
  const answer = await worker.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task: "go" }));
  const { status, error } = (await answer.json()) as RunInfo;
  expect(status).toBe("failed");
  if (limit !== undefined) {
    expect(error?.message).toContain(`is larger than ${limit} bytes`);
    expect(error?.message).toContain(`"${host}"`);
  }
  expect(asked).toBe(1);
  expect(worker.peakMemory).toBeLessThan(500_000_000);
});

test("the answer of an embedding server ends, too", async () => {
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { base_url: `http://${host}/json`, api_key: "none" },
  };
  const path = "/v1/collections/endless";
  const made = await worker.fetch(path, jsonInit({ embedding }, "PUT"));
  expect(made.status).toBe(201);
  const headers = { "content-type": "text/plain" };
  await worker.fetch(`${path}/documents/one`, { method: "PUT", headers, body: "Tea." });
  const failed = { status: "failed", error: expect.stringContaining("16777216 bytes") };
  await expect
    .poll(async () => (await worker.fetch(`${path}/documents/one`)).json(), { timeout: 20_000 })
    .toMatchObject(failed);
  expect(worker.peakMemory).toBeLessThan(500_000_000);
});
