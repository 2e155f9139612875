import type { Message } from "../messages/message.ts";
import type { Progress, Runnable, TaskInput } from "./runnable.ts";
import type { TaskResult } from "./task-result.ts";
import type { TurnContext } from "../turn/turn-context.ts";

/**
 * Runs a team or agent inside a turn of another one, from its task to its end: an inner team, a team as a tool. Nothing is
 * committed in between; the outer turn does that. Each inner turn has a scope of its own; a caller that does this twice
 * in one scope opens a scope per call. The order of the result is the same when the turn runs again.
 */
export async function* runInner(
  runnable: Runnable,
  task: TaskInput,
  ctx: TurnContext,
): AsyncGenerator<Message, TaskResult, void> {
  const messages: Message[] = [];
  const turned = (): void => ctx.innerTurn(runnable.name, () => runnable.visibleState?.());
  try {
    let progress = yield* collect(runnable.begin(task, ctx.scope("turn:0")), messages);
    turned();
    for (let turn = 1; !progress.done; turn++) {
      const yielded: Message[] = [];
      progress = yield* collect(runnable.turn(ctx.scope(`turn:${turn}`)), yielded);
      messages.push(...inOrder(yielded, progress.said ?? []));
      turned();
    }
    return { type: "TaskResult", messages, stop_reason: progress.stopReason };
  } catch (error) {
    // The outer turn may continue, with the failure as the result of a tool.
    runnable.stop();
    throw error;
  }
}

/** Sorts the items of `said` into their order there; all other items keep their positions. */
function inOrder(yielded: readonly Message[], said: readonly Message[]): readonly Message[] {
  const present = new Set(yielded);
  const sorted = said.filter((message) => present.has(message)).values();
  const sayings = new Set(said);
  return yielded.map((message) =>
    sayings.has(message) ? (sorted.next().value ?? message) : message,
  );
}

/** Passes on a turn's items and adds the items that belong to a result to `messages`. */
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
