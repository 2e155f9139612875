import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { wait } from "../../core/wait.ts";
import { PieceRedaction } from "../../outgoing/dependencies.ts";
import { A2AError } from "./a2a-error.ts";
import type { RemoteInterface } from "./agent-card.ts";
import type { RemoteAgent } from "./connection.ts";
import { abandonTask, type LeftTask } from "./left-task.ts";
import { isAtRest, readTask, type RemoteTask, stateIn } from "./remote-task.ts";
import { RemoteText } from "./remote-text.ts";

/** Milliseconds between two requests for a task without a subscription: at first, and at most. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface FollowedTask {
  agent: RemoteAgent;
  at: RemoteInterface;
  id: string;
  /** The task, where the run no longer needs it. */
  work: LeftTask;
  /** Milliseconds. */
  timeoutMs: number;
}

/**
 * Follows a task until it ends or asks a question, and yields new texts. If the run is cancelled or the time
 * limit is reached, the remote task is cancelled.
 *
 * @throws A2AError
 */
export async function* followTask(
  followed: FollowedTask,
  { signal, flush, abandon }: Pick<StepAttempt, "signal" | "flush" | "abandon">,
): AsyncGenerator<string, RemoteTask, void> {
  const { agent, at, id, work, timeoutMs } = followed;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const sent = { signal: AbortSignal.any([signal, late.signal]) };
  const text = new RemoteText();
  const shown = new PieceRedaction(agent.secretForms);
  let { streaming } = at;
  let pause = FIRST_PAUSE_MS;
  try {
    for (;;) {
      if (streaming) {
        try {
          for await (const response of agent.stream(at, "SubscribeToTask", { id }, sent)) {
            const piece = shown.add(text.take(response));
            if (piece !== "") yield piece;
            flush?.();
            // Some agents leave the stream open while their task waits.
            if (isAtRest(stateIn(response))) break;
          }
        } catch (error) {
          // The task may have ended, and a lost connection may be back: the task itself has the current state.
          if (!(error instanceof A2AError)) throw error;
          streaming = error.retryable;
        }
      }
      const task = readTask(await agent.call(at, "GetTask", { id }, sent));
      if (isAtRest(task.state)) {
        const rest = shown.end();
        if (rest !== "") yield rest;
        return task;
      }
      const piece = shown.add(text.takeAll(task.artifacts));
      if (piece !== "") yield piece;
      flush?.();
      await wait(pause, sent.signal);
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  } catch (error) {
    if (signal.aborted || late.signal.aborted) await abandonTask(agent, work, { abandon });
    if (!late.signal.aborted || signal.aborted) throw error;
    throw new A2AError(
      "a2a_timeout",
      `The remote agent's task took longer than ${timeoutMs / 1000} seconds, and was cancelled.`,
    );
  } finally {
    clearTimeout(timer);
  }
}
