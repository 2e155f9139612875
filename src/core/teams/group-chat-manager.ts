import type { Json, JsonObject } from "../json.ts";
import type { AgentEvent, ChatMessage, Message } from "../messages/message.ts";
import type { Stop } from "../conditions/termination-condition.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { Stateful } from "../state/stateful.ts";

/** A member of a group chat as its manager sees it. */
export interface ParticipantInfo {
  name: string;
  description: string;
  producedMessageTypes: readonly string[];
}

/** All messages and events so far, oldest first. Read only as many as needed. */
export interface ThreadView {
  readonly length: number;
  /** The messages from `from` up to (not including) `to`; negative numbers count from the end. */
  slice(from?: number, to?: number): Message[];
}

/** The data on which a manager decides. */
export interface GroupChatView {
  participants: readonly ParticipantInfo[];
  thread: ThreadView;
}

/** Messages of the manager itself: shown, appended to the thread and given to the participants. */
export interface ManagerMessages {
  say?: readonly ChatMessage[];
  /** Resets all participants and empties the thread first (MagenticOne when it plans). */
  resetParticipants?: boolean;
}

/**
 * The manager's decision about a turn. `speak`: the speakers run, several of them side by side (one that is named twice
 * speaks twice, one after the other); `again`: the manager changed its state and decides again in the next turn; `stop`:
 * the run ends.
 */
export type Decision =
  | ({ kind: "speak"; speakers: readonly string[] } & ManagerMessages)
  | ({ kind: "again" } & ManagerMessages)
  | ({
      kind: "stop";
      stop: Stop;
      /** True at a limit: no turn follows, also where a message waits to be read. */
      atLimit?: boolean;
    } & ManagerMessages);

/** The messages of one speaker, or of the task (`name` is null). In lists: in the order of selection. */
export interface Spoken {
  name: string | null;
  messages: readonly Message[];
  /** For a task: how many of its messages an outer team had before its own run. Default: none. */
  earlier?: number;
}

/** Decides what happens in each turn of a group chat (AutoGen `BaseGroupChatManager`). */
export interface GroupChatManager {
  /** The key of its state in the team's state and the source of its messages: `RoundRobinGroupChatManager`. */
  readonly name: string;
  /**
   * The manager directs the participants itself, as MagenticOne's does. Default false. Then only {@link observe} gets
   * the task, which is shown but is not in the thread and counts for no condition; the thread has no inner events of
   * agents; and the manager ends the run when there were too many turns.
   */
  readonly orchestrates?: boolean;
  /** State besides its head: a model context, a model client. */
  children?(): { readonly [key: string]: Stateful };
  /**
   * Must not change anything.
   * @param earlier how many of the messages an outer team had before its own run
   * @throws TaskError when the chat cannot start with these messages
   */
  validateTask?(
    messages: readonly ChatMessage[] | null,
    view: GroupChatView,
    earlier: number,
  ): void;
  /** Called with every task and with every speaker's messages, after they were added to the thread. */
  observe?(spoken: readonly Spoken[], view: GroupChatView): void;
  /** Called with messages that people have sent into the run, after they were added to the thread. */
  heard?(messages: readonly ChatMessage[]): void;
  /**
   * May throw the error of a model call that a message has cut. Then it is called again, and must have changed nothing that
   * matters to that.
   */
  decide(view: GroupChatView, ctx: TurnContext): AsyncGenerator<AgentEvent, Decision, void>;
  /**
   * The run would end here, and continues because a message waits to be read.
   *
   * @param last the speakers of the turn that would be the last one
   * @returns the speakers of the next turn; undefined if the manager decides it as any other
   */
  goOn?(last: readonly string[]): readonly string[] | undefined;
  /**
   * The speakers of the turn that would follow if the run did not end; undefined if any participant may speak then. Changes
   * nothing.
   *
   * @param last the speakers of the turn that would be the last one
   */
  nextSpeakers?(last: readonly string[]): readonly string[] | undefined;
  /** Called before the conditions are checked: the stop reason when the chat has run to its end (GraphFlow). */
  finished?(): Stop | undefined;
  /** Called after every stop that the manager did not decide (GraphFlow starts over). */
  onStop?(): void;
  reset(): void;
  /** The part of its state that the team shows to people while it runs, as small JSON. Default: nothing. */
  visibleState?(): JsonObject;
  /**
   * Its own keys of AutoGen's manager state, without `message_thread` and `current_turn`; `type` and `version`
   * included where AutoGen has them.
   */
  saveState(): JsonObject;
  /**
   * @param state its whole state
   * @param thread the messages of its `message_thread`; empty when a manager without {@link loadHead} gets its head
   * @throws StateError when it does not fit; then nothing has changed
   */
  loadState(state: JsonObject, thread: readonly Message[]): void;
  /** The state stored between turns. Default: {@link saveState}. */
  head?(): Json;
  loadHead?(head: Json): void;
  /**
   * True if the head of a manager of the same class that this one replaces fits; otherwise it starts fresh. Default: it
   * fits.
   *
   * @param gone the participants that were removed
   */
  fits?(head: Json, gone: ReadonlySet<string | null>): boolean;
}
