import { expect, test, vi } from "vitest";
import { InboxStore, type RunInfo, TeamStore, TroupeClient } from "troupe/client";
import { PATIENCE } from "../../support/patience.ts";

/** A server whose streams send what a test says, and then stay open or end. */
class ScriptedServer {
  /** Method and path of all requests. */
  readonly requests: string[] = [];
  readonly #streams: { frames: string; ends: boolean }[];
  #open: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** What other requests are answered. */
  answer: (path: string) => unknown = () => ({});

  constructor(streams: { frames: string; ends: boolean }[]) {
    this.#streams = streams;
  }

  get client(): TroupeClient {
    return new TroupeClient({
      baseURL: "http://troupe.test",
      fetch: (request) => this.#fetch(request),
    });
  }

  /** Whether the client has read all that was sent over the connection that is open. */
  get isRead(): boolean {
    return this.#open?.desiredSize === 1;
  }

  /** Sends frames over the connection that is open. */
  send(frames: string): void {
    this.#open?.enqueue(new TextEncoder().encode(frames));
  }

  async #fetch({ method, url, signal }: Request): Promise<Response> {
    const { pathname } = new URL(url);
    this.requests.push(`${method} ${pathname}`);
    if (!pathname.endsWith("/events")) return Response.json(await this.answer(pathname));
    const { frames, ends } = this.#streams.shift() ?? { frames: "", ends: false };
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(frames));
        if (ends) controller.close();
        else this.#open = controller;
        signal.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }
}

const EMPTY_TEAM = (path: string): unknown =>
  path.endsWith("/runs")
    ? { runs: [], next_cursor: null }
    : { messages: [], next_after: null, next_before: null };

const run = (id: string, status: RunInfo["status"], started_at: string | null): object => ({
  id,
  status,
  started_at,
  requests: [],
  error: null,
});

const frame = (event: string, data: object, id?: number): string =>
  `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

test("a call by any object of the client makes the team's waiting streams reconnect", async () => {
  const pause = { frames: `retry: 600000\n\n`, ends: true };
  const server = new ScriptedServer([pause, { frames: "", ends: false }]);
  const { client } = server;
  const controller = new AbortController();
  const events = client.team("a").events({ signal: controller.signal });
  const ended = events.next().catch(() => undefined);
  const streams = (): number => server.requests.filter((one) => one.endsWith("/events")).length;
  await vi.waitFor(() => expect(streams()).toBe(1), PATIENCE);
  // By the end of the second call a stream would have connected again after the first.
  for (let calls = 0; calls < 2; calls++) await client.team("b").stop("run");
  expect(streams()).toBe(1);
  await client.team("a").stop("run");
  await vi.waitFor(() => expect(streams()).toBe(2), PATIENCE);
  controller.abort();
  await ended;
});

test("a team store sends a message into the current run, and says when there is none", async () => {
  const frames = `${frame("run", run("b", "running", "2026-01-02T00:00:00.000Z"))}event: caught_up\ndata: {}\n\n`;
  const server = new ScriptedServer([{ frames, ends: false }]);
  server.answer = (path) => (path.endsWith("/b/messages") ? { id: "m" } : EMPTY_TEAM(path));
  const store = new TeamStore(server.client.team("t"));
  await expect(store.steer("Too early.")).rejects.toThrow("team t has no run");
  const unsubscribe = store.subscribe(() => undefined);
  await vi.waitFor(() => expect(store.state.status).toBe("running"), PATIENCE);
  expect(await store.steer("Shorter, please.")).toEqual({ id: "m" });
  expect(server.requests).toContain("POST /v1/teams/t/runs/b/messages");
  unsubscribe();
});

test("an earlier run that is cancelled without a connection does not replace the current one", async () => {
  const current = frame("run", run("b", "running", "2026-01-02T00:00:00.000Z"));
  const past = frame("run", run("a", "cancelled", "2026-01-01T00:00:00.000Z"), 7);
  const unstarted = frame("run", run("q", "cancelled", null), 8);
  const frames = `${current}${past}${unstarted}event: caught_up\ndata: {}\n\n`;
  const server = new ScriptedServer([{ frames, ends: false }]);
  server.answer = EMPTY_TEAM;
  const store = new TeamStore(server.client.team("t"));
  const statuses: string[] = [];
  const unsubscribe = store.subscribe(() => statuses.push(store.state.status));
  await vi.waitFor(
    () => expect(store.state).toMatchObject({ status: "running", run: { id: "b" } }),
    PATIENCE,
  );
  expect(statuses).not.toContain("cancelled");
  server.send(frame("run", run("b", "completed", "2026-01-02T00:00:00.000Z")));
  await vi.waitFor(() => expect(store.state.status).toBe("completed"), PATIENCE);
  unsubscribe();
  expect(store.state).toMatchObject({ status: "connecting", run: null });
});

test("unchanged parts are the same objects in the next state", async () => {
  const said = { type: "TextMessage", id: "1", source: "user", content: "Hello." };
  const server = new ScriptedServer([
    {
      frames: `id: 1\ndata: ${JSON.stringify(said)}\n\nevent: caught_up\ndata: {}\n\n`,
      ends: false,
    },
  ]);
  server.answer = EMPTY_TEAM;
  const store = new TeamStore(server.client.team("t"));
  const unsubscribe = store.subscribe(() => undefined);
  await vi.waitFor(() => expect(store.state.messages).toHaveLength(1), PATIENCE);
  const { messages, requests, queued } = store.state;
  const chunk = { type: "ModelClientStreamingChunkEvent", id: "c", source: "a", content: "Hi" };
  server.send(`data: ${JSON.stringify({ ...chunk, full_message_id: "2" })}\n\n`);
  await vi.waitFor(
    () => expect(store.state.texts).toMatchObject([{ source: "a", content: "Hi" }]),
    PATIENCE,
  );
  expect(store.state.messages).toBe(messages);
  expect(store.state.requests).toBe(requests);
  expect(store.state.queued).toBe(queued);
  unsubscribe();
});

test("a question that comes while the inbox loads is loaded, too", async () => {
  const server = new ScriptedServer([{ frames: "", ends: false }]);
  const question = { id: "q", team_id: "t", run_id: "r", kind: "input" };
  let requests: object[] = [];
  let answered = (): void => undefined;
  server.answer = () => {
    const page = { requests, next_cursor: null };
    return new Promise((resolve) => {
      answered = () => resolve(page);
    });
  };
  const lists = (): number => server.requests.filter((one) => one.endsWith("/requests")).length;
  const inbox = new InboxStore(server.client);
  const unsubscribe = inbox.subscribe(() => undefined);
  await vi.waitFor(() => expect(lists()).toBe(1), PATIENCE);
  requests = [question];
  server.send(frame("request", question, 1));
  // Both are read before the answer: the change must not be taken for one that the list shows.
  server.send(frame("run", { id: "r", team_id: "t" }, 2));
  await vi.waitUntil(() => server.isRead, PATIENCE);
  await new Promise((resolve) => setImmediate(resolve));
  answered();
  await vi.waitFor(() => expect(lists()).toBe(2), PATIENCE);
  answered();
  await vi.waitFor(() => expect(inbox.state.requests).toEqual([question]), PATIENCE);
  expect(lists()).toBe(2);
  unsubscribe();
});

test("a team shows the steps in progress, its turns, and the usage of its run so far", async () => {
  const running = run("a", "running", "2026-01-01T00:00:00.000Z");
  const activity = { run_id: "a", at: "2026-01-01T00:00:01.000Z", steps: [{ agent: "ann" }] };
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  const turn = { turn: 2, run_id: "a", message_ids: ["m"] };
  const progress = { id: "a", turns: 1, turn: 2, usage, cost: 0.5, models: {} };
  const server = new ScriptedServer([
    {
      frames: frame("run", running) + frame("caught_up", {}) + frame("activity", activity),
      ends: false,
    },
  ]);
  server.answer = EMPTY_TEAM;
  const store = new TeamStore(server.client.team("team"));
  const leave = store.subscribe(() => undefined);
  await vi.waitFor(() => expect(store.state.activity).toEqual(activity), PATIENCE);

  server.send(frame("turn", { ...turn, run: progress }));
  await vi.waitFor(() => expect(store.state.turns).toEqual([turn]), PATIENCE);
  expect(store.state.run).toMatchObject({ turns: 1, turn: 2, usage, cost: 0.5 });
  expect(store.state.activity).toEqual(activity);

  server.send(frame("activity", { ...activity, steps: [] }));
  await vi.waitFor(() => expect(store.state.activity).toBeNull(), PATIENCE);
  server.send(frame("activity", activity));
  await vi.waitFor(() => expect(store.state.activity).toEqual(activity), PATIENCE);
  server.send(frame("run", run("a", "paused", "2026-01-01T00:00:00.000Z")));
  await vi.waitFor(() => expect(store.state.activity).toBeNull(), PATIENCE);
  leave();
});
