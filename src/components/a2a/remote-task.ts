import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { A2AError } from "./a2a-error.ts";

// Data of a remote agent; only the used fields are read. Unknown fields and kinds of content are ignored.

/** An artifact as a text. */
export interface RemoteArtifact {
  id: string;
  text: string;
}

/** A task of a remote agent. JSON, because it is recorded. */
export interface RemoteTask {
  id: string;
  contextId: string;
  /** The state without `TASK_STATE_`. */
  state: string;
  /** The text of the status: a question, or the reason of a failure. */
  message: string;
  /**
   * Identifies the status among those with the same state, if the agent provides an id; missing in records of earlier
   * versions.
   */
  mark?: string;
  artifacts: RemoteArtifact[];
}

/** An agent's answer to a message. */
export type Reply = { task: RemoteTask } | { message: { text: string; contextId: string } };

/** A remote agent's error in place of a reply. */
export interface RefusedReply {
  refused: string;
}

/** @throws A2AError for a value that is neither a task nor a message */
export function readReply(result: unknown): Reply {
  if (isJsonObject(result)) {
    if (isJsonObject(result.task)) return { task: readTask(result.task) };
    // Some agents leave out what is around the task or the message.
    if (result.id !== undefined && isJsonObject(result.status)) return { task: readTask(result) };
    const message = isJsonObject(result.message) ? result.message : result;
    if (message === result.message || Array.isArray(message.parts)) {
      return { message: { text: textOf(message.parts), contextId: string(message.contextId) } };
    }
  }
  throw violation("the answer to a message is neither a task nor a message");
}

/** @throws A2AError for a value that is not a task */
export function readTask(value: unknown): RemoteTask {
  const task = isJsonObject(value) && isJsonObject(value.task) ? value.task : value;
  const { id: given, status, artifacts, contextId } = isJsonObject(task) ? task : {};
  const id = typeof given === "number" ? `${given}` : given;
  if (typeof id !== "string" || !isJsonObject(status)) {
    throw violation("a task lacks its id or its status");
  }
  return {
    id,
    contextId: string(contextId),
    state: stateOf(status),
    message: messageText(status),
    mark: markOf(status),
    artifacts: Array.isArray(artifacts) ? artifacts.filter(isJsonObject).map(readArtifact) : [],
  };
}

export function readArtifact(artifact: JsonObject): RemoteArtifact {
  return { id: string(artifact.artifactId), text: textOf(artifact.parts) };
}

/** The state in an event of a stream; WORKING if the event has none. */
export function stateIn(response: unknown): string {
  if (!isJsonObject(response)) return "WORKING";
  const { status } = [response.task, response.statusUpdate].find(isJsonObject) ?? {};
  return isJsonObject(status) ? stateOf(status) : "WORKING";
}

/** True if a task that had asked a question now works, has ended, or asks another question. */
export function hasGoneOn({ state, mark }: RemoteTask, asked: RemoteTask): boolean {
  return state !== asked.state || (asked.mark !== undefined && mark !== asked.mark);
}

/** True if a task's history has the message. Some agents provide no history. */
export function hasMessage(task: unknown, messageId: string): boolean {
  if (!isJsonObject(task) || !Array.isArray(task.history)) return false;
  return task.history.filter(isJsonObject).some((message) => message.messageId === messageId);
}

/** True if a task in this state waits for input or has ended. */
export function isAtRest(state: string): boolean {
  return !["SUBMITTED", "WORKING", "UNSPECIFIED"].includes(state);
}

export function hasEnded(state: string): boolean {
  return ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].includes(state);
}

function stateOf(status: JsonObject): string {
  const state = string(status.state).trim().toUpperCase().replaceAll("-", "_");
  return state.replace(/^TASK_STATE_/, "") || "UNSPECIFIED";
}

function markOf({ message, timestamp }: JsonObject): string {
  const { messageId, parts } = isJsonObject(message) ? message : {};
  return JSON.stringify([messageId ?? null, timestamp ?? null, parts ?? null]);
}

/** The text of a status. Its data parts are for programs. */
export function messageText({ message }: JsonObject): string {
  if (!isJsonObject(message) || !Array.isArray(message.parts)) return "";
  const texts = message.parts.filter(isJsonObject).flatMap(({ text }) => text ?? []);
  return texts.length === 0 ? textOf(message.parts) : texts.map(string).join("\n\n");
}

/** The text of parts. Consecutive text parts are joined; data and files are on lines of their own. */
function textOf(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  let text = "";
  for (const part of parts.filter(isJsonObject)) {
    if (typeof part.text === "string") text += part.text;
    else text += `${text === "" || text.endsWith("\n") ? "" : "\n"}${otherText(part)}\n`;
  }
  return text.endsWith("\n") && !lastIsText(parts) ? text.slice(0, -1) : text;
}

function lastIsText(parts: readonly unknown[]): boolean {
  const last = parts.findLast(isJsonObject);
  return typeof last?.text === "string";
}

function otherText({ data, url, filename, mediaType }: JsonObject): string {
  if (data !== undefined) return JSON.stringify(data);
  if (typeof url === "string") return url;
  return `[${string(filename) || string(mediaType) || "file"}]`;
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function violation(message: string): A2AError {
  return new A2AError("a2a_protocol", `The remote agent violates the protocol: ${message}.`);
}
