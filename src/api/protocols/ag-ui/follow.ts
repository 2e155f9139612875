import type { RunInfo } from "../../../contract/run.ts";
import type { StreamFrame } from "../../../contract/stream/stream-frame.ts";
import type { JsonObject } from "../../../core/json.ts";
import { unwrap } from "../../http/endpoint/problem.ts";
import { streamAnswer } from "../../http/endpoint/sse.ts";
import { AgUiEncoder } from "./encoder/encoder.ts";
import { SharedState } from "./encoder/shared-state.ts";
import { type AgUiEvent, runStarted, sse } from "./wire/events.ts";
import type { RunInput } from "./wire/input.ts";
import { type AgUiOptions, type Continued, formatOf, keptThread } from "./wire/options.ts";
import type { TeamConversation, RequestAnswer } from "../shared/conversation.ts";
import { readThread } from "./request/thread.ts";

export interface Following {
  conversation: TeamConversation;
  input: RunInput;
  options: AgUiOptions;
}

const encoder = new TextEncoder();

/**
 * The stream of a run that continues, or has ended: the conversation as it is, and what follows.
 *
 * @param answers to questions of the run, with which it continues
 */
export async function follow(
  { conversation, input, options }: Following,
  run: RunInfo,
  answers: readonly RequestAnswer[] = [],
): Promise<Response> {
  const { team } = conversation;
  // A queued run has no messages in the conversation yet.
  const thread = run.status === "queued" ? undefined : await readThread(team, input);
  const beginning: AgUiEvent[] = [
    runStarted(options, run),
    ...(thread === undefined
      ? []
      : [{ type: "MESSAGES_SNAPSHOT" as const, messages: thread.messages }]),
  ];
  const continued: Continued = {
    answering: answers.map(({ request }) => request),
    clientCalls: thread?.clientCalls ?? [],
    calls: thread?.calls ?? {},
    humans: thread?.humans ?? [],
    spent: answers.length > 0 ? run.models : {},
  };
  const own = {
    ...options,
    ...(thread !== undefined && { thread: keptThread(thread.messages) }),
    continued,
  };
  const stream = { after: thread?.cursor ?? 0, format: formatOf(own) };
  const result =
    answers.length > 0
      ? await conversation.continue(run.id, answers, stream)
      : await conversation.follow(run.id, stream);
  // If the run ended before the answers arrived, its end follows.
  const hasEnded = !result.ok && result.problem.code === "run_ended";
  const opened = hasEnded ? ({ done: true } as const) : unwrap(result);
  if ("done" in opened) {
    const ending = endOf(own, unwrap(await team.run(run.id)), unwrap(await team.visibleState()));
    return streamAnswer({ body: oneChunk(sse(beginning, options) + ending) });
  }
  return streamAnswer({ body: after(sse(beginning, options), opened.body) });
}

/** The stream of a request that starts nothing, to a team that has not run yet. */
export async function nothing({ conversation, input, options }: Following): Promise<Response> {
  const { team } = conversation;
  const { threadId, runId } = options;
  const { messages } = await readThread(team, input);
  const state = new SharedState(options.state, false);
  state.change(unwrap(await team.visibleState()));
  return streamAnswer({
    body: oneChunk(
      sse(
        [
          runStarted(options, undefined),
          { type: "MESSAGES_SNAPSHOT", messages },
          ...state.begin(),
          { type: "RUN_FINISHED", threadId, runId, outcome: { type: "success" } },
        ],
        options,
      ),
    ),
  });
}

/** The end of a run whose stream has nothing left. */
function endOf(options: AgUiOptions, run: RunInfo, state: JsonObject): string {
  const ending = new AgUiEncoder(options);
  ending.visibleState(state);
  return ending.encode({ event: "run", data: run }) + ending.encode(lastFrame(run));
}

function lastFrame(run: RunInfo): StreamFrame {
  const { status, stop_reason, usage, error } = run;
  if (status === "cancelled") return { event: "run", id: "0", data: run };
  if (error === null) {
    return {
      event: "message",
      data: { type: "TaskResult", stop_reason, usage, message_ids: [] },
    };
  }
  const { type: code, message: detail } = error;
  const problem = { type: `urn:troupe:problem:${code}`, title: code, status: 500, detail, code };
  return { event: "failed", id: "0", data: { ...problem, run_id: run.id } };
}

/** A stream with a text before it. */
function after(text: string, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  void writer
    .write(encoder.encode(text))
    .then(() => {
      writer.releaseLock();
      return body.pipeTo(writable);
    })
    .catch((error: unknown) => body.cancel(error).catch(() => undefined)); // The client left.
  return readable;
}

function oneChunk(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream();
}
