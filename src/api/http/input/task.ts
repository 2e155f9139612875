import { bytesOfBase64 } from "../../../core/base64.ts";
import { type Issue, TaskError } from "../../../core/errors.ts";
import { pathOf } from "../../../core/issues.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { MessageOrigin } from "../../../core/messages/create.ts";
import { type ChatMessage, plainChatMessageSchema } from "../../../core/messages/message.ts";
import { loadTask } from "../../../core/messages/load-task.ts";
import type { StartRunInput, TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { Limits } from "../endpoint/limits.ts";
import { invalid, unwrap } from "../endpoint/problem.ts";
import type { MessageServices } from "../endpoint/services.ts";

type TaskMessage = NonNullable<StartRunInput["task"]>[number];

/** Placeholders for ids and times that the client left out: the run makes them, so that a retry gets the same ones. */
const LEFT_OUT: MessageOrigin = { id: () => "", now: () => "1970-01-01T00:00:00.000Z" };

/** A text as a task, which most tasks are: it has no fields to check. */
const textOfUser = (content: string): TaskMessage => ({
  source: "user",
  models_usage: null,
  metadata: {},
  content,
  type: "TextMessage",
});

/** The team that gets a message: one that exists, or one that is made of a component for the message. */
export type Recipient =
  | {
      team: TeamGateway;
      /** Default: asks the team. */
      component?: () => Promise<unknown>;
    }
  | { team?: undefined; component: () => Promise<unknown> };

function componentOf(to: Recipient): () => Promise<unknown> {
  if (to.team === undefined) return to.component;
  const { team, component = async () => unwrap(await team.team()).component } = to;
  return component;
}

/**
 * Reads the task of a request: its files too, wherever they are.
 *
 * @throws ProblemError 422, and for files what reading them is refused with
 */
export async function readTask(
  input: unknown,
  services: MessageServices,
  to: Recipient,
): Promise<StartRunInput["task"]> {
  if (!mayHaveFiles(input)) return parseTask(input, services.limits);
  const { addTexts, withFiles } = await import("./files.ts");
  const task = parseTask(await withFiles(input, "task", to.team, services), services.limits);
  const place = (index: number): string => (Array.isArray(input) ? `task[${index}]` : "task");
  await addTexts(task ?? [], place, componentOf(to), services);
  return task;
}

/** Reads an answer to a question, as {@link readTask} does. @throws ProblemError */
export async function readAnswer(
  input: JsonObject,
  services: MessageServices,
  to: Recipient,
): Promise<JsonObject> {
  if (!mayHaveFiles(input["content"])) return parseAnswer(input, services.limits);
  const { addTexts, withFiles } = await import("./files.ts");
  const content = (await withFiles(input["content"], "content", to.team, services)) as JsonObject;
  const answer = parseAnswer({ ...input, content }, services.limits);
  await addTexts([answer["content"] as JsonObject], () => "content", componentOf(to), services);
  return answer;
}

/** True if a message has parts that are not texts. */
function mayHaveFiles(input: unknown): boolean {
  if (typeof input === "string") return false;
  return [input]
    .flat()
    .some((message) => isJsonObject(message) && [message["content"]].flat().some(isJsonObject));
}

/**
 * Checks the task of a request.
 *
 * @throws ProblemError 422
 */
function parseTask(task: unknown, limits: Limits): StartRunInput["task"] {
  const list = Array.isArray(task);
  const given = list ? (task as unknown[]) : [task];
  if (given.length > limits.max_task_messages) {
    throw refuse("task", [
      { path: "task", message: `must be at most ${limits.max_task_messages} messages` },
    ]);
  }
  const pathOfMessage = (index: number): string => (list ? `task[${index}]` : "task");
  const size = sizeIssues(given, pathOfMessage, limits);
  if (size.length > 0) throw refuse("task", size);
  if (typeof task === "string") return [textOfUser(task)];
  const messages = load("task", task, "task");
  if (messages === null) return null;
  const unknown = messages.flatMap((message, index) =>
    unknownFields(given[index], message, pathOfMessage(index)),
  );
  if (unknown.length > 0) throw refuse("task", unknown);
  return messages.map((message, index) => asGiven(message, given[index]));
}

/** Checks an answer to a question. Its content is a text or a chat message. @throws ProblemError 422 */
function parseAnswer(answer: JsonObject, limits: Limits): JsonObject {
  const { content } = answer;
  if (content === undefined) return answer;
  if (typeof content !== "string" && !isJsonObject(content)) {
    throw refuse("answer", [{ path: "content", message: "must be a text or a chat message" }]);
  }
  const size = sizeIssues([content], () => "content", limits);
  if (size.length > 0) throw refuse("answer", size);
  if (typeof content === "string") return answer;
  const [message] = load("answer", content, "content") ?? [];
  return { ...answer, content: asGiven(message as TaskMessage, content) };
}

function load(what: "task" | "answer", input: unknown, path: string): ChatMessage[] | null {
  try {
    const messages = loadTask(input, LEFT_OUT, path);
    requireKnown(messages ?? [], what, path, Array.isArray(input));
    return messages;
  } catch (error) {
    if (error instanceof TaskError) throw refuse(what, error.issues);
    throw error;
  }
}

/** An unknown type is kept where it is stored; in a request it is a mistake, and no agent would see the message. */
function requireKnown(
  messages: readonly ChatMessage[],
  what: "task" | "answer",
  path: string,
  list: boolean,
): void {
  const issues = messages.flatMap(({ type }, index) =>
    isKnownType(type)
      ? []
      : [
          {
            path: pathOf(list ? [index, "type"] : ["type"], path),
            message: `unknown type ${JSON.stringify(type)}; it must be one of ${CHAT_TYPES.join(", ")}, StructuredMessage[...]`,
          },
        ],
  );
  if (issues.length > 0) throw refuse(what, issues);
}

const CHAT_TYPES: readonly string[] = plainChatMessageSchema.options.map(
  ({ shape }) => shape.type.value,
);

function isKnownType(type: string): boolean {
  return CHAT_TYPES.includes(type) || type.startsWith("StructuredMessage[");
}

function asGiven(message: TaskMessage, input: unknown): TaskMessage {
  return Object.fromEntries(
    Object.entries(message).filter(
      ([key]) =>
        !(key === "id" || key === "created_at") ||
        (isJsonObject(input) && input[key] !== undefined),
    ),
  ) as TaskMessage;
}

/** Loading drops unknown fields; in a request they are more likely a mistake. */
function unknownFields(input: unknown, loaded: object, path: string): Issue[] {
  if (!isJsonObject(input)) return [];
  return Object.keys(input)
    .filter((key) => !Object.hasOwn(loaded, key))
    .map((key) => ({ path: pathOf([key], path), message: "is not a field of this message type" }));
}

/** @throws ProblemError 422 for a field of a request that is larger than a message may be */
export function requireSize(field: string, value: unknown, limits: Limits): void {
  const size = sizeIssues([value], () => field, limits);
  if (size.length > 0) throw invalid("invalid_request", "The body is invalid.", size);
}

const encoder = new TextEncoder();

/** Files and images count apart from the rest of their messages, and all together. */
function sizeIssues(
  messages: readonly unknown[],
  pathOfMessage: (index: number) => string,
  limits: Limits,
): Issue[] {
  let filesBytes = 0;
  return messages.flatMap((message, index) => {
    const files = filesOf(message);
    const json = encoder.encode(JSON.stringify(message ?? null)).length;
    const size = json - files.reduce((sum, data) => sum + data.length, 0);
    const path = pathOfMessage(index);
    if (size > limits.max_message_bytes) {
      const besides = files.length === 0 ? "" : " besides its files";
      const text = `is ${size} bytes of JSON${besides}; at most ${limits.max_message_bytes} are allowed`;
      return [{ path, message: text }];
    }
    if (files.length === 0) return [];
    filesBytes += files.reduce((sum, data) => sum + bytesOfBase64(data), 0);
    if (filesBytes <= limits.max_message_files_bytes) return [];
    const text = `has files and images of ${filesBytes} bytes, with those of earlier messages; at most ${limits.max_message_files_bytes} are allowed (MAX_MESSAGE_FILES_BYTES)`;
    return [{ path, message: text }];
  });
}

/** The base64 of the files and images of a message. */
function filesOf(message: unknown): string[] {
  if (typeof message === "string" || !isJsonObject(message)) return [];
  if (message["type"] !== "MultiModalMessage") return [];
  return [message["content"]]
    .flat()
    .flatMap((part) =>
      isJsonObject(part) && typeof part["data"] === "string" ? [part["data"]] : [],
    );
}

function refuse(what: "task" | "answer", issues: Issue[]): Error {
  return invalid(`invalid_${what}`, `The ${what} is invalid.`, issues);
}
