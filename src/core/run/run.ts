import { type ChatAgent, isAgent } from "../agents/chat-agent.ts";
import { TroupeError } from "../errors.ts";
import { loadTask } from "../messages/load-task.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import { StateTree } from "../state/state-tree.ts";
import { asRunnable, responseOnly } from "./agent-runnable.ts";
import { collect } from "./inner-run.ts";
import { MemoryHost, type MemoryHostOptions } from "./memory-host.ts";
import type { Progress, Runnable } from "./runnable.ts";
import type { TaskResult } from "./task-result.ts";
import { TurnScope } from "./turn-scope.ts";

/** A chat message as a caller writes it: id, time and other common fields are optional. */
export type TaskMessage = Partial<ChatMessage> & { type: string; source: string };

/** The task of a run: a text (from `user`), one or several messages, or null to continue without a new task. */
export type Task = string | TaskMessage | readonly TaskMessage[] | null;

export interface RunOptions extends MemoryHostOptions {
  /** Default null: the team continues where it stopped, an agent is called without new messages. */
  task?: Task;
  /** Whether the task's messages are part of the stream and the result. Default true. */
  outputTaskMessages?: boolean;
}

/** Teams and agents with a run under way. */
const BUSY = new WeakSet<object>();

/**
 * Runs a team or a single agent in memory and yields messages and events, last the result (AutoGen `run_stream`). A run
 * that fails, is cancelled or abandoned by its consumer leaves the team usable, at its last finished turn. After a
 * cancelled or abandoned one, conditions and turns count from the beginning.
 *
 * @throws TaskError when the task is not acceptable
 * @throws TroupeError `already_running`
 * @throws the reason of `signal` (an `AbortError`) when the run is cancelled
 *
 * @example
 * for await (const item of runStream(team, { task: "Write a haiku." })) {
 *   if (item.type === "TaskResult") console.log(item.stop_reason);
 * }
 */
export function runStream(
  subject: Runnable | ChatAgent,
  options: RunOptions = {},
): AsyncGenerator<Message | TaskResult, void, void> {
  return play(subject, asRunnable(subject), options);
}

async function* play(
  subject: Runnable | ChatAgent,
  runnable: Runnable,
  options: RunOptions,
): AsyncGenerator<Message | TaskResult, void, void> {
  occupy(subject);
  try {
    const state = new StateTree(runnable);
    const messages: Message[] = [];
    let [finished, failed] = [false, false];
    try {
      let progress: Progress = { done: false };
      const host = new MemoryHost(options);
      for (let number = 0; !progress.done; number++) {
        options.signal?.throwIfAborted();
        const ctx = TurnScope.root(host.turn(number));
        const turn = number === 0 ? begin(runnable, options, ctx) : runnable.turn(ctx);
        progress = yield* collect(turn, messages);
        if (!progress.done) state.mark();
      }
      finished = true;
      yield { type: "TaskResult", messages, stop_reason: progress.stopReason };
    } catch (error) {
      if (!finished) options.signal?.throwIfAborted();
      failed = true;
      throw error;
    } finally {
      if (!finished) state.rollback();
      // A cancelled or abandoned run has ended; after a failed one, a run without a task continues it.
      if (!finished && !failed) runnable.stop();
    }
  } finally {
    BUSY.delete(subject);
  }
}

/**
 * Runs a team or a single agent in memory to its end (AutoGen `run`). The result of a single agent has the items of its
 * response, not everything it streamed. Throws as {@link runStream} does.
 */
export async function run(
  subject: Runnable | ChatAgent,
  options: RunOptions = {},
): Promise<TaskResult> {
  const runnable = asRunnable(subject, responseOnly);
  for await (const item of play(subject, runnable, options)) {
    if (item.type === "TaskResult") return item;
  }
  throw new TroupeError("internal", "a run ended without a result");
}

/**
 * Empties the thread, the agents' contexts and all counters (AutoGen `reset`, `on_reset`).
 *
 * @throws TroupeError `already_running`
 */
export async function reset(subject: Runnable | ChatAgent): Promise<void> {
  occupy(subject);
  try {
    const ctx = TurnScope.root(new MemoryHost({}).turn(0));
    await (isAgent(subject) ? subject.onReset(ctx) : subject.reset(ctx));
  } finally {
    BUSY.delete(subject);
  }
}

function begin(
  runnable: Runnable,
  { task = null, outputTaskMessages = true }: RunOptions,
  ctx: TurnScope,
): AsyncGenerator<Message, Progress, void> {
  return runnable.begin({ messages: loadTask(task, ctx), outputTaskMessages }, ctx);
}

function occupy(subject: Runnable | ChatAgent): void {
  if (BUSY.has(subject)) {
    throw new TroupeError(
      "already_running",
      `"${subject.name}" is running already; wait for the end of that run, or cancel it`,
    );
  }
  BUSY.add(subject);
}
