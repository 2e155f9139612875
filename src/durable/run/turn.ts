import type { Message } from "../../core/messages/message.ts";
import type { Progress, Runnable } from "../../core/run/runnable.ts";
import { isTurnSignal, type TurnSignal } from "../../core/run/signals.ts";
import type { TurnHost } from "../../core/run/turn-host.ts";
import { TurnScope } from "../../core/run/turn-scope.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Stores } from "../storage/stores.ts";

export interface TurnSink {
  emit: (message: Message) => void;
  /** False once another driver took over. */
  isCurrent: () => boolean;
}

/**
 * Carries out the turn a run is in, whatever of it is recorded already. Returns how far the run has come, the signal
 * that ended the turn early, or undefined when it was superseded.
 */
export async function runTurn(
  stores: Stores,
  active: ActiveRun,
  runnable: Runnable,
  host: TurnHost,
  { emit, isCurrent }: TurnSink,
): Promise<Progress | TurnSignal | undefined> {
  const turn = begin(stores, active, runnable, TurnScope.root(host));
  try {
    for (;;) {
      const next = await turn.next();
      if (!isCurrent()) {
        // Lets agents and tools release what they hold; nobody waits for it.
        void turn.return({ done: true, stopReason: null }).catch(() => undefined);
        return undefined;
      }
      if (next.done) return next.value;
      emit(next.value);
    }
  } catch (error) {
    if (isTurnSignal(error)) return error;
    throw error;
  }
}

function begin(
  { runs }: Stores,
  { next, stored }: ActiveRun,
  runnable: Runnable,
  ctx: TurnScope,
): AsyncGenerator<Message, Progress, void> {
  if (next > 0) return runnable.turn(ctx);
  return runnable.begin({ messages: runs.task(stored.seq), outputTaskMessages: true }, ctx);
}
