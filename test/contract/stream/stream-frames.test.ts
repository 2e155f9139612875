import { createParser } from "eventsource-parser";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AssistantAgent, dumpComponent, ReplayChatCompletionClient, UserProxyAgent } from "troupe";
import { type StreamFrame, streamFrameSchema, tenantFrameSchema } from "troupe/schemas";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start();
});

afterAll(() => worker[Symbol.asyncDispose]());

/** The frames of a stream as an EventSource gives them, until one that `isLast`, or to its end. */
async function framesOf(
  response: Response,
  isLast: (frame: { event: string; data: unknown }) => boolean = () => false,
): Promise<{ event: string; data: unknown }[]> {
  const frames: { event: string; id?: string; data: unknown }[] = [];
  const parser = createParser({
    onEvent: ({ event = "message", id, data }) =>
      frames.push({ event, ...(id !== undefined && { id }), data: JSON.parse(data) as unknown }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!frames.some(isLast)) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) break;
    parser.feed(value ?? "");
  }
  await reader?.cancel();
  return frames;
}

async function createTeam(agent: AssistantAgent | UserProxyAgent): Promise<string> {
  const response = await worker.fetch("/v1/teams", jsonInit({ component: dumpComponent(agent) }));
  return ((await response.json()) as { id: string }).id;
}

async function framesOfRun(agent: AssistantAgent): Promise<StreamFrame[]> {
  const id = await createTeam(agent);
  const response = await worker.fetch(`/v1/teams/${id}/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ task: "Hello." }),
  });
  const frames = await framesOf(response);
  return frames.map((frame) => {
    const parsed = streamFrameSchema.parse(frame);
    // Nothing on the wire is unknown to the schemas.
    expect(parsed).toEqual(frame);
    return parsed;
  });
}

const agent = (replies: string[]): AssistantAgent =>
  new AssistantAgent({
    name: "writer",
    modelClient: new ReplayChatCompletionClient(replies),
    modelClientStream: true,
  });

test("the frames of a run that completes are those of the schemas", async () => {
  const frames = await framesOfRun(agent(["The lamp turns."]));
  expect(new Set(frames.map(({ event }) => event))).toEqual(
    new Set(["run", "caught_up", "message", "turn"]),
  );
  const items = frames.flatMap((frame) => (frame.event === "message" ? [frame.data.type] : []));
  expect(items[0]).toBe("TextMessage");
  expect(items).toContain("ModelClientStreamingChunkEvent");
  expect(items.at(-1)).toBe("TaskResult");
});

test("the frames of a run that fails are those of the schemas", async () => {
  const frames = await framesOfRun(agent([]));
  const last = frames.at(-1);
  expect(last?.event === "failed" && last.data.code).toEqual(expect.any(String));
});

test("the frames of a tenant are those of the schemas", async () => {
  const id = await createTeam(new UserProxyAgent({ name: "human" }));
  const stream = await worker.fetch("/v1/events?after=0");
  await worker.fetch(`/v1/teams/${id}/runs`, jsonInit({ task: "Hello." }));
  const frames = await framesOf(stream, ({ event }) => event === "request");
  for (const frame of frames) expect(tenantFrameSchema.parse(frame)).toEqual(frame);
  expect(frames.map(({ event }) => event)).toEqual(expect.arrayContaining(["team", "run"]));
});

test("an invalid frame is refused", () => {
  expect(streamFrameSchema.safeParse({ event: "retract", data: {} }).success).toBe(false);
  expect(streamFrameSchema.safeParse({ event: "other", data: {} }).success).toBe(false);
  expect(tenantFrameSchema.safeParse({ event: "team", id: "1", data: {} }).success).toBe(false);
});
