import { type Issue, TaskError } from "../../core/errors.ts";
import { pathOf } from "../../core/issues.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { MessageOrigin } from "../../core/messages/create.ts";
import { type ChatMessage, plainChatMessageSchema } from "../../core/messages/message.ts";
import { loadTask } from "../../core/messages/load-task.ts";
import type { StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { Limits } from "../limits.ts";
import { invalid } from "../problem.ts";

type TaskMessage = NonNullable<StartRunInput["task"]>[number];

/** Placeholders for ids and times that the client left out: the run makes them, so that a retry gets the same ones. */
const LEFT_OUT: MessageOrigin = { id: () => "", now: () => "1970-01-01T00:00:00.000Z" };

/**
 * Checks the task of a request.
 *
 * @throws ProblemError 422
 */
export function parseTask(task: unknown, limits: Limits): StartRunInput["task"] {
  const list = Array.isArray(task);
  const given = list ? (task as unknown[]) : [task];
  if (given.length > limits.max_task_messages) {
    throw refuse("task", [
      { path: "task", message: `must be at most ${limits.max_task_messages} messages` },
    ]);
  }
  const pathOfMessage = (index: number): string => (list ? `task[${index}]` : "task");
  const size = given.flatMap((one, index) => sizeIssues(one, pathOfMessage(index), limits));
  if (size.length > 0) throw refuse("task", size);
  const messages = load("task", task, "task");
  if (messages === null) return null;
  const unknown = messages.flatMap((message, index) =>
    unknownFields(given[index], message, pathOfMessage(index)),
  );
  if (unknown.length > 0) throw refuse("task", unknown);
  return messages.map((message, index) => asGiven(message, given[index]));
}

/** Checks an answer to a question. Its content is a text or a chat message. @throws ProblemError 422 */
export function parseAnswer(answer: JsonObject, limits: Limits): JsonObject {
  const { content } = answer;
  if (content === undefined) return answer;
  if (typeof content !== "string" && !isJsonObject(content)) {
    throw refuse("answer", [{ path: "content", message: "must be a text or a chat message" }]);
  }
  const size = sizeIssues(content, "content", limits);
  if (size.length > 0) throw refuse("answer", size);
  if (typeof content === "string") return answer;
  const [message] = load("answer", content, "content") ?? [];
  return { ...answer, content: asGiven(message as TaskMessage, content) };
}

function load(what: "task" | "answer", given: unknown, path: string): ChatMessage[] | null {
  try {
    const messages = loadTask(given, LEFT_OUT, path);
    requireKnown(messages ?? [], what, path, Array.isArray(given));
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

function asGiven(message: TaskMessage, given: unknown): TaskMessage {
  return Object.fromEntries(
    Object.entries(message).filter(
      ([key]) =>
        !(key === "id" || key === "created_at") ||
        (isJsonObject(given) && given[key] !== undefined),
    ),
  ) as TaskMessage;
}

/** Loading drops unknown fields; in a request they are more likely a mistake. */
function unknownFields(given: unknown, loaded: object, path: string): Issue[] {
  if (!isJsonObject(given)) return [];
  return Object.keys(given)
    .filter((key) => !Object.hasOwn(loaded, key))
    .map((key) => ({ path: pathOf([key], path), message: "is not a field of this message type" }));
}

/** @throws ProblemError 422 for a field of a request that is larger than a message may be */
export function requireSize(field: string, value: unknown, limits: Limits): void {
  const size = sizeIssues(value, field, limits);
  if (size.length > 0) throw invalid("invalid_request", "The body is invalid.", size);
}

function sizeIssues(message: unknown, path: string, limits: Limits): Issue[] {
  const size = new TextEncoder().encode(JSON.stringify(message ?? null)).length;
  if (size <= limits.max_message_bytes) return [];
  return [
    { path, message: `is ${size} bytes of JSON; at most ${limits.max_message_bytes} are allowed` },
  ];
}

function refuse(what: "task" | "answer", issues: Issue[]): Error {
  return invalid(`invalid_${what}`, `The ${what} is invalid.`, issues);
}
