import type {
  AnswersInput,
  OpenedStream,
  StartedStream,
  StartRunInput,
  StreamInput,
  StreamFormat,
} from "../../contract/gateways/team-gateway.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Problem } from "../../contract/problem.ts";
import { ok, type Result, runNotFound } from "../../contract/result.ts";
import { activityOf, runInfo } from "../engine/views/run-info.ts";
import type { ActiveRun } from "../engine/active-run.ts";
import type { ClientConnection } from "../stream/batch.ts";
import {
  ClientStream,
  type EventStreamOptions,
  PAGE_BYTES,
  type RunNow,
  streamEvents,
} from "../stream/event-stream.ts";
import type { FrameWriter } from "../stream/frames.ts";
import type { LiveFeed } from "../stream/live-feed.ts";
import type { StreamClient } from "../stream/stream-places.ts";
import type { Seen } from "../stream/watch-relay.ts";
import type { StoredRun } from "../storage/runs/run-record.ts";
import type { Stores } from "../storage/stores.ts";

const ADDRESS = "https://team/stream";
/** The response header with the id of the run that was started. */
const RUN = "x-troupe-run";
/** The response header of a run that an earlier request has started. */
const EARLIER = "x-troupe-earlier-run";

/** The beginning of a stream. */
export interface Opening extends Omit<StreamInput, "format"> {
  /** The part that the client has already. */
  seen?: Seen;
}

/** The body of a request to the object's fetch: opens a stream, of a run that it may start or continue. */
export type StreamCall = (
  | { open: Opening; continues?: AnswersInput; start?: undefined }
  | { start: StartRunInput; open?: undefined }
) & {
  /** Undefined for the native one. */
  format?: StreamFormat | undefined;
  client: StreamClient;
};

export function streamRequest(call: StreamCall): Request {
  return new Request(ADDRESS, { method: "POST", body: JSON.stringify(call) });
}

export function streamResponse(
  opened: Result<OpenedStream & { run?: string; created?: boolean }>,
): Response {
  if (!opened.ok) return Response.json(opened.problem, { status: opened.problem.status });
  const { run, created } = opened.value;
  const headers = {
    "content-type": "text/event-stream",
    ...(run !== undefined && { [RUN]: run }),
    ...(created === false && { [EARLIER]: "1" }),
  };
  return "done" in opened.value
    ? new Response(null, { status: 204, headers })
    : new Response(opened.value.body, { headers });
}

/** Passes on the body of an object's answer to the Worker. */
export type Pass = (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;

export function readStartResponse(
  response: Response,
  passOf: (run: string) => Pass,
): Promise<Result<StartedStream>> {
  const { headers } = response;
  const run = headers.get(RUN) ?? "";
  return readResponse(response, passOf(run), { run, created: !headers.has(EARLIER) });
}

export function readStreamResponse(
  response: Response,
  pass: Pass = throughWorker,
): Promise<Result<OpenedStream>> {
  return readResponse(response, pass, {});
}

/** @param facts those of the stream besides its body */
async function readResponse<Facts>(
  response: Response,
  pass: Pass,
  facts: Facts,
): Promise<Result<OpenedStream & Facts>> {
  if (response.status === 204) return ok({ done: true, ...facts });
  if (!response.ok) return { ok: false, problem: await response.json<Problem>() };
  if (response.body === null) throw new TypeError("the team's stream has no body");
  return ok({ body: pass(response.body), ...facts });
}

/** If a Worker returned the body of an object unchanged, the runtime would end the request at once and never abort its signal. */
function throughWorker(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return body.pipeThrough(new IdentityTransformStream());
}

export interface StreamSources {
  stores: Stores;
  live: LiveFeed;
  engine: { active: ActiveRun | undefined };
  team: { visibleState(): JsonObject };
}

/** Opens the stream of one run, or of all runs of the team. @param facts those of the stream besides its body */
export function openStream<Facts = unknown>(
  sources: StreamSources,
  input: Opening,
  to: Pick<EventStreamOptions, "writer" | "client">,
  facts?: Facts,
): Result<OpenedStream & Facts> {
  const sent = sendEvents(sources, input, { ...to, connect: () => new ClientStream() });
  if (!sent.ok) return sent;
  const stream = sent.value === "done" ? { done: true as const } : { body: sent.value.body };
  return ok({ ...stream, ...(facts as Facts) });
}

/** Sends the events of one run, or of all runs of the team, unless nothing is left to send. */
export function sendEvents<Connection extends ClientConnection>(
  { stores, live, engine, team }: StreamSources,
  input: Opening,
  { connect, ...to }: Pick<EventStreamOptions, "writer" | "client"> & { connect: () => Connection },
): Result<"done" | Connection> {
  const { active } = engine;
  const run = input.run === null ? stores.runs.last() : runOf(stores, active, input.run);
  const ofRun = input.run !== null;
  if (ofRun && !run) return runNotFound();
  const { first_event = 0, last_event = null } = run?.record ?? {};
  if (ofRun && last_event !== null && input.after >= last_event) return ok("done");
  const { seen } = input;
  const after = seen?.cursor ?? input.after;
  if (seen !== undefined && run) writeAgain(stores, run, { after: input.after, seen }, to.writer);
  const connection = connect();
  streamEvents({
    ...to,
    connection,
    log: stores.log,
    live,
    after: ofRun ? Math.max(after, first_event) : after,
    run: (ofRun && run) || null,
    opening: run && {
      event: "run",
      data: opening(stores, run, active, after),
    },
    now: () => runNow(engine.active),
    visibleState: () => team.visibleState(),
  });
  return ok(connection);
}

function runNow(active: ActiveRun | undefined): RunNow {
  if (active === undefined) return {};
  const data = activityOf(active);
  const { status } = active.record;
  return {
    ...(data.steps.length > 0 && { activity: { event: "activity", data } }),
    ...((status === "waiting" || status === "paused") && { idle: status }),
  };
}

/** Replays what the client already has, to rebuild the encoder's state after an idle time. */
function writeAgain(
  stores: Stores,
  run: StoredRun,
  { after, seen: { cursor: last, requests } }: { after: number; seen: Seen },
  writer: FrameWriter,
): void {
  const first = run.record.first_event;
  const idleRun = { ...runInfo(stores, run), ended_at: null, requests: [...requests] };
  writer.visibleState?.({});
  if (last > first) {
    writer.live({ event: "run", data: { ...idleRun, status: "running" } });
    for (let cursor = Math.max(after, first); cursor < last;) {
      const page = stores.log.page(cursor, PAGE_BYTES);
      for (const event of page) {
        if (event.seq <= last && event.run === run.seq) writer.recorded(event);
      }
      cursor = page.at(-1)?.seq ?? last;
    }
  }
  writer.live({ event: "run", data: { ...idleRun, status: last > first ? "paused" : "queued" } });
  writer.live({ event: "caught_up", data: {} });
}

function runOf({ runs }: Stores, active: ActiveRun | undefined, id: string): StoredRun | undefined {
  return active?.record.id === id ? active.stored : runs.byId(id);
}

/** The run as the first frame shows it. */
function opening(
  stores: Stores,
  run: StoredRun,
  active: ActiveRun | undefined,
  after: number,
): ReturnType<ActiveRun["info"]> {
  if (active?.record.id === run.record.id) return active.info();
  const info = runInfo(stores, run);
  // The stream of a cancelled run ends with exactly one frame with this status; the first frame must not be another.
  const endFollows = run.record.last_event !== null && after < run.record.last_event;
  return info.status === "cancelled" && endFollows
    ? { ...info, status: info.started_at === null ? "queued" : "running", ended_at: null }
    : info;
}
