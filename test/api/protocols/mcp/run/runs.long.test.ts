import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { type ClientOptions, CLIENTS, connect } from "../support/clients.ts";
import { HUMAN, inTurn, newTeam, runsOf, writer } from "../../support/teams.ts";

let openai: FakeOpenAI;
let worker: TestWorker;
let origin: string;
let count = 0;
let id: string;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "slow", match: { any: "slowly" }, hold: true, reply: { content: "At last." } },
      { name: "write", hold_after: [2], reply: { content: "Four little words here." } },
    ],
  });
  worker = await TestWorker.start({
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: openai.url,
    MCP_TEMPLATES: "writer_critic",
  });
  origin = await worker.origin;
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

beforeEach(() => {
  id = `team${++count}`;
});

const tenant = (options: Partial<ClientOptions> = {}): ClientOptions => ({
  url: new URL("/mcp", origin),
  ...options,
});

// More than 20 teams have no tools of their own, so this comes first.
describe.each(CLIENTS)("a client of %s", (name) => {
  test("finds a team as a tool and runs it, and the team continues from its last state", async () => {
    await newTeam(worker, { id, label: `News desk ${id}`, component: SAMPLE_COMPONENT });
    await using client = await connect(name, tenant());
    expect(client.version).toBe(name.slice(0, 10));
    const { tools } = await client.client.listTools();
    const tool = tools.find((one) => one.name === `run_News_desk_${id}`);
    expect(tool).toMatchObject({
      title: `News desk ${id}`,
      inputSchema: { type: "object", required: ["task"], properties: { task: { type: "string" } } },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: false },
    });
    const first = await client.call({ name: tool!.name, arguments: { task: "Hello." } });
    expect(first).toMatchObject({
      content: [{ type: "text", text: "two" }],
      structuredContent: { team_id: id, status: "completed", text: "two", requests: [] },
    });
    const second = await client.call({ name: tool!.name, arguments: { task: "More." } });
    expect(second.structuredContent).toMatchObject({ status: "completed", text: "three" });
  });
});

describe.each(CLIENTS)("a client of %s", (name) => {
  test("gives a team files with its task, and reads which one is refused", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    await using client = await connect(name, tenant());
    const run = (...files: object[]) =>
      client.call({ name: `run_${id}`, arguments: { task: "Read.", files } });
    const file = { data: btoa("a,b"), name: "rents.csv", media_type: "text/csv" };
    expect((await run(file)).structuredContent).toMatchObject({ status: "completed" });
    const { messages } = openai.requests.at(-1)!.body as { messages: { content: unknown }[] };
    expect(messages.at(-1)?.content).toEqual([
      { type: "text", text: "Read." },
      { type: "text", text: '<file name="rents.csv" type="text/csv">\na,b\n</file>' },
    ]);
    const refused = await run(file, { data: "UEsD", name: "a.zip", media_type: "application/zip" });
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toContain("files[1].data");
  });

  test("gets the messages of the team while it runs", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    await using client = await connect(name, tenant());
    const texts: string[] = [];
    const numbers: number[] = [];
    openai.rules.hold("write");
    const result = await client.call(
      { name: `run_${id}`, arguments: { task: "Write." } },
      {
        onprogress: ({ progress, message }) => {
          numbers.push(progress);
          texts.push(message ?? "");
          // Words that come within 100 ms of the last ones are sent with later ones.
          if (texts.length === 1) setTimeout(() => openai.release("write"), 150);
        },
      },
    );
    expect(result.content).toEqual([{ type: "text", text: "Four little words here." }]);
    expect(texts.at(-1)).toBe("Four little words here.");
    expect(texts.length).toBeGreaterThan(2);
    expect("Four little words here.").toContain(texts[0]);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  test("asks its human with a form, and the run continues with the answer", async () => {
    await newTeam(worker, { id, component: inTurn(HUMAN, writer()) });
    const forms: unknown[] = [];
    await using client = await connect(
      name,
      tenant({
        fill: (form) => {
          forms.push(form);
          return { action: "accept", content: { content: "Lisbon" } };
        },
      }),
    );
    const result = await client.call({ name: `run_${id}`, arguments: { task: "Ask." } });
    expect(forms).toEqual([
      expect.objectContaining({
        message: "Which city?",
        requestedSchema: {
          type: "object",
          properties: { content: { type: "string", title: "Answer" } },
          required: ["content"],
        },
      }),
    ]);
    expect(result.structuredContent).toMatchObject({ status: "completed" });
    const thread = await client.client.readResource({ uri: `troupe://teams/${id}/transcript` });
    expect(thread.contents).toMatchObject([
      { mimeType: "text/plain", text: expect.stringContaining("human: Lisbon") },
    ]);
    expect(await runsOf(worker, id)).toHaveLength(1);
  });

  test("whose human dismisses the form learns how to answer later", async () => {
    await newTeam(worker, { id, component: inTurn(HUMAN) });
    await using client = await connect(name, tenant({ fill: () => ({ action: "cancel" }) }));
    const call = { name: `run_${id}`, arguments: { task: "Ask.", wait_seconds: 6 } };
    const { structuredContent: run } = await client.call(call);
    expect(run).toMatchObject({ status: "waiting", requests: [{ prompt: "Which city?" }] });
  });

  test("that has no forms gets instructions to answer, and answers with a tool", async () => {
    await newTeam(worker, { id, component: inTurn(HUMAN) });
    await using client = await connect(name, tenant());
    const asked = await client.call({ name: `run_${id}`, arguments: { task: "Ask." } });
    const run = asked.structuredContent!;
    expect(run).toMatchObject({
      status: "waiting",
      requests: [{ kind: "input", source: "human", prompt: "Which city?" }],
    });
    expect(asked.isError).toBeUndefined();
    const text = asked.content[0]?.text;
    expect(text).toContain("answer_request");
    expect(text).toContain(run.run_id);
    expect(text).toContain(run.requests[0]!.id);
    const { team_id, run_id } = run;
    const answer = { team_id, run_id, request_id: run.requests[0]!.id };
    const wrong = await client.call({
      name: "answer_request",
      arguments: { ...answer, approved: true },
    });
    expect(wrong).toMatchObject({ isError: true });
    const answered = await client.call({
      name: "answer_request",
      arguments: { ...answer, content: "Lisbon" },
    });
    expect(answered.structuredContent).toMatchObject({ status: "completed", text: "Lisbon" });
  });

  test("that stops waiting continues with get_run", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    await using client = await connect(name, tenant());
    openai.rules.hold("slow");
    const call = { name: `run_${id}`, arguments: { task: "Write slowly.", wait_seconds: 1 } };
    const { structuredContent: run, content } = await client.call(call);
    expect(run).toMatchObject({ status: "running", text: null });
    expect(content[0]?.text).toContain("get_run");
    openai.release("slow");
    const { team_id, run_id } = run!;
    const later = await client.call({ name: "get_run", arguments: { team_id, run_id } });
    expect(later.structuredContent).toMatchObject({
      run_id,
      status: "completed",
      text: "At last.",
    });
  });

  test("finds its run again by the key of a call", async () => {
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const call = {
      name: `run_${id}`,
      arguments: { task: "Hello." },
      _meta: { "troupe/idempotency-key": `key-${id}` },
    };
    const runs = new Set<string>();
    for (const _ of [1, 2]) {
      await using client = await connect(name, tenant());
      runs.add((await client.call(call)).structuredContent!.run_id);
    }
    expect(runs.size).toBe(1);
    await using client = await connect(name, tenant());
    const other = await client.call({ ...call, arguments: { task: "Something else." } });
    expect(other).toMatchObject({ isError: true });
    expect(await runsOf(worker, id)).toHaveLength(1);
  });

  test("that cancels a call cancels the run in a session, and without one can stop the run that continues", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    await using client = await connect(name, tenant());
    openai.rules.hold("slow");
    const held = openai.requests.length;
    const call = { name: `run_${id}`, arguments: { task: "Write slowly." } };
    const cancelled = new AbortController();
    const called = client.call(call, { signal: cancelled.signal }).catch(() => "cancelled");
    await expect.poll(() => openai.requests.length).toBeGreaterThan(held);
    await expect.poll(async () => (await runsOf(worker, id)).length).toBe(1);
    cancelled.abort("No more.");
    expect(await called).toBe("cancelled");
    const status = async () => (await runsOf(worker, id))[0]?.status;
    if (name === "2026-07-28") {
      // A cancellation would have arrived by the end of twenty requests that were made after it.
      for (let looks = 0; looks < 20; looks++) expect(await status()).toBe("running");
      const run_id = (await runsOf(worker, id))[0]!.id;
      const stopped = await client.call({ name: "stop_run", arguments: { team_id: id, run_id } });
      expect(stopped.isError).toBeUndefined();
    }
    await expect.poll(status).toBe("cancelled");
    openai.release("slow");
  });

  test("reads threads and prompts", async () => {
    await newTeam(worker, { id, label: "Readers", component: SAMPLE_COMPONENT });
    await using client = await connect(name, tenant());
    await client
      .call({ name: "run_Readers", arguments: { task: "Hello." } })
      .catch(() => undefined);
    const { resources } = await client.client.listResources();
    expect(resources).toContainEqual(
      expect.objectContaining({ uri: `troupe://teams/${id}/thread`, title: "Readers" }),
    );
    await expect(
      client.client.readResource({ uri: "troupe://teams/nothing/thread" }),
    ).rejects.toThrow();
    const { resourceTemplates } = await client.client.listResourceTemplates();
    expect(resourceTemplates.map(({ name: one }) => one)).toEqual([
      "thread",
      "transcript",
      "message_part",
    ]);
    const { prompts } = await client.client.listPrompts();
    const [prompt] = prompts;
    const got = await client.client.getPrompt({
      name: prompt!.name,
      arguments: { task: "Count to three." },
    });
    expect(got.messages).toMatchObject([
      { role: "user", content: { type: "text", text: expect.stringContaining("Count to three.") } },
      { role: "user", content: { type: "resource" } },
    ]);
    await expect(client.client.getPrompt({ name: "nothing" })).rejects.toThrow("prompts/list");
  });

  test("that is connected to one team sees that team only", async () => {
    await newTeam(worker, { id, label: "Only one", component: SAMPLE_COMPONENT });
    await newTeam(worker, { id: `${id}-other`, component: SAMPLE_COMPONENT });
    await using client = await connect(name, { url: new URL(`/mcp/teams/${id}`, origin) });
    const { tools } = await client.client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      "run_Only_one",
      "get_run",
      "answer_request",
      "stop_run",
    ]);
    const result = await client.call({ name: "run_Only_one", arguments: { task: "Hello." } });
    expect(result.structuredContent).toMatchObject({ team_id: id, status: "completed" });
    const { resources } = await client.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([`troupe://teams/${id}/thread`]);
    await expect(
      client.call({ name: `run_${id}-other`, arguments: { task: "Hello." } }),
    ).rejects.toThrow("There is no tool");
    await expect(
      client.client.readResource({ uri: `troupe://teams/${id}-other/thread` }),
    ).rejects.toThrow();
    const { run_id } = result.structuredContent!;
    const elsewhere = { team_id: `${id}-other`, run_id };
    expect(await client.call({ name: "get_run", arguments: elsewhere })).toMatchObject({
      isError: true,
    });
  });
});
