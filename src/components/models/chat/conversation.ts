import { isCalls, isResults } from "../../../core/context/exchanges.ts";
import type { ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type {
  AssistantMessage,
  LLMMessage,
  UserMessage,
} from "../../../core/models/llm-messages.ts";
import { withoutTrailingSpace } from "../../../core/text/python-space.ts";
import { CallPairs } from "./call-pairs.ts";
import { soundMessages } from "./sound-message.ts";
import { placeSystemMessages, type SystemPlace } from "./system-messages.ts";

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
