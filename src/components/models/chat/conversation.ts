import type { ToolSchema } from "../../../core/models/chat-completion-client.ts";
import {
  type AssistantMessage,
  isCalls,
  isResults,
  type LLMMessage,
  type SystemMessage,
  type UserMessage,
} from "../../../core/models/llm-messages.ts";
import { withoutTrailingSpace } from "../../../core/text/python-space.ts";
import { CallPairs } from "./call-pairs.ts";
import { soundMessages } from "./sound-message.ts";

/** The place at which a server takes system messages. */
interface SystemPlace {
  /** Among the others, only before them, or in a field of their own. */
  at: "anywhere" | "beginning" | "field";
  /** True if it takes only one. */
  one: boolean;
}

/** The conversations that a maker's server takes. It refuses others. */
export interface ConversationRules {
  /** The ids of calls. */
  callIds: RegExp;
  systems: SystemPlace;
  /** A text without a visible character: sent as it is, as a blank, or not at all. */
  emptyText: "keep" | "blank" | "skip";
  /** True if a user has to speak first. */
  userFirst?: boolean | undefined;
  /** True if a user or a tool has to speak last. */
  userLast?: boolean | undefined;
  /** True if white space at the end is refused when the assistant spoke last. */
  trimLast?: boolean | undefined;
  /** True if an assistant has to speak between the results of tools and a user. */
  bridged?: boolean | undefined;
  /** True if calls have to follow a user or results, and not a text of the assistant. */
  callsAfterUser?: boolean | undefined;
}

/**
 * Claude's models that refuse a conversation in which the assistant spoke last
 * (https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6#prefill-removal).
 */
export const WITHOUT_PREFILL =
  /^claude-((opus|sonnet)-4-[6-9]|(opus|sonnet|haiku|fable|mythos)-([5-9]|\d\d))/;

/** The ids of calls of servers that take any. */
export const ANY_ID = /./s;

/** Stands in for a user who has said nothing: an agent that has the floor again without a new message, an empty task. */
const CONTINUE: UserMessage = { type: "UserMessage", source: "user", content: "Continue." };

/** Stands between the results of tools and a user, for models that expect the assistant there. */
export const BRIDGE: AssistantMessage = {
  type: "AssistantMessage",
  source: "assistant",
  content: "I have the results.",
  thought: null,
};

/**
 * Makes any stored conversation one that the maker's server takes, whatever a model, a tool or an older state left in it. What is
 * stored stays as it is. The same conversation is the same request again, and a longer one begins with it, because
 * servers keep the beginning of a prompt in their caches; so each message is repaired by what stands before it.
 */
export class OutgoingConversation {
  readonly #rules: ConversationRules;
  readonly #pairs: CallPairs;
  readonly #shown = new WeakMap<LLMMessage, LLMMessage | "skipped">();

  constructor(rules: ConversationRules) {
    this.#rules = rules;
    this.#pairs = new CallPairs(rules.callIds);
  }

  /** The messages to send, at least one. Those without a fault are the same objects. */
  accepted(messages: readonly LLMMessage[]): LLMMessage[] {
    const sound = placeSystemMessages(soundMessages(messages), this.#rules.systems);
    const shown = sound.flatMap((message) => {
      const sent = this.#shownOf(message);
      return sent === "skipped" ? [] : [sent];
    });
    // Calls and results are lists.
    const isText = shown.every(({ content }) => typeof content === "string");
    return this.#ended(this.#ordered(isText ? shown : this.#pairs.complete(shown)));
  }

  #shownOf(message: LLMMessage): LLMMessage | "skipped" {
    if (this.#rules.emptyText === "keep") return message;
    let shown = this.#shown.get(message);
    if (shown === undefined) {
      shown = this.#withoutEmpty(message);
      this.#shown.set(message, shown);
    }
    return shown;
  }

  #withoutEmpty(message: LLMMessage): LLMMessage | "skipped" {
    if (message.type !== "UserMessage" && message.type !== "AssistantMessage") return message;
    if (isCalls(message)) return message;
    const isSkipped = this.#rules.emptyText === "skip";
    if (message.type === "UserMessage" && Array.isArray(message.content)) {
      const parts = message.content.filter(
        (part) => typeof part !== "string" || (isSkipped ? part.trim() : part) !== "",
      );
      if (parts.length === message.content.length) return message;
      if (parts.length > 0) return { ...message, content: parts };
      return isSkipped ? "skipped" : { ...message, content: " " };
    }
    if (isSkipped) return isBlank(message) ? "skipped" : message;
    return message.content === "" ? { ...message, content: " " } : message;
  }

  #ordered(messages: LLMMessage[]): LLMMessage[] {
    const { userFirst, bridged, callsAfterUser } = this.#rules;
    if (!userFirst && !bridged && !callsAfterUser) return messages;
    const ordered: LLMMessage[] = [];
    for (const message of messages) {
      const before = ordered.findLast(({ type }) => type !== "SystemMessage");
      const isFirst = before === undefined && message.type === "AssistantMessage";
      const isLate = before?.type === "AssistantMessage" && isCalls(message);
      if ((isFirst && userFirst) || (isLate && callsAfterUser)) ordered.push(CONTINUE);
      if (bridged && isResults(before) && message.type === "UserMessage") ordered.push(BRIDGE);
      ordered.push(message);
    }
    return ordered;
  }

  #ended(messages: LLMMessage[]): LLMMessage[] {
    const { userFirst, userLast, trimLast } = this.#rules;
    const last = messages.findLast(({ type }) => type !== "SystemMessage");
    const spoke = userFirst
      ? last !== undefined
      : messages.some((message) => message.type !== "AssistantMessage" || !isBlank(message));
    if (!spoke || (userLast && last?.type === "AssistantMessage")) return [...messages, CONTINUE];
    return trimLast ? trimLastAssistant(messages) : messages;
  }
}

function isBlank({ content }: UserMessage | AssistantMessage): boolean {
  return typeof content === "string" && content.trim() === "";
}

/** Removes white space at the end of the conversation when the last message is the assistant's. */
function trimLastAssistant(messages: LLMMessage[]): LLMMessage[] {
  const at = messages.findLastIndex(({ type }) => type !== "SystemMessage");
  const last = messages[at];
  if (last?.type !== "AssistantMessage" || typeof last.content !== "string") return messages;
  const content = withoutTrailingSpace(last.content);
  return content === last.content ? messages : messages.with(at, { ...last, content });
}

/**
 * The conversation with its system messages where the server takes them. Those in a row are merged where the server takes only one.
 * Later ones, which would have to change the beginning, become messages of a user.
 */
function placeSystemMessages(
  messages: readonly LLMMessage[],
  { at, one }: SystemPlace,
): readonly LLMMessage[] {
  if (at === "anywhere" && !one) return messages;
  if (!messages.some(isSystem)) return messages;
  const placed =
    at === "field"
      ? [...messages.filter(isSystem), ...messages.filter((message) => !isSystem(message))]
      : laterAsUser(messages, at === "beginning");
  return one ? mergeSystemMessages(placed) : placed;
}

const isSystem = (message: LLMMessage): message is SystemMessage =>
  message.type === "SystemMessage";

const asUser = new WeakMap<SystemMessage, UserMessage>();

function laterAsUser(messages: readonly LLMMessage[], atBeginning: boolean): LLMMessage[] {
  const start = atBeginning ? 0 : messages.findIndex(isSystem);
  const after = messages.findIndex((message, index) => index >= start && !isSystem(message));
  return messages.map((message, index) => {
    if (!isSystem(message) || after === -1 || index < after) return message;
    let user = asUser.get(message);
    if (user === undefined) {
      user = { type: "UserMessage", source: "system", content: message.content };
      asUser.set(message, user);
    }
    return user;
  });
}

/**
 * Merges the system messages, which stand in a row, for models that accept or heed only one. White space at its end is left out,
 * as in AutoGen, also where there is one message alone.
 */
function mergeSystemMessages(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const first = messages.findIndex(isSystem);
  const texts = messages.filter(isSystem).map(({ content }) => content);
  const content = withoutTrailingSpace(texts.join("\n"));
  if (texts.length <= 1 && content !== "" && content === texts[0]) return messages;
  const merged: LLMMessage[] = content === "" ? [] : [{ type: "SystemMessage", content }];
  return [
    ...messages.slice(0, Math.max(0, first)),
    ...merged,
    ...messages.slice(Math.max(0, first) + texts.length),
  ];
}

/**
 * Stand-ins for the tools that a conversation has calls of, each once. Claude, behind other servers too, refuses calls and
 * results in a request without tools.
 */
export function calledTools(messages: readonly LLMMessage[]): ToolSchema[] {
  const names = new Set<string>();
  for (const message of messages.filter(isCalls))
    for (const { name } of message.content) names.add(name);
  const parameters = { type: "object", properties: {} };
  return Array.from(names, (name) => ({ name, parameters }));
}
