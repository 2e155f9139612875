import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { OpenedStream, TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { Message } from "../../../../core/messages/message.ts";
import { wait } from "../../../../core/wait.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";

/** Between two connections to a team, whose streams end when it is moved. */
const PAUSE_MS = 500;

/** The cost of an event, and of what the client gets of it, in milliseconds of a Worker's CPU, with a margin. */
const CPU_MS_PER_EVENT = 0.2;
/** So that a client that comes back gets on, however little time a request has. */
const FEWEST_EVENTS = 10;

/** The CPU time of one request, for all that it follows. */
export class CpuBudget {
  readonly #over = new AbortController();
  /** Aborted when the time is used. */
  readonly signal = this.#over.signal;
  #events: number;

  constructor(cpuMs: number) {
    this.#events = Math.max(FEWEST_EVENTS, Math.floor(cpuMs / CPU_MS_PER_EVENT));
  }

  /** Counts an event, or a piece of a stream without one. */
  spend(): void {
    this.#events--;
    if (this.#events === 0) this.#over.abort();
  }
}

export interface Follower {
  /** Aborts when the run has been followed for long enough. */
  signal: AbortSignal;
  /** That of the request. */
  budget: CpuBudget;
  /** Gets each message, event and piece of text, with the cursor of what was recorded last. */
  onItem: (item: Message, cursor: number) => Promise<void>;
  /** Gets the run as it is and whenever it changes. @returns whether to keep following it */
  onRun: (run: RunInfo) => Promise<boolean>;
}

/**
 * Follows a run until it ends, its follower has seen enough, or the request has used its CPU time.
 *
 * @param opened its stream, if it is open already
 * @param after the cursor of what the follower has
 * @throws ProblemError when the team cannot be reached or there is no such run
 */
export async function followRun(
  team: TeamGateway,
  run: string,
  { signal, budget, onItem, onRun }: Follower,
  opened?: OpenedStream,
  after = 0,
): Promise<void> {
  let stream = opened;
  let cursor = after;
  while (!signal.aborted && !budget.signal.aborted) {
    stream ??= unwrap(await team.stream({ run, after: cursor }));
    if ("done" in stream) return;
    for await (const { id, event, data } of eventsOf(stream.body, { signal, budget })) {
      if (id !== undefined) cursor = Number(id);
      if (event === "failed") return;
      if (event === "run") {
        const info = JSON.parse(data) as RunInfo;
        // Messages come after the first of these, also of an ended run; nothing follows the last one of a cancelled run.
        if (!(await onRun(info)) || info.status === "cancelled") return;
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

/** The events of a stream until it ends, breaks off, the signal aborts, or the request has used its CPU time. */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  { signal: left, budget }: Pick<Follower, "signal" | "budget">,
): AsyncGenerator<EventSourceMessage, void, void> {
  const signal = AbortSignal.any([left, budget.signal]);
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
      if (events.length === 0) budget.spend();
      for (const event of events.splice(0)) {
        budget.spend();
        yield event;
      }
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
