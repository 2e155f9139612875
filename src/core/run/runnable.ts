import type { JsonObject } from "../json.ts";
import type { TextMessage } from "../messages/chat-messages.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import type { Stateful } from "../state/stateful.ts";
import type { TurnContext } from "../turn/turn-context.ts";

/** The result of a turn: whether the run continues. */
export type Progress = TurnMessages & ({ done: false } | { done: true; stopReason: string | null });

export interface TurnMessages {
  /**
   * The messages of the turn's speakers in the order of selection. Parallel speakers are yielded as their messages
   * arrive, and that order may change when the turn runs again.
   */
  said?: readonly Message[];
}

/** The start of a run. */
export interface TaskInput {
  /** Null continues without a new task. Never an empty list. */
  messages: readonly ChatMessage[] | null;
  /** True if the task's messages are yielded as well. */
  outputTaskMessages: boolean;
  /** The number of messages that an outer team had before its own run. Default: none. */
  earlier?: number;
}

/** An agent or a team inside a team. */
export interface Member {
  readonly name: string;
  /** Undefined for an agent without a team of its own. */
  readonly members?: readonly Member[];
}

/**
 * A team or a single agent that a host runs turn by turn, with a commit after each. A turn is a function of the state
 * after the previous turn and of the steps of its context.
 */
export interface Runnable extends Stateful {
  readonly name: string;
  readonly description: string;
  /** Turn 0: checks and relays the task. @throws TaskError */
  begin(task: TaskInput, ctx: TurnContext): AsyncGenerator<Message, Progress, void>;
  /** Carries out one decision of the manager. */
  turn(ctx: TurnContext): AsyncGenerator<Message, Progress, void>;
  /** Its agents and teams: who can get a message of their own. Left out by a single agent. */
  readonly members?: readonly Member[];
  /** Gets messages that people have sent into a run that ends before its next turn: the next run reads them first. */
  hear?(messages: readonly TextMessage[]): void;
  /** The run was stopped between two turns: conditions and counters start over, as at any other stop. */
  stop(): void;
  /** The conversation so far, oldest first; empty when only the agent itself stores it. */
  conversation(): readonly Message[];
  /**
   * The part of its state that people see while it runs, as small JSON: `task_ledger` and `progress_ledger` of a
   * MagenticOne, `graph` of a GraphFlow. By default nothing.
   */
  visibleState?(): JsonObject | undefined;
  /** Empties the thread, the agents' contexts and all counters. */
  reset(ctx: TurnContext): Promise<void>;
  /** Called when the run pauses and before it resumes; agents override it. */
  onPause(): Promise<void>;
  onResume(): Promise<void>;
  /** Releases connections of agents and tools. */
  close(): Promise<void>;
}
