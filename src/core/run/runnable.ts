import type { ChatMessage, Message } from "../messages/message.ts";
import type { Stateful } from "../state/stateful.ts";
import type { TurnContext } from "./turn-context.ts";

/** Whether a run goes on after a turn. */
export type Progress = Said & ({ done: false } | { done: true; stopReason: string | null });

interface Said {
  /**
   * What the speakers of the turn said, in the order that counts: what came side by side is yielded as it comes, which
   * may be another order when the turn is run again.
   */
  said?: readonly Message[];
}

/** How a run begins. */
export interface TaskInput {
  /** Null continues without a new task. Never an empty list. */
  messages: readonly ChatMessage[] | null;
  /** Whether the task's messages are yielded, too. */
  outputTaskMessages: boolean;
}

/**
 * What a host drives turn by turn, committing in between: a team, or a single agent. Each turn is a function of
 * the state after the turn before and of the steps of its context.
 */
export interface Runnable extends Stateful {
  readonly name: string;
  readonly description: string;
  /** Turn 0: checks and relays the task. @throws TaskError */
  begin(task: TaskInput, ctx: TurnContext): AsyncGenerator<Message, Progress, void>;
  /** One decision of the manager, carried out. */
  turn(ctx: TurnContext): AsyncGenerator<Message, Progress, void>;
  /** Somebody ended the run between two turns: what counts turns or messages begins anew, as at any other stop. */
  stop(): void;
  /** What was said so far, oldest first; empty where only the agent itself remembers it. */
  conversation(): readonly Message[];
  /** Back to the beginning: empties the thread, the agents' contexts and all counters. */
  reset(ctx: TurnContext): Promise<void>;
  /** Called when the run pauses and before it resumes; agents override it. */
  onPause(): Promise<void>;
  onResume(): Promise<void>;
  /** Releases what agents and tools hold (connections). */
  close(): Promise<void>;
}
