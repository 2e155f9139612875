import type { TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { MessagePage } from "../../../../contract/team.ts";
import { isJsonObject } from "../../../../core/json.ts";
import { isChatMessage, toText } from "../../../../core/messages/views.ts";
import type { ChatMessage, Message } from "../../../../core/messages/message.ts";
import { isFile } from "../../../../core/models/attached-files.ts";
import { imageMediaType } from "../../../../core/models/images.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import type { ThreadMessage } from "../wire/events.ts";
import type { RunInput } from "../wire/input.ts";
import { clientIdOf, CONTEXT } from "./task.ts";
import {
  aboutMessage,
  aboutResult,
  aboutSource,
  resultId,
  toolCallId,
} from "../wire/event-fields.ts";

type Numbered = MessagePage["messages"][number];

/** Limits of a snapshot. It leaves out older messages. */
const MOST_MESSAGES = 1000;
const MOST_CHARACTERS = 4_000_000;
const PAGE = 200;

/** The conversation as it is now. */
export interface Thread {
  /** For a snapshot: those of the client up to the last that it gave the team, then those of the team. */
  messages: unknown[];
  /** After its last message. */
  cursor: number;
  /** Calls without results: their ids for clients, by those that the models gave. */
  calls: Record<string, string>;
  /** Those of them whose results the client has. */
  clientCalls: string[];
  /** Agents that have asked a human. */
  humans: string[];
}

/** Reads the conversation up to now. */
export async function readThread(team: TeamGateway, input: RunInput): Promise<Thread> {
  const positions = new Map(input.messages.map(({ id }, index) => [id, index]));
  const positionOf = (message: Message): number | undefined =>
    positions.get(clientIdOf(message, input.threadId) ?? "");
  const read = await readBack(team, (message) => positionOf(message) !== undefined);
  const shared = read.findLastIndex((message) => positionOf(message) !== undefined);
  const last = read[shared];
  const clientMessages =
    last === undefined ? [] : input.given.slice(0, (positionOf(last) ?? 0) + 1);
  const { messages, ...rest } = conversationOf(read.slice(shared + 1), input);
  return {
    messages: [...clientMessages, ...messages],
    cursor: read.at(-1)?.seq ?? 0,
    ...rest,
  };
}

/** The last messages, oldest first: those since the last that the client gave, if they are not too many. */
async function readBack(
  team: TeamGateway,
  isGiven: (message: Message) => boolean,
): Promise<Numbered[]> {
  const pages: Numbered[][] = [];
  let count = 0;
  let before: number | null = Number.MAX_SAFE_INTEGER;
  let size = 0;
  while (before !== null && count < MOST_MESSAGES && size < MOST_CHARACTERS) {
    const page: MessagePage = unwrap(await team.messages({ before, limit: PAGE }));
    pages.unshift(page.messages);
    count += page.messages.length;
    size += JSON.stringify(page.messages).length;
    before = page.messages.some(isGiven) ? null : page.next_before;
  }
  return pages.flat();
}

/** The state of the conversation before the messages. */
interface Before extends Pick<RunInput, "threadId" | "given"> {
  calls?: Readonly<Record<string, string>>;
  humans?: readonly string[];
}

/** Messages of a team as clients put them together from their events. */
export function conversationOf(
  messages: readonly Message[],
  { threadId, given, calls: open = {}, humans: proxies = [] }: Before,
): Omit<Thread, "cursor"> {
  const results = new Map(
    given.flatMap((message) =>
      isJsonObject(message) && message.role === "tool" ? [[message.toolCallId, message]] : [],
    ),
  );
  const humans = new Set(["user", ...proxies]);
  const calls: Record<string, string> = { ...open };
  const thread = messages.flatMap((message): unknown[] => {
    const { id, source } = message;
    if (message.type === "UserInputRequestedEvent") humans.add(source);
    if (isChatMessage(message)) {
      if (message.metadata[CONTEXT] !== undefined) return [];
      return [chatMessage(message, humans.has(source), clientIdOf(message, threadId))];
    }
    switch (message.type) {
      case "ThoughtEvent":
        return [{ id, role: "reasoning", content: message.content, ...aboutSource(source) }];
      case "ToolCallRequestEvent": {
        const toolCalls = message.content.map((call) => {
          const { name, arguments: text } = call;
          const ownId = toolCallId(id, call.id);
          calls[call.id] = ownId;
          const own = { name, arguments: text };
          return { id: ownId, type: "function", function: own, ...aboutSource(source) };
        });
        return [{ id, role: "assistant", toolCalls }];
      }
      case "ToolCallExecutionEvent":
        return message.content.map((result, index) => {
          const call = calls[result.call_id] ?? result.call_id;
          delete calls[result.call_id];
          const { content } = result;
          const own = { id: resultId(id, index), role: "tool", toolCallId: call, content };
          return results.get(call) ?? { ...own, ...aboutResult(result) };
        });
      default:
        return [];
    }
  });
  // The team has taken these, or is about to.
  const clientCalls = Object.values(calls).filter((call) => results.has(call));
  const made = clientCalls.map((call) => results.get(call));
  return { messages: [...thread, ...made], calls, clientCalls, humans: [...humans] };
}

/** @param raw the id that the client gave it */
function chatMessage(message: ChatMessage, human: boolean, raw: string | undefined): ThreadMessage {
  const { id, source } = message;
  if (raw !== undefined) return { id: raw, role: "user", content: userContent(message) };
  const name = source === "user" ? {} : { name: source };
  const about = { ...name, ...aboutMessage(message) };
  return human
    ? { id, role: "user", content: userContent(message), ...about }
    : { id, role: "assistant", content: toText(message), ...about };
}

/** Other than those of agents, messages of users can have pictures and files. */
function userContent(message: ChatMessage): unknown {
  if (message.type !== "MultiModalMessage") return toText(message);
  return message.content.map((part) => {
    if (typeof part === "string") return { type: "text", text: part };
    const { data: value } = part;
    if (!isFile(part))
      return { type: "image", source: { type: "data", value, mimeType: imageMediaType(value) } };
    const source = { type: "data", value, mimeType: part.media_type };
    return { type: "document", source, metadata: { filename: part.name } };
  });
}
