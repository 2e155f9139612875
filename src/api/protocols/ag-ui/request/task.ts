import type { StartRunInput, TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import type { Message } from "../../../../core/messages/message.ts";
import { type GivenFile, partOfFile } from "../../../http/input/file-parts.ts";
import { readTask } from "../../../http/input/task.ts";
import type { MessageServices } from "../../../http/endpoint/services.ts";
import { ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { OWN } from "../wire/events.ts";
import type { InputMessage, InputPart, RunInput, ToolMessage } from "../wire/input.ts";

/** Keys of a message's metadata with the id that the client gave it, which another thread may use again. */
const CLIENT_ID = "ag_ui_id";
const CLIENT_THREAD = "ag_ui_thread";
/** The key of a message's metadata that says that it is the request's `context`. */
export const CONTEXT = "ag_ui_context";

/** At most this many dropped parts and messages are named, because the options of a stream must stay small. */
export const MOST_DROPPED = 20;

/** The id that a message has in the client's thread, if it came from there. */
export function clientIdOf(
  { metadata }: Pick<Message, "metadata">,
  thread: string,
): string | undefined {
  return metadata[CLIENT_THREAD] === thread ? metadata[CLIENT_ID] : undefined;
}

/** Messages of the team that are searched for those that the client sends again. */
const TAIL = 200;

/** The client's additions since the team's last message. */
export interface Added {
  said: readonly { index: number; message: InputMessage }[];
  results: readonly ToolMessage[];
}

export function addedBy({ messages }: RunInput): Added {
  const last = messages.findLastIndex(
    ({ role, metadata }) =>
      role === "assistant" ||
      role === "reasoning" ||
      role === "activity" ||
      // The messages of humans in the team.
      (role !== "tool" && isJsonObject(metadata) && OWN in metadata),
  );
  const said: { index: number; message: InputMessage }[] = [];
  const results: ToolMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (index <= last) continue;
    if (message.role === "tool") results.push(message);
    else said.push({ index, message: message as InputMessage });
  }
  return { said, results };
}

/** Those messages that the team has not yet: an earlier request may have failed after they were given. */
export async function newOf(
  said: Added["said"],
  team: TeamGateway,
  thread: string,
): Promise<Added["said"]> {
  if (said.length === 0) return said;
  const { messages } = unwrap(
    await team.messages({ before: Number.MAX_SAFE_INTEGER, limit: TAIL }),
  );
  const storedIds = new Set(messages.map((message) => clientIdOf(message, thread)));
  return said.filter(({ message }) => !storedIds.has(message.id));
}

export interface ConvertedTask {
  task: NonNullable<StartRunInput["task"]>;
  /** Paths of the parts that are not in it. */
  dropped: string[];
}

/** The messages as a run's task, after the request's context. @throws ProblemError 422 */
export async function taskOf(
  said: Added["said"],
  { context, threadId }: RunInput,
  services: MessageServices,
  team: TeamGateway,
): Promise<ConvertedTask> {
  const dropped: string[] = [];
  /** Paths of the messages and their parts in the request. */
  const places: SourcePaths[] = [];
  const converted = said.map(({ index, message }) => {
    const { id, role, content } = message;
    const metadata = { [CLIENT_ID]: id, [CLIENT_THREAD]: threadId };
    const paths: SourcePaths = { message: `messages[${index}]`, parts: [] };
    places.push(paths);
    const parts = partsOf(content, paths, dropped);
    const texts = parts.filter((part) => typeof part === "string");
    return texts.length < parts.length
      ? { type: "MultiModalMessage", source: role, content: parts, metadata }
      : { type: "TextMessage", source: role, content: texts.join("\n"), metadata };
  });
  const before = contextMessage(context);
  const all = [...before.map(() => ({ message: "context", parts: [] })), ...places];
  const task = await readTask([...before, ...converted], services, { team }).catch(
    (error: unknown) => {
      throw inRequest(error, all);
    },
  );
  return { task: task ?? [], dropped: dropped.slice(0, MOST_DROPPED) };
}

interface SourcePaths {
  message: string;
  parts: string[];
}

/** An error of the task with the places in the request instead of those in the task. */
function inRequest(error: unknown, places: readonly SourcePaths[]): unknown {
  if (!(error instanceof ProblemError) || error.problem.errors === undefined) return error;
  const errors = error.problem.errors.map(({ path, message }) => {
    const [, index, part] = /^task\[(\d+)\](?:\.content\[(\d+)\])?/.exec(path) ?? [];
    const paths = places[Number(index)];
    if (paths === undefined) return { path: "messages", message };
    return { path: paths.parts[Number(part)] ?? paths.message, message };
  });
  return new ProblemError({ ...error.problem, errors }, error.headers);
}

/** A producer of the protocol shows the context to its models. */
function contextMessage(context: RunInput["context"]): object[] {
  if (context.length === 0) return [];
  const content = context.map(({ description, value }) => `${description}: ${value}`).join("\n");
  return [{ type: "TextMessage", source: "context", content, metadata: { [CONTEXT]: "1" } }];
}

/** The parts that agents can use; others are dropped, as the protocol asks for. */
function partsOf(
  content: InputMessage["content"],
  { message, parts }: SourcePaths,
  dropped: string[],
): (string | JsonObject)[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part, index) => {
    const path = `${message}.content[${index}]`;
    const usable = part.type === "text" ? part.text : fileOf(part);
    (usable === undefined ? dropped : parts).push(path);
    return usable === undefined ? [] : [usable];
  });
}

/** An image or a file, or the URL that it is to be fetched from; undefined for what agents cannot be shown. */
function fileOf(part: Exclude<InputPart, { type: "text" }>): JsonObject | undefined {
  if (part.type === "binary") {
    const { mimeType: mediaType, data, url, filename: name } = part;
    return data === undefined ? fromUrl(url, name) : fromData({ data, mediaType, name });
  }
  if (!("source" in part)) return undefined;
  const { source, metadata } = part;
  const filename = isJsonObject(metadata) ? metadata["filename"] : undefined;
  const name = typeof filename === "string" ? filename : undefined;
  if (source.type === "url") return fromUrl(source.value, name);
  return source.type === "data"
    ? fromData({ data: source.value, mediaType: source.mimeType, name })
    : undefined;
}

function fromData(file: GivenFile): JsonObject | undefined {
  const part = partOfFile(file);
  return typeof part === "string" ? undefined : part;
}

function fromUrl(url: string | undefined, name: string | undefined): JsonObject | undefined {
  return url === undefined ? undefined : { url, ...(name !== undefined && { name }) };
}

export function isOnlyText(content: InputMessage["content"]): boolean {
  return typeof content === "string" || content.every(({ type }) => type === "text");
}

/** The text of a message. */
export function textOf({ content }: Pick<ToolMessage | InputMessage, "content">): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
