import type { Message } from "../messages/message.ts";
import type { Progress, Runnable, TaskInput } from "./runnable.ts";
import type { TaskResult } from "./task-result.ts";
import type { TurnContext } from "./turn-context.ts";

/**
 * Runs a team or agent inside somebody else's turn, from its task to its end: an inner team, a team as a tool.
 * Nothing is committed in between, the outer turn does that. Each inner turn has a scope of its own; whoever calls
 * this twice in one scope opens a scope per call. The result's order is the same whenever the turn is run again.
 */
export async function* runInner(
  runnable: Runnable,
  task: TaskInput,
  ctx: TurnContext,
): AsyncGenerator<Message, TaskResult, void> {
  const messages: Message[] = [];
  let progress = yield* collect(runnable.begin(task, ctx.scope("turn:0")), messages);
  for (let turn = 1; !progress.done; turn++) {
    const yielded: Message[] = [];
    progress = yield* collect(runnable.turn(ctx.scope(`turn:${turn}`)), yielded);
    messages.push(...inOrder(yielded, progress.said ?? []));
  }
  return { type: "TaskResult", messages, stop_reason: progress.stopReason };
}

/** What stands in `said` comes in the order it has there; everything else stays where it is. */
function inOrder(yielded: readonly Message[], said: readonly Message[]): readonly Message[] {
  const present = new Set(yielded);
  const sorted = said.filter((message) => present.has(message)).values();
  const sayings = new Set(said);
  return yielded.map((message) =>
    sayings.has(message) ? (sorted.next().value ?? message) : message,
  );
}

/** Passes a turn's items on and adds to `messages` what belongs into a result. */
export async function* collect(
  turn: AsyncGenerator<Message, Progress, void>,
  messages: Message[],
): AsyncGenerator<Message, Progress, void> {
  for (;;) {
    const next = await turn.next();
    if (next.done) return next.value;
    if (next.value.type !== "ModelClientStreamingChunkEvent") messages.push(next.value);
    yield next.value;
  }
}
