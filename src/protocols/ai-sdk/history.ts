import { createParser } from "eventsource-parser";
import type { TeamGateway } from "../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../contract/run.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import { toText } from "../../core/messages/views.ts";
import { imageDataUri, imageMediaType } from "../../core/models/images.ts";
import { unwrap } from "../../http/problem.ts";
import type { Chunk } from "./encoder/chunk.ts";
import { chatFormat } from "./format.ts";
import { type UIMessage, UIMessageBuilder } from "./ui-message.ts";

/** Of the stream of one run. Of a longer one, the message ends there. */
const MOST_CHARACTERS = 8_000_000;

/** Messages of a conversation, oldest first; the cursor is the one of the runs before. */
export interface HistoryPage {
  messages: UIMessage[];
  next_cursor: string | null;
}

/**
 * The conversation as a page of the SDK has it after the streams of these runs, latest runs first. A run that goes on has
 * what it has said so far.
 *
 * @throws ProblemError
 */
export async function readHistory(
  team: TeamGateway,
  page: { cursor?: string; limit: number },
): Promise<HistoryPage> {
  const { runs, next_cursor } = unwrap(await team.runs(page));
  const messages: UIMessage[] = [];
  for (const run of runs.toReversed()) {
    messages.push(...taskOf(run), ...(await answersOf(team, run)));
  }
  return { messages, next_cursor };
}

/** What the run was given. Its last message has the id that the client gave it. */
function taskOf({ task, metadata }: RunInfo): UIMessage[] {
  const given = isJsonObject(metadata.ai_sdk) ? metadata.ai_sdk.message : undefined;
  const messages = ((task ?? []) as unknown as ChatMessage[]).map(messageOf);
  const last = messages.at(-1);
  if (last !== undefined && typeof given === "string") last.id = given;
  return messages;
}

function messageOf(message: ChatMessage): UIMessage {
  const { id, source } = message;
  const parts =
    message.type === "MultiModalMessage"
      ? message.content.map((one): JsonObject =>
          typeof one === "string"
            ? { type: "text", text: one }
            : {
                type: "file",
                mediaType: imageMediaType(one.data) ?? "image/png",
                url: imageDataUri(one),
              },
        )
      : [{ type: "text", text: toText(message) }];
  return { id, role: source === "system" ? "system" : "user", parts };
}

/** What the team said. Answers of humans are messages of the user between. */
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

/** The message of a human that the next message of the team follows, whose id is the question's. */
function answerIn(chunk: Chunk): { request: string; message: UIMessage } | undefined {
  if (chunk.type !== "data-answer" || !("data" in chunk) || chunk.id === undefined)
    return undefined;
  const { message, content } = chunk.data as { message: string; content: string };
  const parts = [{ type: "text", text: content }];
  return { request: chunk.id, message: { id: message, role: "user", parts } };
}
