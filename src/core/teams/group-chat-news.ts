import type { TextMessage } from "../messages/chat-messages.ts";
import type { Message } from "../messages/message.ts";
import { recipientOf } from "../turn/steering.ts";
import type { SteeringOptions, TurnContext } from "../turn/turn-context.ts";
import type { GroupChatManager } from "./group-chat-manager.ts";
import type { GroupChatParts } from "./group-chat-parts.ts";
import type { ThreadItem } from "./thread.ts";

/** The messages that people have sent into the run since the team's last boundary. */
export interface News {
  /** Those that a speaker has read in the middle of its turn: they come before what was said then. */
  early: readonly ThreadItem[];
  late: readonly ThreadItem[];
}

/** Reads what was sent into the run. It is not in the thread yet. @param key unique in the turn */
export function readNews(ctx: TurnContext, key: string, options?: SteeringOptions): News {
  const items = ctx.steering(key, options).map((message) => itemOf(message, ctx));
  if (items.length === 0) return NO_NEWS;
  return {
    early: items.filter(({ heard }) => heard !== undefined),
    late: items.filter(({ heard }) => heard === undefined),
  };
}

export const NO_NEWS: News = { early: [], late: [] };

function itemOf(message: TextMessage, ctx: TurnContext): ThreadItem {
  const heard = [...ctx.readersOf(message.id)];
  return { message, shared: true, by: null, ...(heard.length > 0 && { heard }) };
}

/** Adds what was sent into the run to the thread, in a turn without a speaker. */
export function addNews({ thread, manager }: GroupChatParts, { early, late }: News): void {
  const items = [...early, ...late];
  if (items.length === 0) return;
  thread.add(items);
  tellManager(manager, items);
}

export function tellManager(manager: GroupChatManager, items: readonly ThreadItem[]): void {
  if (items.length > 0) manager.heard?.(items.map(({ message }) => message as TextMessage));
}

export function messagesOf(items: readonly ThreadItem[]): Message[] {
  return items.map(({ message }) => message);
}

/**
 * Decides whether the run continues although it would end, because a message waits to be read.
 *
 * @param news what was added to the thread at the end of this turn
 * @param turns how many turns the check of the conditions would have counted
 * @param last the speakers of this turn
 */
export function goesOn(
  parts: GroupChatParts,
  news: News,
  turns: 0 | 1,
  last: readonly string[],
): boolean {
  const { thread, manager, termination } = parts;
  const [addressed] = thread.addressed();
  if (!isUnread(parts, news, last) || !termination.goOn(turns)) return false;
  const decided = manager.goOn?.(last);
  parts.next = addressed === undefined ? decided : [addressed.name];
  return true;
}

/**
 * True if a message waits to be read: one with a recipient until the recipient's turn has begun, one to everybody until a turn has
 * begun after it. A speaker has read what its model got in the middle of the turn: no turn follows in which only such speakers
 * would read it.
 *
 * @param news what was just added @param last the speakers of this turn
 */
export function isUnread(
  { thread, manager, participants }: GroupChatParts,
  { early, late }: News,
  last: readonly string[],
): boolean {
  if (thread.addressed().length > 0 || late.some(isForEverybody)) return true;
  const read = early.filter(isForEverybody);
  if (read.length === 0) return false;
  const next = manager.nextSpeakers?.(last) ?? [...participants.keys()];
  const isNewTo = ({ heard = [] }: ThreadItem): boolean =>
    !next.every((one) => heard.includes(one));
  return manager.orchestrates === true || read.some(isNewTo);
}

function isForEverybody({ message }: ThreadItem): boolean {
  return recipientOf(message) === undefined;
}
