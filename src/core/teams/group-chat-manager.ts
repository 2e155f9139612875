import type { Json, JsonObject } from "../json.ts";
import type { AgentEvent, ChatMessage, Message } from "../messages/message.ts";
import type { Stop } from "../conditions/termination-condition.ts";
import type { TurnContext } from "../run/turn-context.ts";
import type { Stateful } from "../state/stateful.ts";

/** A member of a group chat as its manager sees it. */
export interface ParticipantInfo {
  name: string;
  description: string;
  producedMessageTypes: readonly string[];
}

/** Everything said so far, events included, oldest first. Read no more of it than needed. */
export interface ThreadView {
  readonly length: number;
  /** The messages from `from` up to (not including) `to`; negative numbers count from the end. */
  slice(from?: number, to?: number): Message[];
}

/** What a manager decides with. */
export interface GroupChatView {
  participants: readonly ParticipantInfo[];
  thread: ThreadView;
}

/** Messages the manager itself says with a decision: shown, appended to the thread and given to the participants. */
interface Said {
  say?: readonly ChatMessage[];
  /** Resets all participants and empties the thread first (MagenticOne when it plans). */
  resetParticipants?: boolean;
}

/**
 * What happens next. `speak`: these run, side by side if several (one named twice speaks twice, one after the other);
 * `again`: the manager changed its own state and is asked once more in a turn of its own; `stop`: the run ends.
 */
export type Decision =
  | ({ kind: "speak"; speakers: readonly string[] } & Said)
  | ({ kind: "again" } & Said)
  | ({ kind: "stop"; stop: Stop } & Said);

/** Who spoke and what came of it, in the order of selection; null for the task. */
export interface Spoken {
  name: string | null;
  messages: readonly Message[];
}

/** The part in which group chats differ (AutoGen `BaseGroupChatManager`): a small state and a choice. */
export interface GroupChatManager {
  /** Key of its state in the team's state, and the source of its messages: `RoundRobinGroupChatManager`. */
  readonly name: string;
  /** The thread keeps what is said to all, not what happens inside the agents (MagenticOne). Default false. */
  readonly sharedOnly?: boolean;
  /**
   * The task is for the manager alone ({@link observe}), which tells the participants what it thinks fit (MagenticOne):
   * it is shown, but stands in no thread and counts for no condition. Default false.
   */
  readonly keepsTask?: boolean;
  /** It ends the run itself when there were too many turns (MagenticOne, over several runs). Default false. */
  readonly countsTurns?: boolean;
  /** What it has besides its head: a model context, a model client. */
  children?(): { readonly [key: string]: Stateful };
  /**
   * Nothing may be changed here.
   * @throws TaskError when the chat cannot start with these messages, ValueError when it cannot start at all
   */
  validateTask?(messages: readonly ChatMessage[] | null, view: GroupChatView): void;
  /** Told of every task and every speaker's messages once they stand in the thread. */
  observe?(spoken: readonly Spoken[], view: GroupChatView): void;
  decide(view: GroupChatView, ctx: TurnContext): AsyncGenerator<AgentEvent, Decision, void>;
  /** Asked before the conditions are: why the chat is over by itself (GraphFlow). */
  finished?(): Stop | undefined;
  /** After every stop but its own decision, which may let a manager start over (GraphFlow). */
  onStop?(): void;
  reset(): void;
  /**
   * Its own keys of AutoGen's manager state, without `message_thread` and `current_turn`; `type` and `version`
   * included where AutoGen has them.
   */
  saveState(): JsonObject;
  /**
   * @param state its whole state
   * @param thread the messages of its `message_thread`; none when it gets its head, for lack of {@link loadHead}
   * @throws StateError when it does not fit; then nothing has changed
   */
  loadState(state: JsonObject, thread: readonly Message[]): void;
  /** What is stored between turns, where that is not what {@link saveState} gives. */
  head?(): Json;
  loadHead?(head: Json): void;
  /**
   * Whether the head of another manager of its kind, in whose place it was put, is right for it; otherwise it begins
   * anew. Default: it is.
   *
   * @param gone who was a participant and is none any more
   */
  fits?(head: Json, gone: ReadonlySet<string | null>): boolean;
}

export function managerHead(manager: GroupChatManager): Json {
  return manager.head ? manager.head() : manager.saveState();
}

export function loadManagerHead(manager: GroupChatManager, head: Json): void {
  if (manager.loadHead) manager.loadHead(head);
  else manager.loadState(head as JsonObject, []);
}
