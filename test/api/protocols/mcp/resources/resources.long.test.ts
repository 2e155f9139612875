import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TestWorker } from "../../../../support/worker.ts";
import { jsonInit } from "../../../../support/http-app.ts";
import { HUMAN, inTurn, newTeam } from "../../support/teams.ts";
import type { RunOutput } from "#api/protocols/mcp/run/output.ts";
import { type ClientOptions, CLIENTS, connect, type ToolResult } from "../support/clients.ts";
import { initialize, lastOf, post, request } from "../support/messages.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** The files of every workspace, and when they were written. */
const files = new Map<string, { text: string; modified_at: string }>();
let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  worker = await TestWorker.start(
    { SANDBOX_URL: "https://sandbox.example.com" },
    { outgoing: ({ url }) => workspace(new URL(url).pathname) },
  );
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  files.clear();
  id = `files${++count}`;
  // Its run waits for a human, and files are written meanwhile.
  await newTeam(worker, { id, component: inTurn(HUMAN) });
});

function write(path: string, text: string): void {
  files.set(path, { text, modified_at: new Date().toISOString() });
}

function workspace(pathname: string): Response {
  const [, path = ""] = /\/files\/?(.*)$/.exec(pathname) ?? [];
  if (path === "") {
    const listed = [...files].map(([name, { text, modified_at }]) => ({
      path: name,
      size: text.length,
      modified_at,
    }));
    return Response.json({ files: listed, next_cursor: null });
  }
  const file = files.get(decodeURIComponent(path));
  if (file !== undefined) return new Response(file.text);
  return Response.json(
    { code: "file_not_found", detail: "There is no such file." },
    { status: 404 },
  );
}

const options = async (path = "/mcp"): Promise<ClientOptions> => ({
  url: new URL(path, await worker.origin),
});

/** A client whose human writes these files, then answers. */
const writing = async (written: Record<string, string>): Promise<ClientOptions> => ({
  ...(await options()),
  fill: () => {
    for (const [path, text] of Object.entries(written)) write(path, text);
    return { action: "accept", content: { content: "Lisbon" } };
  },
});

const task = {
  type: "MultiModalMessage",
  source: "user",
  content: [
    "Look.",
    { data: PNG },
    { data: btoa("a,b"), name: "rents.csv", media_type: "text/csv" },
  ],
};

describe.each(CLIENTS)("a client of %s", (name) => {
  test("reads images and files of messages as bytes", async () => {
    const response = await worker.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task }));
    expect(response.ok).toBe(true);
    await using own = await connect(name, await options(`/mcp/teams/${id}`));
    const { resources } = await own.client.listResources();
    const [thread, image, file] = resources;
    expect(thread?.uri).toBe(`troupe://teams/${id}/thread`);
    expect([image, file]).toMatchObject([
      { mimeType: "image/png" },
      { name: "rents.csv", mimeType: "text/csv", description: "Sent by user." },
    ]);
    expect((await own.client.readResource({ uri: image!.uri })).contents).toEqual([
      { uri: image!.uri, mimeType: "image/png", blob: PNG },
    ]);
    // The address of the tenant has the same resources, by their template.
    await using client = await connect(name, await options());
    expect((await client.client.readResource({ uri: file!.uri })).contents).toEqual([
      { uri: file!.uri, mimeType: "text/csv", blob: btoa("a,b") },
    ]);
    const text = file!.uri.replace(/\d+$/, "0");
    expect((await client.client.readResource({ uri: text })).contents).toEqual([
      { uri: text, mimeType: "text/plain", text: "Look." },
    ]);
    for (const wrong of [
      file!.uri.replace(/\d+$/, "3"),
      file!.uri.replace(/messages\/\d+/, "messages/999"),
      file!.uri.replace(id, "nobody"),
    ]) {
      await expect(client.client.readResource({ uri: wrong })).rejects.toThrow("not found");
    }
  });

  test("gets the files that a run wrote: audio to play, others as links to read", async () => {
    write("earlier.txt", "Written before the run.");
    files.get("earlier.txt")!.modified_at = "2026-01-02T03:04:05.000Z";
    const written = {
      "out/beep.wav": "RIFF....WAVE",
      "out/a report.csv": "a,b",
      "data.bin": "\u0000\u00ff",
    };
    await using client = await connect(name, await writing(written));
    const { content } = await client.call({ name: `run_${id}`, arguments: { task: "Write." } });
    const [said, audio, csv, binary] = content;
    expect(said).toEqual({ type: "text", text: "Lisbon" });
    expect(content).toHaveLength(4);
    expect(audio).toMatchObject({
      type: "audio",
      mimeType: "audio/wav",
      data: btoa("RIFF....WAVE"),
      _meta: { "troupe/uri": `troupe://teams/${id}/files/out/beep.wav` },
    });
    const uri = `troupe://teams/${id}/files/out/a%20report.csv`;
    expect(csv).toEqual({
      type: "resource_link",
      uri,
      name: "out/a report.csv",
      mimeType: "text/csv",
      size: 3,
    });
    const read = async (of: string) => (await client.client.readResource({ uri: of })).contents[0];
    expect(await read(uri)).toEqual({ uri, mimeType: "text/csv", text: "a,b" });
    expect(await read((binary as unknown as { uri: string }).uri)).toMatchObject({
      mimeType: "application/octet-stream",
      blob: "AMO/",
    });
    await expect(read(`troupe://teams/${id}/files/nothing`)).rejects.toThrow("not found");
    const { resourceTemplates } = await client.client.listResourceTemplates();
    expect(resourceTemplates.map((one) => one.name)).toContain("file");
  });
});

test("audio beyond a megabyte is a link, and a file beyond the limit is refused with its reason", async () => {
  const written = { "long.wav": "x".repeat(1_000_001), "huge.bin": "x".repeat(5_000_001) };
  await using client = await connect("2026-07-28", await writing(written));
  const { content } = await client.call({ name: `run_${id}`, arguments: { task: "Write." } });
  expect(content.slice(1)).toMatchObject([{ type: "resource_link" }, { type: "resource_link" }]);
  const read = (path: string) =>
    client.client.readResource({ uri: `troupe://teams/${id}/files/${path}` });
  expect((await read("long.wav")).contents[0]).toHaveProperty("blob");
  await expect(read("huge.bin")).rejects.toThrow("MAX_MESSAGE_FILES_BYTES");
});

test("older revisions get no links", async () => {
  const typesOf = async (version: string): Promise<string[]> => {
    const headers = { "mcp-session-id": await initialize(worker), "mcp-protocol-version": version };
    const call = async (name: string, args: object) => {
      const sent = request(++count, "tools/call", { name, arguments: args });
      return (await lastOf(await post(worker, sent, { headers }))).result!;
    };
    const { structuredContent } = await call(`run_${id}`, { task: "Write." });
    const { team_id, run_id, requests } = structuredContent as unknown as RunOutput;
    write("out/beep.wav", "RIFF....WAVE");
    const answer = { team_id, run_id, request_id: requests[0]!.id, content: "Lisbon" };
    const { content } = (await call("answer_request", answer)) as unknown as ToolResult;
    return content.map(({ type }) => type);
  };
  expect(await typesOf("2025-03-26")).toEqual(["text"]);
  expect(await typesOf("2025-06-18")).toEqual(["text", "audio"]);
});
