import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { OpenedStream, TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { Message } from "../../../../core/messages/message.ts";
import { wait } from "../../../../core/wait.ts";
import { unwrap } from "../../../http/problem.ts";

/** Between two connections to a team, whose streams end when it is moved or the Worker has used its CPU time. */
const PAUSE_MS = 500;

export interface Follower {
  /** Aborts when the run has been followed for long enough. */
  signal: AbortSignal;
  /** Gets each message, event and piece of text, with the cursor of what was recorded last. */
  onItem: (item: Message, cursor: number) => Promise<void>;
  /** Gets the run as it is and whenever it changes. @returns whether to keep following it */
  onRun: (run: RunInfo) => Promise<boolean>;
}

/**
 * Follows a run until it ends, or its follower has seen enough.
 *
 * @param opened its stream, if it is open already
 * @param after the cursor of what the follower has
 * @throws ProblemError when the team cannot be reached or there is no such run
 */
export async function followRun(
  team: TeamGateway,
  run: string,
  { signal, onItem, onRun }: Follower,
  opened?: OpenedStream,
  after = 0,
): Promise<void> {
  let stream = opened;
  let cursor = after;
  while (!signal.aborted) {
    stream ??= unwrap(await team.stream({ run, after: cursor }));
    if ("done" in stream) return;
    for await (const { id, event, data } of eventsOf(stream.body, signal)) {
      if (id !== undefined) cursor = Number(id);
      if (event === "failed") return;
      if (event === "run") {
        const info = JSON.parse(data) as RunInfo;
        if (!(await onRun(info)) || info.ended_at !== null) return;
      } else if (event === undefined) {
        const item = JSON.parse(data) as Message | { type: "TaskResult" };
        if (item.type === "TaskResult") return;
        await onItem(item, cursor);
      }
    }
    stream = undefined;
    await wait(PAUSE_MS, signal).catch(() => undefined); // Aborted: the loop ends.
  }
}

/** The events of a stream until it ends, breaks off, or the signal aborts. */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage, void, void> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined); // It is broken already.
  signal.addEventListener("abort", cancel);
  try {
    while (!signal.aborted) {
      // A team that is moved closes its streams; its run continues.
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
