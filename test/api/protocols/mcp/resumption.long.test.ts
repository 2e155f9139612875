// A client of the revisions with sessions whose connection is cut in the middle of a call.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestWorker } from "../../../support/worker.ts";
import { bearer, deployed } from "../support/access.ts";
import { type CuttingProxy, startCuttingProxy } from "../support/cutting-proxy.ts";
import { agent, inTurn } from "../ai-sdk/support/teams.ts";
import { HUMAN, inTurn as humansInTurn, newTeam, runsOf } from "../support/teams.ts";
import { type ClientName, connect } from "./support/clients.ts";
import { firstOf, initialize, lastOf, type Message, post, request } from "./support/messages.ts";
import { ask } from "./support/tasks.ts";

const SESSIONS: ClientName[] = ["2025-11-25", "2025-11-25, SDK 1"];
const headers = bearer("acme");

let worker: TestWorker;
let proxy: CuttingProxy;
let count = 0;

beforeAll(async () => {
  worker = await TestWorker.start(await deployed());
  proxy = await startCuttingProxy(await worker.origin);
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await worker[Symbol.asyncDispose]();
});

const call = (team: string, task: string) =>
  request(1, "tools/call", { name: `run_${team}`, arguments: { task, wait_seconds: 20 } });

describe.each(SESSIONS)("a client over %s", (name) => {
  test("a call continues after a lost connection, and its progress says each message once", async () => {
    const id = `cut-${++count}`;
    const component = inTurn(
      agent("quick", ["At once."]),
      agent("slow", ["One word after the other."], { delay: 300 }),
    );
    await newTeam(worker, { id, component }, headers);
    await using client = await connect(name, { url: new URL("/mcp", proxy.url), headers });
    const progress: { progress: number; message?: string | undefined }[] = [];
    const before = proxy.asked.length;
    const called = client.call(
      { name: `run_${id}`, arguments: { task: "Write." } },
      { onprogress: (one) => progress.push(one) },
    );
    await expect.poll(() => progress.map(({ message }) => message)).toContain("At once.");
    proxy.cut();
    const result = await called;
    expect(result.structuredContent).toMatchObject({
      status: "completed",
      text: "One word after the other.",
    });
    const asked = proxy.asked.slice(before).filter(({ last }) => last !== undefined);
    expect(asked.map(({ method }) => method)).toContain("GET");
    const said = progress.map(({ message }) => message);
    expect(said.filter((message) => message === "At once.")).toHaveLength(1);
    const numbers = progress.map((one) => one.progress);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(await runsOf(worker, id, headers)).toHaveLength(1);
  });

  test("a form is shown once, and answered after the cut", async () => {
    const id = `form-${++count}`;
    await newTeam(worker, { id, component: humansInTurn(HUMAN) }, headers);
    let forms = 0;
    await using client = await connect(name, {
      url: new URL("/mcp", proxy.url),
      headers,
      fill: async () => {
        forms++;
        proxy.cut();
        return { action: "accept", content: { content: "Vienna" } };
      },
    });
    const result = await client.call({ name: `run_${id}`, arguments: { task: "Where to?" } });
    expect(result.structuredContent).toMatchObject({ status: "completed", text: "Vienna" });
    expect(forms).toBe(1);
  });
});

describe("the stream of a call over HTTP", () => {
  const version = { ...headers, accept: "text/event-stream", "mcp-protocol-version": "2025-11-25" };

  test("begins with an event that has an id and no data, which older clients do not get", async () => {
    await newTeam(
      worker,
      { id: "primed", component: inTurn(agent("writer", ["Words.", "Words."])) },
      headers,
    );
    const session = { ...headers, "mcp-session-id": await initialize(worker, {}, { headers }) };
    const events = await firstOf(
      await post(worker, call("primed", "Write."), { headers: session }),
    );
    expect(events).toMatch(/^id: [\w-]+\ndata: \n\n/);
    const older = await post(worker, call("primed", "Write."), {
      headers: { ...session, "mcp-protocol-version": "2025-06-18" },
    });
    expect(await older.text()).toMatch(/^id: [\w-]+\nevent: message\ndata: \{/);
  });

  test("is continued after a cut by any credential that may read the run, at the team's address, too", async () => {
    await newTeam(
      worker,
      { id: "shared", component: inTurn(agent("writer", ["Words.", "Words."])) },
      headers,
    );
    const id = await initialize(worker, {}, { headers });
    const session = { ...headers, "mcp-session-id": id };
    const first = await firstOf(await post(worker, call("shared", "Write."), { headers: session }));
    const last = /^id: (\S+)/.exec(first)?.[1] ?? "";
    const resume = (path: string, key: string) =>
      worker.fetch(path, {
        headers: { ...version, ...bearer(key), "mcp-session-id": id, "last-event-id": last },
      });
    for (const path of ["/mcp", "/mcp/teams/shared"]) {
      const { id: answered, result } = await lastOf(await resume(path, "runs:read"));
      expect(answered).toBe(1);
      expect(result?.structuredContent).toMatchObject({ status: "completed" });
    }
    const refused = await resume("/mcp", "teams:read");
    expect(refused.status).toBe(403);
    await refused.body?.cancel();
    const foreign = await lastOf(await resume("/mcp", "globex"));
    expect(foreign.result).toMatchObject({ isError: true });
    await newTeam(
      worker,
      { id: "other", component: inTurn(agent("writer", ["Words.", "Words."])) },
      headers,
    );
    const elsewhere = await resume("/mcp/teams/other", "acme");
    expect(elsewhere.status).toBe(400);
    await elsewhere.body?.cancel();
  });

  test("exists beside the stream of a session, and a request without a session has no such stream", async () => {
    const session = await initialize(worker, {}, { headers });
    const stream = await worker.fetch("/mcp", {
      headers: { ...version, "mcp-session-id": session },
    });
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    expect(await firstOf(stream)).toBe(":\n\n");
    const none = await worker.fetch("/mcp", {
      headers: { ...headers, accept: "text/event-stream", "mcp-protocol-version": "2026-07-28" },
    });
    expect([none.status, none.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    await none.body?.cancel();
    const wrong = await worker.fetch("/mcp", {
      headers: { ...version, "mcp-session-id": session, "last-event-id": "none" },
    });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({
      error: { message: expect.stringContaining("Last-Event-ID") },
    });
  });
});

describe("a request that has used its CPU time", () => {
  const WORDS = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
  const FIRST = "At once.";
  let limited: TestWorker;

  beforeAll(async () => {
    limited = await TestWorker.start({ MAX_STREAM_CPU_MS: "5" });
  });

  afterAll(() => limited[Symbol.asyncDispose]());

  const team = (id: string) => {
    const slow = agent("slow", [WORDS], { delay: 20 });
    return newTeam(limited, { id, component: inTurn(agent("quick", [FIRST]), slow) });
  };

  test("ends the call's stream in a session, and the client gets the rest by the last event's id", async () => {
    await team("long");
    const session = { "mcp-session-id": await initialize(limited) };
    const params = {
      name: "run_long",
      arguments: { task: "Write.", wait_seconds: 20 },
      _meta: { progressToken: "p" },
    };
    let response = await post(limited, request(1, "tools/call", params), { headers: session });
    const messages: Message[] = [];
    let requests = 0;
    while (!messages.some(({ result }) => result !== undefined)) {
      requests++;
      const text = await response.text();
      messages.push(
        ...[...text.matchAll(/^data: (\{.*)$/gm)].map(
          ([, data = ""]) => JSON.parse(data) as Message,
        ),
      );
      const last = [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? "";
      response = await limited.fetch("/mcp", {
        headers: {
          ...session,
          accept: "text/event-stream",
          "mcp-protocol-version": "2025-11-25",
          "last-event-id": last,
        },
      });
    }
    await response.body?.cancel();
    expect(requests).toBeGreaterThan(1);
    const said = messages.flatMap(({ params: given }) => given?.message ?? []);
    for (const message of [FIRST, WORDS])
      expect(said.filter((one) => one === message)).toHaveLength(1);
    const numbers = messages.flatMap(({ params: given }) => given?.progress ?? []);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(messages.at(-1)).toMatchObject({
      id: 1,
      result: { structuredContent: { status: "completed", text: WORDS } },
    });
    expect(await runsOf(limited, "long")).toHaveLength(1);
  });

  test("answers the call without a session with the active run, or with its task", async () => {
    await team("brief");
    const brief = { name: "run_brief", arguments: { task: "Write.", wait_seconds: 20 } };
    const { result } = await ask(limited, "tools/call", brief, { capabilities: {} });
    expect(result).toMatchObject({ structuredContent: { status: "running" } });
    await team("task");
    const asTask = { ...brief, name: "run_task" };
    const { result: task } = await ask(limited, "tools/call", asTask);
    expect(task).toMatchObject({ resultType: "task", status: "working" });
  });

  test("ends a subscription with its result", async () => {
    await team("heard");
    const started = { name: "run_heard", arguments: { task: "Write." } };
    const { taskId } = (await ask(limited, "tools/call", started)).result!;
    const notifications = { taskIds: [taskId] };
    const heard = await ask(limited, "subscriptions/listen", { notifications });
    expect(heard.result?.resultType).toBe("complete");
    const { result } = await ask(limited, "tasks/get", { taskId });
    expect(result?.status).toBe("working");
  });
});
