import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonInit } from "../../support/http-app.ts";
import { readUntil } from "../../support/read-until.ts";
import { TestWorker } from "../../support/worker.ts";
import { request, sent } from "../protocols/a2a/support/rpc.ts";
import {
  answering,
  calling,
  expression,
  withCalculator,
} from "../protocols/ag-ui/support/components.ts";
import { newTeam } from "../protocols/support/teams.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start();
});
afterAll(() => worker[Symbol.asyncDispose]());

function readerOf({ body, status }: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (body === null || status !== 200) throw new Error(`there is no stream, but ${status}`);
  return body.getReader();
}

/** Each run of it asks a human whether a tool may be called. */
const approved = withCalculator(answering([calling(expression("1", "6*7"))]), "human");

/** Starts a run that waits for a human. @returns what answers the human's question */
async function waitingRun(team: string): Promise<() => Promise<void>> {
  const init = jsonInit({ task: "go" }, "POST", { accept: "text/event-stream" });
  const started = readerOf(await worker.fetch(`/v1/teams/${team}/runs`, init));
  await readUntil(started, /"status":"waiting"/);
  await started.cancel();
  const { runs } = (await (await worker.fetch(`/v1/teams/${team}/runs`)).json()) as {
    runs: { id: string; requests: { id: string }[] }[];
  };
  const [run] = runs;
  return async () => {
    const path = `/v1/teams/${team}/runs/${run?.id}/requests/${run?.requests[0]?.id}`;
    const answered = await worker.fetch(path, jsonInit({ approved: true }));
    expect(await answered.json()).toMatchObject({ id: run?.id });
  };
}

interface Protocol {
  name: string;
  path: (team: string) => string;
  body: (team: string) => object;
  headers?: Record<string, string>;
  /** What its stream begins with, once. */
  beginning: RegExp;
  /** How its stream ends: the queued run asks a human, too. */
  end: RegExp;
}

const user = { role: "user", content: "Then this." };

const protocols: Protocol[] = [
  {
    name: "AG-UI",
    path: (team) => `/ag-ui/teams/${team}`,
    body: () => ({
      threadId: "thread",
      runId: "run",
      protocolVersion: "1.0",
      messages: [{ id: "m", ...user }],
      forwardedProps: { troupe: { on_conflict: "queue" } },
    }),
    beginning: /RUN_STARTED/g,
    end: /"outcome":\{"type":"interrupt"/,
  },
  {
    name: "AI SDK",
    path: (team) => `/ai-sdk/teams/${team}/chat`,
    body: () => ({
      id: "chat",
      messages: [{ id: "m", role: "user", parts: [{ type: "text", text: user.content }] }],
      on_conflict: "queue",
    }),
    beginning: /"type":"start"/g,
    end: /\[DONE\]/,
  },
  {
    name: "OpenAI's chat completions",
    path: () => "/openai/v1/chat/completions",
    body: (team) => ({
      model: `team:${team}`,
      stream: true,
      messages: [user],
      troupe: { on_conflict: "queue" },
    }),
    beginning: /"role":"assistant"/g,
    end: /\[DONE\]/,
  },
  {
    name: "OpenAI's responses",
    path: () => "/openai/v1/responses",
    body: (team) => ({
      model: `team:${team}`,
      stream: true,
      input: user.content,
      troupe: { on_conflict: "queue" },
    }),
    beginning: /event: response\.created/g,
    end: /event: response\.completed/,
  },
  {
    name: "A2A",
    path: (team) => `/a2a/teams/${team}`,
    body: (team) => request("SendStreamingMessage", sent(user.content, { contextId: team })),
    headers: { "a2a-version": "1.0" },
    beginning: /TASK_STATE_SUBMITTED/g,
    end: /TASK_STATE_INPUT_REQUIRED/,
  },
];

test.concurrent.each(protocols)(
  "the stream of a run that is queued behind a human's question stays open: $name",
  async ({ name, path, body, headers, beginning, end }) => {
    const team = name.replaceAll(/\W/g, "").toLowerCase();
    await newTeam(worker, { id: team, component: approved });
    const answer = await waitingRun(team);
    const queued = readerOf(
      await worker.fetch(path(team), jsonInit(body(team), "POST", headers ?? {})),
    );
    // The second ping comes when the team is no longer held.
    let text = await readUntil(queued, (read) => read.split(": ping").length > 2);
    await answer();
    text += await readUntil(queued, end);
    expect((await queued.read()).done).toBe(true);
    expect(text.match(beginning)).toHaveLength(1);
  },
);
