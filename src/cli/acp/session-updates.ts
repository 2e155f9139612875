import type { ContentBlock, SessionUpdate, ToolKind } from "@agentclientprotocol/sdk";
import type { StreamItem, TextInProgress } from "../../client/index.ts";
import { ledgerPlan } from "../../core/messages/ledger-plan.ts";
import type { Message } from "../../core/messages/message.ts";
import { toText } from "../../core/messages/views.ts";
import { ThinkingText } from "../../core/text/thinking-text.ts";
import { isSameText } from "../terminal/transcript.ts";
import { contentBlock } from "./prompt-content.ts";

/** A text that an editor has, in part or as a whole. */
interface SentText {
  /** As the team streamed it, with its thought. */
  content: string;
  parts: ThinkingText;
}

/** The tools whose kind an editor can show. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  code_execution: "execute",
  run_skill_script: "execute",
  load_skill: "read",
  read_skill_file: "read",
  search_tools: "search",
};

/**
 * Translates the items of a team's stream into `session/update` notifications of ACP, each once: the items may repeat what was sent,
 * as they do after a reconnect. The protocol has no way to take back a text, so that of an abandoned turn stays, and the text that
 * replaces it is a message of its own. The agent's name is in `_meta["troupe"]["agent"]`.
 */
export class SessionUpdates {
  readonly #texts = new Map<string, SentText>();
  /** Ids of messages that were sent. */
  readonly #messages = new Set<string>();
  /** Number of texts with the same id that were sent before, because the first ones were void. */
  readonly #versions = new Map<string, number>();
  readonly #startedCalls = new Set<string>();
  #plan: readonly string[] = [];

  /** @param replays whether the user's messages are sent as well, as they are when a session is loaded */
  item(item: StreamItem, replays = false): SessionUpdate[] {
    switch (item.kind) {
      case "text":
        return this.#text(item.text);
      case "discard":
        this.#forget(item.text.id);
        return [];
      case "message":
        return this.message(item.message, replays);
      case "activity":
        return item.activity.steps.flatMap(({ call_id }) =>
          call_id === null ? [] : this.#callStarted(call_id),
        );
      case "result":
        return this.#planIs("completed");
      default:
        return [];
    }
  }

  /** A whole message, whose text may have been sent before. */
  message(message: Message, replays: boolean): SessionUpdate[] {
    if (this.#messages.has(message.id)) return [];
    this.#messages.add(message.id);
    const { source } = message;
    switch (message.type) {
      case "ToolCallRequestEvent":
        return message.content.map((call) => ({
          sessionUpdate: "tool_call",
          toolCallId: call.id,
          title: call.name,
          kind: KINDS[call.name] ?? "other",
          status: "pending",
          rawInput: parsed(call.arguments),
          ...speaker(source),
        }));
      case "ToolCallExecutionEvent":
        return message.content.map(({ call_id, content, is_error }) => ({
          sessionUpdate: "tool_call_update",
          toolCallId: call_id,
          status: is_error === true ? "failed" : "completed",
          content: [{ type: "content", content: { type: "text", text: content } }],
          rawOutput: parsed(content),
        }));
      case "ThoughtEvent":
        return this.#thought(message.id, source, message.content);
      case "ModelClientStreamingChunkEvent":
      case "UserInputRequestedEvent":
      case "MemoryQueryEvent":
      case "SelectSpeakerEvent":
      case "SelectorEvent":
        return [];
      default:
        return this.#said(message, replays);
    }
  }

  #said(message: Message, replays: boolean): SessionUpdate[] {
    const { id, source } = message;
    if (source === "user") return replays ? userMessage(message) : [];
    const whole = toText(message);
    // A model client that does not know the message's id names the text by its source.
    const streamed = this.#take(id) ?? this.#take(source);
    const plan = ledgerPlan(whole);
    const planned = plan === undefined ? [] : this.#newPlan(plan);
    if (streamed !== undefined && isSameText(streamed.parts.answer, whole)) return planned;
    const messageId = streamed === undefined ? id : this.#nextVersion(id);
    const blocks =
      message.type === "MultiModalMessage"
        ? message.content.map(contentBlock)
        : [{ type: "text" as const, text: whole }];
    return [...blocks.map((content) => chunk("answer", messageId, source, content)), ...planned];
  }

  #text({ id, source, content }: TextInProgress): SessionUpdate[] {
    let text = this.#texts.get(id);
    if (text !== undefined && !content.startsWith(text.content)) {
      this.#forget(id);
      text = undefined;
    }
    text ??= { content: "", parts: new ThinkingText() };
    this.#texts.set(id, text);
    const added = text.parts.add(content.slice(text.content.length));
    text.content = content;
    return this.#added(id, source, added);
  }

  #added(id: string, source: string, added: { thought: string; answer: string }): SessionUpdate[] {
    const messageId = this.#version(id);
    return (["thought", "answer"] as const).flatMap((part) =>
      added[part] === ""
        ? []
        : [chunk(part, messageId, source, { type: "text", text: added[part] })],
    );
  }

  /** A thought that was streamed, between tags or as the text before calls of tools, is not repeated. */
  #thought(id: string, source: string, content: string): SessionUpdate[] {
    const streamed = [this.#texts.get(id), ...this.#texts.values()].some(
      (text) =>
        text !== undefined &&
        [text.parts.thought, text.parts.answer].some((part) => isSameText(part, content)),
    );
    return streamed ? [] : [chunk("thought", id, source, { type: "text", text: content })];
  }

  #callStarted(id: string): SessionUpdate[] {
    if (this.#startedCalls.has(id)) return [];
    this.#startedCalls.add(id);
    return [{ sessionUpdate: "tool_call_update", toolCallId: id, status: "in_progress" }];
  }

  #newPlan(plan: readonly string[]): SessionUpdate[] {
    this.#plan = plan;
    return this.#planIs("pending");
  }

  #planIs(status: "pending" | "completed"): SessionUpdate[] {
    if (this.#plan.length === 0) return [];
    const entries = this.#plan.map((content) => ({
      content,
      priority: "medium" as const,
      status,
    }));
    return [{ sessionUpdate: "plan", entries }];
  }

  #take(id: string): SentText | undefined {
    const text = this.#texts.get(id);
    this.#texts.delete(id);
    return text;
  }

  /** The text is void; another one with its id is a message of its own. */
  #forget(id: string): void {
    if (this.#texts.delete(id)) this.#nextVersion(id);
  }

  #nextVersion(id: string): string {
    this.#versions.set(id, (this.#versions.get(id) ?? 1) + 1);
    return this.#version(id);
  }

  #version(id: string): string {
    const version = this.#versions.get(id);
    return version === undefined ? id : `${id}:${version}`;
  }
}

function chunk(
  part: "thought" | "answer",
  messageId: string,
  source: string,
  content: ContentBlock,
): SessionUpdate {
  const sessionUpdate = part === "thought" ? "agent_thought_chunk" : "agent_message_chunk";
  return { sessionUpdate, messageId, content, ...speaker(source) };
}

function userMessage(message: Message): SessionUpdate[] {
  const { id } = message;
  const blocks: ContentBlock[] =
    message.type === "MultiModalMessage"
      ? message.content.map(contentBlock)
      : [{ type: "text", text: toText(message) }];
  return blocks.map((content) => ({
    sessionUpdate: "user_message_chunk",
    messageId: id,
    content,
  }));
}

function speaker(agent: string): { _meta: Record<string, unknown> } {
  return { _meta: { troupe: { agent } } };
}

/** The value of JSON; the text itself where it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
