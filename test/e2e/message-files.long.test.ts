import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { EchoServer } from "../support/echo-server.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { FakeSandbox } from "../support/fake-sandbox.ts";
import { jsonInit } from "../support/http-app.ts";
import { pdfOf } from "../support/pdf.ts";
import { TestWorker } from "../support/worker.ts";

const PDF = pdfOf("The rent is 900 euros.", "Signed in Berlin.").toString("base64");
const CSV = "city,rent\nBerlin,900\n";
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const pdf = { data: PDF, name: "lease.pdf", media_type: "application/pdf" };
const csv = { data: btoa(CSV), name: "rents.csv", media_type: "text/csv" };
const CSV_TEXT = `<file name="rents.csv" type="text/csv">\n${CSV}\n</file>`;

const SETTINGS = { SECRETS_KEY: btoa("k".repeat(32)) };

let models: FakeOpenAI;
let worker: TestWorker;

beforeAll(async () => {
  models = await startFakeOpenAI({
    rules: [{ name: "say", reply: { content: "I have read it." } }],
  });
  worker = await TestWorker.start(SETTINGS);
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await models.close();
});

const OPENAI = "autogen_ext.models.openai.OpenAIChatCompletionClient";

/** A team of one agent. */
function teamOf(model: string, config: object = {}, provider = OPENAI): ComponentModel {
  const client = { model, api_key: "key", base_url: `${models.origin}/v1`, ...config };
  return {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: {
      participants: [
        {
          provider: "autogen_agentchat.agents.AssistantAgent",
          config: {
            name: "reader",
            description: "reads",
            model_client: { provider, config: client },
            reflect_on_tool_use: false,
            tool_call_summary_format: "{result}",
          },
        },
      ],
      max_turns: 1,
    },
  };
}

type Told = { type: string; source: string; content: unknown };
const said = (...content: unknown[]): Told => ({
  type: "MultiModalMessage",
  source: "user",
  content,
});

async function newTeam(component: ComponentModel, on = worker): Promise<string> {
  const response = await on.fetch("/v1/teams", jsonInit({ component }));
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

const run = (team: string, task: unknown, on = worker): Promise<Response> =>
  on.fetch(`/v1/teams/${team}/runs?wait=60`, jsonInit({ task }));

async function completed(team: string, task: unknown, on = worker): Promise<void> {
  expect(await (await run(team, task, on)).json()).toMatchObject({ status: "completed" });
}

interface Problem {
  code: string;
  detail: string;
  errors: { path: string; message: string }[];
}

async function refusal(team: string, task: unknown, on = worker): Promise<Problem> {
  const response = await run(team, task, on);
  expect(response.status).toBe(422);
  return (await response.json()) as Problem;
}

/** The parts that the model was given last. */
function shown(path: RegExp): unknown {
  const { path: asked, body } = models.requests.at(-1) as { path: string; body: unknown };
  expect(asked).toMatch(path);
  const { messages, input } = body as { messages?: object[]; input?: object[] };
  const [last] = (messages ?? input ?? []).slice(-1) as { content: unknown }[];
  return last?.content;
}

describe("each maker gets a PDF in its own form, and texts as texts with their names", () => {
  test("OpenAI's chat completions", async () => {
    await completed(await newTeam(teamOf("gpt-4o")), said("Read.", pdf, csv));
    expect(shown(/chat\/completions$/)).toEqual([
      { type: "text", text: "Read." },
      {
        type: "file",
        file: { filename: "lease.pdf", file_data: `data:application/pdf;base64,${PDF}` },
      },
      { type: "text", text: CSV_TEXT },
    ]);
  });

  test("OpenAI's responses", async () => {
    await completed(await newTeam(teamOf("gpt-5.6", { api: "responses" })), said(pdf, csv));
    expect(shown(/responses$/)).toEqual([
      {
        type: "input_file",
        filename: "lease.pdf",
        file_data: `data:application/pdf;base64,${PDF}`,
      },
      { type: "input_text", text: CSV_TEXT },
    ]);
  });

  test("Claude", async () => {
    const claude = "autogen_ext.models.anthropic.AnthropicChatCompletionClient";
    const config = { base_url: models.origin, cache: "off" };
    await completed(
      await newTeam(teamOf("claude-sonnet-4-5", config, claude)),
      said("Read.", pdf, csv),
    );
    expect(shown(/messages$/)).toEqual([
      { type: "text", text: "Read." },
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: PDF },
        title: "lease.pdf",
      },
      {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: CSV },
        title: "rents.csv",
      },
    ]);
  });

  test("Gemini, whose server takes a PDF as an image", async () => {
    const config = { base_url: `${models.origin}/v1beta/openai/` };
    await completed(await newTeam(teamOf("gemini-3-pro-preview", config)), said("Read.", pdf));
    expect(shown(/chat\/completions$/)).toEqual([
      { type: "text", text: "Read." },
      { type: "image_url", image_url: { url: `data:application/pdf;base64,${PDF}` } },
    ]);
  });
});

describe("a model that does not read PDF", () => {
  test("refuses the request that brings one, with the remedy, if no reader replaces it", async () => {
    const team = await newTeam(teamOf("deepseek-chat"));
    const problem = await refusal(team, [said("First."), said("Read.", pdf)]);
    expect(problem).toMatchObject({
      code: "no_extractor",
      errors: [{ path: "task[1].content[1]", message: "is a PDF, whose text is needed" }],
    });
    expect(problem.detail).toContain("troupe/documents");
    expect(await (await worker.fetch(`/v1/teams/${team}/messages`)).json()).toMatchObject({
      messages: [],
    });
    await completed(team, said("Read.", csv));
    expect(shown(/chat\/completions$/)).toBe(`Read.\n${CSV_TEXT}`);
  });

  test("gets the text from the sandbox, which is kept beside the bytes", async () => {
    await using sandbox = await FakeSandbox.start();
    await using own = await TestWorker.start({ ...SETTINGS, SANDBOX_URL: sandbox.url });
    const team = await newTeam(teamOf("deepseek-chat"), own);
    let stored = "";
    const read = (output: string, exit_code = 0): void => {
      sandbox.expect("PUT", (response, { path, body }) => {
        stored = path;
        expect(body.startsWith("%PDF-1.4")).toBe(true);
        response.writeHead(201).end();
      });
      sandbox.expectExecute((response, { path }) => {
        expect(stored).toBe(path.replace("/execute", "/files/document.pdf"));
        const result = { exit_code, output, truncated: false, duration_ms: 1, files: [] };
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`event: result\ndata: ${JSON.stringify(result)}\n\n`);
      });
      sandbox.expect("DELETE", (response) => void response.writeHead(204).end());
    };
    read("The rent is 900 euros.\fSigned in Berlin.");
    await completed(team, said(pdf), own);
    const text = "The rent is 900 euros.\n\nSigned in Berlin.";
    expect(shown(/chat\/completions$/)).toBe(
      `<file name="lease.pdf" type="application/pdf">\n${text}\n</file>`,
    );
    const { messages } = (await (await own.fetch(`/v1/teams/${team}/messages`)).json()) as {
      messages: Told[];
    };
    expect(messages[0]?.content).toEqual([{ ...pdf, text }]);
    read("", 3);
    expect(await refusal(team, said(pdf), own)).toMatchObject({ code: "no_extractor" });
    read(" \f ");
    expect(await refusal(team, said(pdf), own)).toMatchObject({ code: "unreadable_document" });
  });

  test("reads a line for a PDF that came before it joined the team", async () => {
    const team = await newTeam(teamOf("gpt-4o"));
    await completed(team, said("Read.", pdf));
    const state = await (await worker.fetch(`/v1/teams/${team}/state`)).json();
    const other = await newTeam(teamOf("deepseek-chat"));
    const loaded = await worker.fetch(`/v1/teams/${other}/state`, jsonInit(state, "PUT"));
    expect(loaded.status).toBe(204);
    await completed(other, "Once more.");
    const { messages } = models.requests.at(-1)!.body as { messages: { content: unknown }[] };
    const bytes = Buffer.from(PDF, "base64").length;
    expect(messages[0]?.content).toBe(
      `Read.\n[File: lease.pdf, application/pdf, ${bytes} bytes: this model does not read PDF]`,
    );
  });
});

test("a state with files is saved and loaded", async () => {
  const team = await newTeam(teamOf("gpt-4o"));
  await completed(team, said("Read.", pdf, csv));
  const state = await (await worker.fetch(`/v1/teams/${team}/state`)).json();
  const other = await newTeam(teamOf("gpt-4o"));
  const loaded = await worker.fetch(`/v1/teams/${other}/state`, jsonInit(state, "PUT"));
  expect(loaded.status).toBe(204);
  await completed(other, "And?");
  const { messages } = models.requests.at(-1)!.body as { messages: { content: unknown }[] };
  expect(messages[0]?.content).toMatchObject([{}, { type: "file" }, { text: CSV_TEXT }]);
  expect(await (await worker.fetch(`/v1/teams/${other}/state`)).json()).not.toEqual(state);
});

describe("files from elsewhere are accepted", () => {
  test("if they are in the team's workspace, by their paths", async () => {
    await using sandbox = await FakeSandbox.start();
    await using own = await TestWorker.start({ ...SETTINGS, SANDBOX_URL: sandbox.url });
    const team = await newTeam(teamOf("gpt-4o"), own);
    sandbox.expect("GET", (response, { path }) => {
      expect(path).toMatch(/\/files\/out\/lease%20two.pdf$/);
      response.writeHead(200).end(Buffer.from(PDF, "base64"));
    });
    await completed(team, said({ path: "out/lease two.pdf" }), own);
    expect(shown(/chat/)).toMatchObject([{ file: { filename: "lease two.pdf" } }]);
    sandbox.expect("GET", (response) => void response.writeHead(404).end());
    expect(await refusal(team, said({ path: "none.pdf" }), own)).toMatchObject({
      errors: [{ path: "task.content[0].path" }],
    });
    expect(await refusal(team, said({ path: "../other/x" }), own)).toMatchObject({
      errors: [{ path: "task.content[0].path" }],
    });
    const without = await newTeam(teamOf("gpt-4o"));
    const { errors } = await refusal(without, said({ path: "a.pdf" }));
    expect(errors[0]?.message).toContain("SANDBOX_URL");
  });

  test("if they are URLs, by the outgoing rules, with limits", async () => {
    await using server = await EchoServer.start((response, { path }) => {
      if (path === "/missing") return void response.writeHead(404).end();
      if (path === "/moved") return void response.writeHead(302, { location: "/a" }).end();
      if (path === "/large.txt") return void response.writeHead(200).end("x".repeat(5_000_001));
      const type = path === "/dot" ? "image/png" : "application/octet-stream";
      response.writeHead(200, { "content-type": type });
      response.end(Buffer.from(path === "/dot" ? PNG : PDF, "base64"));
    });
    const at = (path: string): string => `http://127.0.0.1:${server.port}${path}`;
    const team = await newTeam(teamOf("gpt-4o"));
    await completed(team, said({ url: at("/docs/lease.pdf") }, { url: at("/dot") }));
    expect(shown(/chat/)).toMatchObject([
      { type: "file", file: { filename: "lease.pdf" } },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    ]);
    const why = async (url: string, on = worker, to = team): Promise<string | undefined> =>
      (await refusal(to, said({ url }), on)).errors[0]?.message;
    expect(await why(at("/missing"))).toContain("404");
    expect(await why(at("/moved"))).toContain("redirects are not followed");
    expect(await why(at("/large.txt"))).toContain("at most 5000000 bytes");
    expect(await why("ftp://127.0.0.1/a")).toContain("https:");
    expect(await why("http://10.0.0.1/a")).toContain("private address");
    const many = Array.from({ length: 11 }, () => ({ url: at("/dot") }));
    expect((await refusal(team, said(...many))).errors[0]?.path).toBe("task.content[10].url");
  });
});

test.each<[string, object, string]>([
  ["no PDF", { ...pdf, data: btoa("hello") }, "does not begin with %PDF-"],
  ["no text", { ...csv, data: btoa("a\0b") }, "is not a text in UTF-8"],
  ["a PDF as a text", { ...pdf, media_type: "text/plain" }, "its bytes are those of a PDF"],
  [
    "an archive",
    { data: btoa("PK"), name: "a.zip", media_type: "application/zip" },
    "must be of PDF",
  ],
  ["no picture", { data: btoa("x1"), name: "a.png", media_type: "image/png" }, "is not a PNG"],
  ["no base64", { ...pdf, data: "JVBERi0*" }, "must be base64"],
  ["no name", { data: btoa("hello") }, "another file needs name and media_type"],
  ["nothing", { name: "a" }, "must have one of data (base64), path"],
  ["two places", { ...pdf, url: "https://a" }, "must have one of"],
  ["an unknown field", { ...pdf, size: 1 }, "is not a field of a file"],
  ["a name of two lines", { ...csv, name: "a\nb" }, "control characters"],
])("%s is refused at its place, with the allowed values", async (_name, part, message) => {
  const team = await newTeam(teamOf("gpt-4o"));
  const { code, errors } = await refusal(team, said("Read.", part));
  expect(code).toBe("invalid_task");
  expect(errors[0]?.path).toMatch(/^task\.content\[1\]/);
  expect(errors[0]?.message).toContain(message);
});

test("a message may be as large without its files as any other", async () => {
  const team = await newTeam(teamOf("gpt-4o"));
  const large = { ...csv, data: btoa("x".repeat(600_000)).replaceAll(/.{76}/g, "$&\r\n") };
  await completed(team, said(large));
  const { errors } = await refusal(team, said("x".repeat(520_000), csv));
  expect(errors[0]?.message).toMatch(/bytes of JSON besides its files; at most 512000 are allowed/);
});

describe("each protocol brings a PDF to the model", () => {
  const uri = `data:application/pdf;base64,${PDF}`;
  const file = { type: "file", file: { filename: "lease.pdf", file_data: uri } };

  async function brings(path: string, body: (team: string) => object): Promise<string> {
    const team = await newTeam(teamOf("gpt-4o"));
    const asked = models.requests.length;
    const response = await worker.fetch(path.replace("TEAM", team), {
      ...jsonInit(body(team), "POST", { "a2a-version": "1.0" }),
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.any(String)]);
    await expect.poll(() => models.requests.length).toBe(asked + 1);
    expect(shown(/chat/)).toEqual([{ type: "text", text: "Read." }, file]);
    return team;
  }

  test("OpenAI's chat completions", async () => {
    const content = [{ type: "text", text: "Read." }, file];
    await brings("/openai/v1/chat/completions", (team) => ({
      model: `team:${team}`,
      messages: [{ role: "user", content }],
    }));
  });

  test("OpenAI's responses, whose input items show it", async () => {
    const content = [
      { type: "input_text", text: "Read." },
      { type: "input_file", filename: "lease.pdf", file_data: uri },
    ];
    const team = await newTeam(teamOf("gpt-4o"));
    const response = await worker.fetch(
      "/openai/v1/responses",
      jsonInit({ model: `team:${team}`, input: [{ role: "user", content }] }),
    );
    const { id } = (await response.json()) as { id: string };
    expect(shown(/chat/)).toEqual([{ type: "text", text: "Read." }, file]);
    const items = await worker.fetch(`/openai/v1/responses/${id}/input_items`);
    expect(await items.json()).toMatchObject({ data: [{ content }] });
    const byId = [{ type: "input_file", file_id: "file-1" }];
    const refused = await worker.fetch(
      "/openai/v1/responses",
      jsonInit({ model: `team:${team}`, input: [{ role: "user", content: byId }] }),
    );
    expect(refused.status).toBe(404);
    expect(await refused.text()).toContain("file-1");
  });

  test("AI SDK, whose history shows it", async () => {
    const parts = [
      { type: "text", text: "Read." },
      { type: "file", mediaType: "application/pdf", filename: "lease.pdf", url: uri },
    ];
    const team = await brings("/ai-sdk/teams/TEAM/chat", () => ({
      id: "chat",
      messages: [{ id: "m1", role: "user", parts }],
    }));
    const history = await worker.fetch(`/ai-sdk/teams/${team}/chat/chat/messages`);
    expect(await history.json()).toMatchObject({ messages: [{ role: "user", parts }, {}] });
  });

  test("A2A", async () => {
    await brings("/a2a/teams/TEAM", () => ({
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: {
        message: {
          messageId: crypto.randomUUID(),
          role: "ROLE_USER",
          parts: [
            { text: "Read." },
            { raw: PDF, mediaType: "application/pdf", filename: "lease.pdf" },
          ],
        },
      },
    }));
  });

  test.each([
    [
      "AG-UI",
      {
        type: "document",
        source: { type: "data", value: PDF, mimeType: "application/pdf" },
        metadata: { filename: "lease.pdf" },
      },
    ],
    [
      "AG-UI before 1.0",
      { type: "binary", mimeType: "application/pdf", data: PDF, filename: "lease.pdf" },
    ],
  ])("%s", async (_name, part) => {
    await brings("/ag-ui/teams/TEAM", () => ({
      threadId: "thread",
      runId: crypto.randomUUID(),
      state: {},
      tools: [],
      context: [],
      forwardedProps: {},
      messages: [{ id: "1", role: "user", content: [{ type: "text", text: "Read." }, part] }],
    }));
  });
});
