import { createParser } from "eventsource-parser";
import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../contract/run.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { ChatMessage } from "../../../core/messages/message.ts";
import { toText } from "../../../core/messages/views.ts";
import type { UserPart } from "../../../core/models/llm-messages.ts";
import { unwrap } from "../../http/endpoint/problem.ts";
import { taskMessages } from "../shared/run-messages.ts";
import { type ChatAddress, ChatBranch } from "./branch.ts";
import type { Chunk } from "./encoder/chunk.ts";
import { filePart } from "./encoder/data-parts.ts";
import { chatFormat } from "./encoder/format.ts";
import { type UIMessage, UIMessageBuilder } from "./ui-message.ts";

/** Characters of the stream of one run. The message of a longer run ends there. */
const MOST_CHARACTERS = 8_000_000;

/** Messages of a conversation, oldest first; the cursor is the one of the runs before. */
export interface HistoryPage {
  messages: UIMessage[];
  next_cursor: string | null;
}

/**
 * The conversation as a page of the SDK has it after the streams of these runs, latest runs first. The message of an
 * active run has what was said so far.
 *
 * @throws ProblemError
 */
export async function readHistory(
  address: ChatAddress,
  page: { cursor?: string; limit: number },
): Promise<HistoryPage> {
  const branch = await ChatBranch.open(address);
  const { runs, next_cursor } = await branch.runs(page);
  const messages: UIMessage[] = [];
  for (const { team, run } of runs.toReversed()) {
    messages.push(...taskOf(run), ...(await answersOf(team, run)));
  }
  return { messages, next_cursor };
}

/** The task of the run. Its last message has the id that the client gave it. */
function taskOf({ task, metadata }: RunInfo): UIMessage[] {
  const clientId = isJsonObject(metadata.ai_sdk) ? metadata.ai_sdk.message : undefined;
  const messages = taskMessages({ task }).map(messageOf);
  const last = messages.at(-1);
  if (last !== undefined && typeof clientId === "string") last.id = clientId;
  return messages;
}

function messageOf(message: ChatMessage): UIMessage {
  const { id, source } = message;
  const parts =
    message.type === "MultiModalMessage"
      ? message.content.map(partOf)
      : [{ type: "text", text: toText(message) }];
  return { id, role: source === "system" ? "system" : "user", parts };
}

function partOf(part: UserPart): JsonObject {
  return typeof part === "string" ? { type: "text", text: part } : filePart(part);
}

/** The messages of the team. Answers of humans are messages of the user between. */
async function answersOf(team: TeamGateway, { id: run }: RunInfo): Promise<UIMessage[]> {
  const format = chatFormat({ part: "new", now: true });
  const opened = unwrap(await team.stream({ run, after: 0, format }));
  if ("done" in opened) return [];
  const messages: UIMessage[] = [];
  let builder = new UIMessageBuilder(run);
  const parser = createParser({
    onEvent({ data }) {
      if (data === "[DONE]") return;
      const chunk = JSON.parse(data) as Chunk;
      const answer = answerIn(chunk);
      if (answer === undefined) return builder.take(chunk);
      const { metadata } = builder.message;
      messages.push(builder.message, answer.message);
      builder = new UIMessageBuilder(answer.request);
      if (metadata !== undefined) builder.message.metadata = metadata;
    },
  });
  let size = 0;
  for await (const text of opened.body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text);
    size += text.length;
    if (size <= MOST_CHARACTERS) continue;
    builder.message.parts.push({ type: "data-truncated", data: { run } });
    break;
  }
  return [...messages, builder.message];
}

/** The message of a human that the next message of the team follows, whose id is the question's, or that of a message into the run. */
function answerIn(chunk: Chunk): { request: string; message: UIMessage } | undefined {
  const isAnswer = chunk.type === "data-answer" || chunk.type === "data-steering";
  if (!isAnswer || !("data" in chunk) || chunk.id === undefined) return undefined;
  const { message = chunk.id, content } = chunk.data as { message?: string; content: string };
  const parts = [{ type: "text", text: content }];
  return { request: chunk.id, message: { id: message, role: "user", parts } };
}
