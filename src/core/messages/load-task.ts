import { MessageError, TaskError } from "../errors.ts";
import { isChatMessage } from "./views.ts";
import type { ChatMessage } from "./message.ts";
import { createMessage, type MessageOrigin } from "./create.ts";
import { loadMessage } from "./message-factory.ts";

/**
 * A task as the messages that start a run: null continues without one; a text is said by `user`; a chat message or a
 * list of them stand for themselves.
 *
 * @param path path of the task in error messages
 * @throws TaskError when it is anything else: an empty list, an event, a malformed message
 */
export function loadTask(
  task: unknown,
  origin: MessageOrigin,
  path = "task",
): ChatMessage[] | null {
  if (task === null) return null;
  if (typeof task === "string") {
    return [createMessage(origin, { type: "TextMessage", source: "user", content: task })];
  }
  if (!Array.isArray(task)) return [loadTaskMessage(task, origin, path)];
  if (task.length === 0)
    throw refuse(path, "the list is empty; leave the task null to continue without one");
  return task.map((item, index) => loadTaskMessage(item, origin, `${path}[${index}]`));
}

function loadTaskMessage(input: unknown, origin: MessageOrigin, path: string): ChatMessage {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw refuse(path, "must be null, a text, a chat message or a list of chat messages");
  }
  let message;
  try {
    message = loadMessage(input, origin, path);
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    throw new TaskError(`the task is not acceptable: ${error.message}`, {
      issues: error.issues,
      cause: error,
    });
  }
  if (!isChatMessage(message)) {
    throw refuse(`${path}.type`, `${message.type} is an event; a task is made of chat messages`);
  }
  return message;
}

function refuse(path: string, message: string): TaskError {
  return new TaskError(`the task is not acceptable: ${path}: ${message}`, {
    issues: [{ path, message }],
  });
}
