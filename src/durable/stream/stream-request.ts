import type {
  OpenedStream,
  StartedStream,
  StartRunInput,
  StreamInput,
} from "../../contract/gateways/team-gateway.ts";
import type { JsonObject } from "../../core/json.ts";
import type { StreamFormat } from "../../contract/stream/stream-format.ts";
import type { Problem } from "../../contract/problem.ts";
import type { Result } from "../../contract/result.ts";
import { type ActiveRun, runInfo } from "../run/active-run.ts";
import { EventStream } from "./event-stream.ts";
import type { FrameWriter } from "./frames.ts";
import type { LiveFeed } from "./live-feed.ts";
import { ok } from "../../contract/result.ts";
import { runNotFound } from "../object/refusals.ts";
import { type StreamClient, throughWorker } from "./stream-places.ts";
import type { StoredRun } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";

const ADDRESS = "https://team/stream";
/** The response header with the id of the run that was started. */
const RUN = "x-troupe-run";
/** The response header of a run that an earlier request has started. */
const EARLIER = "x-troupe-earlier-run";

/** The body of a request to the object's fetch: opens a stream, or starts a run and opens its stream. */
export type StreamCall = (
  | { open: Omit<StreamInput, "format">; start?: undefined }
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

export async function readStartResponse(response: Response): Promise<Result<StartedStream>> {
  const opened = await readStreamResponse(response);
  if (!opened.ok) return opened;
  const { headers } = response;
  return ok({ ...opened.value, run: headers.get(RUN) ?? "", created: !headers.has(EARLIER) });
}

export async function readStreamResponse(response: Response): Promise<Result<OpenedStream>> {
  if (response.status === 204) return ok({ done: true });
  if (!response.ok) return { ok: false, problem: await response.json<Problem>() };
  if (response.body === null) throw new TypeError("the team's stream has no body");
  return ok({ body: throughWorker(response.body) });
}

export interface StreamSources {
  stores: Stores;
  live: LiveFeed;
  controller: { active: ActiveRun | undefined };
  team: { visibleState(): JsonObject };
}

/** Opens the stream of one run, or of all runs of the team. */
export function openStream(
  { stores, live, controller, team }: StreamSources,
  input: Omit<StreamInput, "format">,
  writer: FrameWriter,
  client: StreamClient,
): Result<OpenedStream> {
  const run = input.run === null ? stores.runs.last() : runOf(stores, controller.active, input.run);
  const ofRun = input.run !== null;
  if (ofRun && !run) return runNotFound();
  const { first_event = 0, last_event = null } = run?.record ?? {};
  if (ofRun && last_event !== null && input.after >= last_event) return ok({ done: true });
  const { body } = new EventStream({
    log: stores.log,
    client,
    live,
    after: ofRun ? Math.max(input.after, first_event) : input.after,
    run: (ofRun && run) || null,
    writer,
    opening: run && {
      event: "run",
      data: opening(stores, run, controller.active, input.after),
    },
    visibleState: () => team.visibleState(),
    caughtUp: () => {
      const status = controller.active?.record.status;
      if (status === "waiting" || status === "paused") live.rest();
    },
  });
  return ok({ body });
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
