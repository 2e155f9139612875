import type { ItemLog } from "../state/item-log.ts";
import type { Json, JsonObject } from "../json.ts";
import type { AgentEvent, ChatMessage, Message } from "../messages/message.ts";
import type { Stop } from "../conditions/termination-condition.ts";
import type { TurnContext } from "../run/turn-context.ts";

/** A member of a group chat as its manager sees it. */
export interface ParticipantInfo {
  name: string;
  description: string;
  producedMessageTypes: readonly string[];
}

/** What a manager decides with. */
export interface GroupChatView {
  participants: readonly ParticipantInfo[];
  /** Everything said so far, events included, oldest first. Read no more of it than needed. */
  thread: ItemLog<Message>;
}

/** Messages the manager itself says with a decision: shown, appended to the thread and given to the participants. */
interface Said {
  say?: readonly ChatMessage[];
  /** Resets all participants first (MagenticOne after a stall). */
  resetParticipants?: boolean;
}

/**
 * What happens next. `speak`: these run, side by side if several; `again`: the manager changed its own state and is
 * asked once more in a turn of its own; `stop`: the run ends.
 */
export type Decision =
  | ({ kind: "speak"; speakers: readonly string[] } & Said)
  | ({ kind: "again" } & Said)
  | ({ kind: "stop"; stop: Stop } & Said);

/** Who spoke and what came of it, in the order of selection. */
export interface Spoken {
  name: string;
  messages: readonly Message[];
}

/** The part in which group chats differ (AutoGen `BaseGroupChatManager`): a small state and a choice. */
export interface GroupChatManager {
  /** Key of its state in the team's state, and the source of its messages: `RoundRobinGroupChatManager`. */
  readonly name: string;
  /** @throws TaskError when the chat cannot start with these messages. Nothing may be changed here. */
  validateTask(messages: readonly ChatMessage[] | null, view: GroupChatView): void;
  /** Told of every task (null source) and every speaker's messages once they stand in the thread. */
  observe(spoken: { name: string | null; messages: readonly Message[] }[], view: GroupChatView): void;
  decide(view: GroupChatView, ctx: TurnContext): AsyncGenerator<AgentEvent, Decision, void>;
  /** After a stop by condition or turn limit, which may let a manager start over (GraphFlow). */
  onStop(): void;
  reset(): void;
  /** Its own keys of AutoGen's manager state, without `message_thread` and `current_turn`; `type` included. */
  saveState(): JsonObject;
  /** @throws StateError */
  loadState(state: JsonObject): void;
  /** What is stored between turns. */
  head(): Json;
  loadHead(head: Json): void;
}
