import type { Message } from "../../../core/messages/message.ts";
import type { Progress, Runnable } from "../../../core/run/runnable.ts";
import { isTurnSignal, type TurnSignal } from "../../../core/run/signals.ts";
import type { TurnHost } from "../../../core/run/turn-host.ts";
import { TurnScope } from "../../../core/run/turn-scope.ts";
import type { ActiveRun } from "../active-run.ts";
import type { Drive } from "../drive.ts";
import type { RunFeed } from "../run-feed.ts";

/**
 * Runs the turn in progress from its beginning; steps that are recorded return without running. Messages are written to
 * the log before clients get them. Returns the run's progress, the signal that ended the turn early, or undefined when
 * the drive was superseded.
 */
export async function runTurn(
  drive: Drive,
  runnable: Runnable,
  host: TurnHost,
  feed: RunFeed,
): Promise<Progress | TurnSignal | undefined> {
  const { active } = drive;
  const turn = begin(active, runnable, TurnScope.root(host));
  try {
    for (;;) {
      const next = await turn.next();
      if (drive.superseded) {
        // Lets agents and tools release what they hold; not awaited, because they may take any time.
        void turn.return({ done: true, stopReason: null }).catch(() => undefined);
        return undefined;
      }
      if (next.done) return next.value;
      const message = next.value;
      if (message.type === "ModelClientStreamingChunkEvent") {
        feed.chunk(message);
        continue;
      }
      const event = active.events.emit(message, feed.endText(message));
      // One that was recorded before a restart was sent then.
      if (event !== undefined) feed.recorded(event);
    }
  } catch (error) {
    if (isTurnSignal(error)) return error;
    throw error;
  }
}

function begin(
  { turnOfRun, task }: ActiveRun,
  runnable: Runnable,
  ctx: TurnScope,
): AsyncGenerator<Message, Progress, void> {
  if (turnOfRun > 0) return runnable.turn(ctx);
  return runnable.begin({ messages: task, outputTaskMessages: true }, ctx);
}
