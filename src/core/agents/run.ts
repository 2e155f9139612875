import * as z from "zod";
import { type ChatAgent, isAgent } from "./chat-agent.ts";
import { shortForm, TaskError, TroupeError, ValueError } from "../errors.ts";
import { isJsonObject } from "../json.ts";
import { loadTask } from "../messages/load-task.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import {
  aBoolean,
  aFunction,
  aList,
  aText,
  anything,
  checkArgument,
  checkOptions,
  hasMethods,
  objectWith,
  type OptionsSchema,
  valueThat,
} from "../options/options.ts";
import { StateTree } from "../state/state-tree.ts";
import { asRunnable, responseOnly } from "./agent-runnable.ts";
import { collect } from "../run/inner-run.ts";
import { InMemoryHost, type MemoryHostOptions } from "../run/in-memory-host.ts";
import { announceEnd, observersOf, sharedPartsOf } from "../run/run-observer.ts";
import type { Progress, Runnable } from "../run/runnable.ts";
import { type OutputOf, RunResult, type StructuredOutput } from "../run/task-result.ts";
import { pathTo } from "../run/recipient.ts";
import { steeringMessage } from "../turn/steering.ts";
import { TurnScope } from "../turn/turn-scope.ts";

/** A chat message as a caller writes it: id, time and other common fields are optional. */
export type TaskMessage = Partial<ChatMessage> & { type: string; source: string };

/** The task of a run: a text (from `user`), one or several messages, or null to continue without a new task. */
export type Task = string | TaskMessage | readonly TaskMessage[] | null;

export interface RunOptions extends MemoryHostOptions {
  /** Default null: the team continues where it stopped, an agent is called without new messages. */
  task?: Task | undefined;
  /** True if the task's messages are part of the stream and the result. Default true. */
  outputTaskMessages?: boolean | undefined;
}

const optionsSchema: OptionsSchema<RunOptions> = z.object({
  /** Checked as messages, with errors that name their fields. */
  task: anything,
  outputTaskMessages: aBoolean.optional(),
  signal: objectWith("an AbortSignal", "addEventListener").optional(),
  answer: aFunction.optional(),
  clientTools: aList.optional(),
  env: objectWith("an object with bindings").optional(),
  user: aText.optional(),
  team: aText.optional(),
  tenant: aText.optional(),
  subject: aText.optional(),
  metadata: objectWith("an object of JSON").optional(),
  watcher: objectWith("a watcher of runs", "turn", "step", "spent").optional(),
});

/** An active run in memory. */
interface Running {
  host: InMemoryHost;
  runnable: Runnable;
  /** Calls of the agents' hooks, one after the other. */
  hooks: Promise<void>;
}

/** Teams and agents in use, with their active run; null while they are reset. */
const IN_USE = new WeakMap<object, Running | null>();

/**
 * Runs a team or a single agent in memory and yields messages and events, last the result (AutoGen `run_stream`). A run
 * that fails, is cancelled or abandoned by its consumer leaves the team usable, at its last finished turn. After a
 * cancelled or abandoned run, conditions and turns count from the beginning.
 *
 * @param options a text is the task
 * @throws ValueError for an unknown option
 * @throws TaskError when the task is not acceptable
 * @throws TroupeError `already_running`
 * @throws RunError when a turn fails: it names the agent, the turn and the step, and its `cause` is what was thrown
 * @throws the reason of `signal` (an `AbortError`) when the run is cancelled
 *
 * @example
 * for await (const item of runStream(team, "Write a haiku.")) {
 *   if (item.type === "TaskResult") console.log(item.stop_reason);
 * }
 */
export function runStream<Subject extends Runnable | ChatAgent>(
  subject: Subject,
  options: string | RunOptions = {},
): AsyncGenerator<Message | RunResult<OutputOf<Subject>>, void, void> {
  checkSubject(subject);
  expectNoMore(arguments, 2);
  return play(subject, asRunnable(subject), runOptions(options));
}

async function* play<Subject extends Runnable | ChatAgent>(
  subject: Subject,
  runnable: Runnable,
  options: RunOptions,
): AsyncGenerator<Message | RunResult<OutputOf<Subject>>, void, void> {
  const host = new InMemoryHost(options, subject);
  occupy(subject, { host, runnable, hooks: Promise.resolve() });
  try {
    const state = new StateTree(runnable);
    const observers = observersOf(runnable);
    const { shared, board } = sharedPartsOf(runnable);
    for (const observer of observers.values()) observer.runBegins();
    const messages: Message[] = [];
    let [finished, failed] = [false, false];
    let number = 0;
    try {
      let progress: Progress = { done: false };
      for (; !progress.done; number++) {
        options.signal?.throwIfAborted();
        await host.ready();
        const ctx = TurnScope.root(host.turn(number));
        shared?.beginTurn();
        board?.beginTurn();
        const turn = number === 0 ? begin(runnable, options, ctx, host) : runnable.turn(ctx);
        progress = yield* withSteering(collect(turn, messages), host, messages);
        if (progress.done) {
          // In memory nothing comes after a run.
          for (const { note } of await announceEnd(observers, ctx)) ctx.note(note);
        } else {
          state.mark();
        }
        host.commit();
      }
      finished = true;
      const structured = isAgent(subject) ? subject.structuredOutput : undefined;
      yield new RunResult(
        { messages, stop_reason: progress.stopReason },
        host.notes,
        structured as StructuredOutput<OutputOf<Subject>> | undefined,
      );
    } catch (error) {
      if (!finished) options.signal?.throwIfAborted();
      failed = true;
      throw finished || error instanceof TaskError ? error : host.runError(error, number);
    } finally {
      if (!finished) state.rollback();
      // A cancelled or abandoned run has ended; after a failed one, a run without a task continues it.
      if (!finished && !failed) runnable.stop();
    }
  } finally {
    // A run that ends while it is paused must not leave an agent waiting for the end of the pause.
    if (host.paused) {
      host.resume();
      await runnable.onResume();
    }
    IN_USE.delete(subject);
  }
}

/**
 * Runs a team or a single agent in memory to its end (AutoGen `run`). The result of a single agent has the items of its
 * response, not everything it streamed. Throws as {@link runStream} does.
 *
 * @param options a text is the task
 *
 * @example
 * const result = await run(agent, "Write a haiku.");
 * console.log(result.text);
 */
export async function run<Subject extends Runnable | ChatAgent>(
  subject: Subject,
  options: string | RunOptions = {},
): Promise<RunResult<OutputOf<Subject>>> {
  checkSubject(subject);
  expectNoMore(arguments, 2);
  const runnable = asRunnable(subject, responseOnly);
  for await (const item of play(subject, runnable, runOptions(options))) {
    if (item instanceof RunResult) return item;
  }
  throw new TroupeError("internal", "a run ended without a result");
}

/**
 * Pauses the active run in memory (AutoGen `pause`): steps in progress finish and no new step begins, until
 * {@link resume}. Calls `onPause` of every agent once, and resolves when they are done. Time limits do not count the pause. A
 * run that is already paused stays paused.
 *
 * @throws TroupeError `not_running`
 */
export async function pause(subject: Runnable | ChatAgent): Promise<void> {
  const running = underWay(subject);
  if (running.host.paused) return running.hooks;
  running.host.pause();
  await callHooks(running, () => running.runnable.onPause());
}

/**
 * Resumes the run of a team or agent after {@link pause} (AutoGen `resume`): calls `onResume` of every agent once, then the run
 * continues. Does nothing for a run that is not paused.
 *
 * @throws TroupeError `not_running`
 */
export async function resume(subject: Runnable | ChatAgent): Promise<void> {
  const running = underWay(subject);
  if (!running.host.paused) return;
  await callHooks(running, async () => {
    if (!running.host.paused) return;
    await running.runnable.onResume();
    running.host.resume();
  });
}

/**
 * Sends a message into the active run in memory: its agents read it at their next step, and the run does not end before.
 *
 * @param options `to`: only this agent gets it, by its name or, in a team inside the team, its path: `outer/inner`
 * @returns the id of the message in the run's stream
 * @throws TroupeError `not_running`
 * @throws ValueError for an unknown agent, and for a name that several have
 */
export function steer(
  subject: Runnable | ChatAgent,
  content: string,
  options: { to?: string | undefined } = {},
): string {
  const { host, runnable } = underWay(subject);
  const { to } = checkOptions(steerSchema, options, "steer");
  const path = to === undefined ? undefined : pathTo(runnable, to);
  const message = steeringMessage(checkArgument(aText, content, "steer", "content"), path);
  host.steering.send(message);
  return message.id;
}

const steerSchema: OptionsSchema<{ to?: string | undefined }> = z.object({
  to: aText.optional(),
});

/** Adds what is sent into the run to the items of a turn. */
async function* withSteering(
  turn: AsyncGenerator<Message, Progress, void>,
  { steering }: InMemoryHost,
  messages: Message[],
): AsyncGenerator<Message, Progress, void> {
  for (;;) {
    const next = await turn.next();
    for (const message of steering.takeUnshown()) {
      // Before the item that came after it.
      if (next.done || next.value.type === "ModelClientStreamingChunkEvent") messages.push(message);
      else messages.splice(-1, 0, message);
      yield message;
    }
    if (next.done) return next.value;
    yield next.value;
  }
}

/** Calls hooks after the earlier ones, whether those succeeded or failed. */
async function callHooks(running: Running, hooks: () => Promise<void>): Promise<void> {
  const called = running.hooks.then(hooks);
  running.hooks = called.catch(() => {});
  await called;
}

function underWay(subject: Runnable | ChatAgent): Running {
  const running = IN_USE.get(subject);
  if (running != null) return running;
  throw new TroupeError(
    "not_running",
    `"${subject.name}" has no run under way that could be paused or resumed`,
  );
}

/**
 * Empties the thread, the agents' contexts and all counters (AutoGen `reset`, `on_reset`).
 *
 * @throws TroupeError `already_running`
 */
export async function reset(subject: Runnable | ChatAgent): Promise<void> {
  occupy(subject, null);
  try {
    const ctx = TurnScope.root(new InMemoryHost({}).turn(0));
    await (isAgent(subject) ? subject.onReset(ctx) : subject.reset(ctx));
  } finally {
    IN_USE.delete(subject);
  }
}

const aSubject = valueThat(
  "an agent or a team",
  (value) => hasMethods(value, ["onMessagesStream"]) || hasMethods(value, ["begin", "turn"]),
);

function checkSubject(subject: Runnable | ChatAgent): void {
  checkArgument(aSubject, subject, "run", "agent or team");
}

/**
 * Refuses what would have no effect: in plain JavaScript nothing else does.
 *
 * @param given the arguments of the function or method that was called
 * @throws ValueError when there are more than it has
 */
export function expectNoMore(given: IArguments, count: number): void {
  const more: unknown = given[count];
  if (more === undefined) return;
  throw new ValueError(
    `Options of a run are in one object with its task, as in { task: "...", signal }, not in an argument after it: ${shortForm(more)}`,
  );
}

function runOptions(options: string | RunOptions): RunOptions {
  if (typeof options === "string") return { task: options };
  if (Array.isArray(options) || (isJsonObject(options) && "type" in options)) {
    throw new ValueError("Messages are the task of a run as an option: { task: message }");
  }
  return checkOptions(optionsSchema, options, "run");
}

function begin(
  runnable: Runnable,
  { task = null, outputTaskMessages = true }: RunOptions,
  ctx: TurnScope,
  host: InMemoryHost,
): AsyncGenerator<Message, Progress, void> {
  host.task = loadTask(task, ctx);
  return runnable.begin({ messages: host.task, outputTaskMessages }, ctx);
}

function occupy(subject: Runnable | ChatAgent, running: Running | null): void {
  if (IN_USE.has(subject)) {
    throw new TroupeError(
      "already_running",
      `"${subject.name}" is running already; wait for the end of that run, or cancel it`,
    );
  }
  IN_USE.set(subject, running);
}
