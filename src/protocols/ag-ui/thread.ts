import type { TeamGateway } from "../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../contract/run.ts";
import type { MessagePage } from "../../contract/team.ts";
import { type ChatMessage, isChatMessage, type Message } from "../../core/messages/message.ts";
import { toText } from "../../core/messages/views.ts";
import { unwrap } from "../../http/problem.ts";
import type { ThreadMessage } from "./events.ts";
import type { RunInput } from "./input.ts";
import { CLIENT_ID, CONTEXT } from "./task.ts";
import { aboutMessage, aboutResult, aboutSource, resultId, toolCallId } from "./told.ts";

type Numbered = MessagePage["messages"][number];

/** Of a snapshot. Older messages are not in it. */
const MOST_MESSAGES = 1000;
const MOST_CHARACTERS = 4_000_000;
const PAGE = 200;

/** The conversation as it is now. */
export interface Thread {
  /** For a snapshot: as the client has them up to the run's task, then those of the team. */
  messages: unknown[];
  /** After its last message. */
  cursor: number;
  /** Calls without results: their ids for clients, by those that the models gave. */
  calls: Record<string, string>;
  /** Agents that have asked a human. */
  humans: string[];
}

/** Reads the conversation up to now. @param run the one that the client is told of */
export async function readThread(
  team: TeamGateway,
  run: RunInfo | undefined,
  input: RunInput,
): Promise<Thread> {
  const task = new Set(taskIds(run));
  const read = await readBack(team, task);
  const first = read.findLastIndex(({ id }) => task.has(id)) + 1;
  const known = new Set(read.slice(0, first).map(({ metadata }) => metadata[CLIENT_ID]));
  const given = first === 0 ? 0 : input.messages.findLastIndex(({ id }) => known.has(id)) + 1;
  const own = given === 0 ? read : read.slice(first);
  const { messages, ...rest } = conversation(own, input);
  return {
    messages: [...input.given.slice(0, given), ...messages],
    cursor: read.at(-1)?.seq ?? 0,
    ...rest,
  };
}

function taskIds(run: RunInfo | undefined): string[] {
  return ((run?.task ?? []) as unknown as ChatMessage[]).map(({ id }) => id);
}

/** The last messages, oldest first: at least those since the task, if they are not too many. */
async function readBack(team: TeamGateway, task: ReadonlySet<string>): Promise<Numbered[]> {
  const pages: Numbered[][] = [];
  let count = 0;
  let before: number | null = Number.MAX_SAFE_INTEGER;
  let size = 0;
  while (before !== null && count < MOST_MESSAGES && size < MOST_CHARACTERS) {
    const page: MessagePage = unwrap(await team.messages({ before, limit: PAGE }));
    pages.unshift(page.messages);
    count += page.messages.length;
    size += JSON.stringify(page.messages).length;
    before = page.messages.some(({ id }) => task.has(id)) ? null : page.next_before;
  }
  return pages.flat();
}

/** Messages of a team as clients put them together from their events. */
function conversation(messages: readonly Message[], input: RunInput): Omit<Thread, "cursor"> {
  const results = new Map(
    input.messages.flatMap((message, index) =>
      message.role === "tool" ? [[message.toolCallId, input.given[index]]] : [],
    ),
  );
  const humans = new Set(["user"]);
  const used = new Set<string>();
  const calls: Record<string, string> = {};
  const thread = messages.flatMap((message): unknown[] => {
    const { id, source } = message;
    if (message.type === "UserInputRequestedEvent") humans.add(source);
    if (isChatMessage(message)) {
      if (message.metadata[CONTEXT] !== undefined) return [];
      return [chatMessage(message, humans.has(source), used)];
    }
    switch (message.type) {
      case "ThoughtEvent":
        return [{ id, role: "reasoning", content: message.content, ...aboutSource(source) }];
      case "ToolCallRequestEvent": {
        const toolCalls = message.content.map((call) => {
          const { name, arguments: given } = call;
          const told = toolCallId(id, call.id);
          calls[call.id] = told;
          const own = { name, arguments: given };
          return { id: told, type: "function", function: own, ...aboutSource(source) };
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
  const given = Object.values(calls).flatMap((call) => results.get(call) ?? []);
  return { messages: [...thread, ...given], calls, humans: [...humans] };
}

/** @param used ids of clients that are taken: only the first message with one gets it */
function chatMessage(message: ChatMessage, human: boolean, used: Set<string>): ThreadMessage {
  const { source, metadata } = message;
  const given = metadata[CLIENT_ID];
  const id = given === undefined || used.has(given) ? message.id : given;
  used.add(id);
  if (given !== undefined) return { id, role: "user", content: toText(message) };
  const name = source === "user" ? {} : { name: source };
  const content = toText(message);
  return { id, role: human ? "user" : "assistant", ...name, content, ...aboutMessage(message) };
}
