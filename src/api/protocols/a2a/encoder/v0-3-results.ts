import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import type {
  A2AMessage,
  Artifact,
  A2APart,
  StreamResponse,
  A2ATask,
  TaskPushNotificationConfig,
  TaskStatus,
} from "../wire/wire.ts";

// The server's objects, in the fields of 0.3.

export function shownTask({
  id,
  contextId,
  status,
  artifacts,
  history,
  metadata,
}: A2ATask): object {
  return {
    kind: "task",
    id,
    contextId,
    status: shownStatus(status),
    ...(artifacts && { artifacts: artifacts.map(shownArtifact) }),
    ...(history && { history: history.map(shownMessage) }),
    metadata,
  };
}

/** An event of a stream. */
export function shownEvent(response: StreamResponse): object {
  if ("task" in response) return shownTask(response.task);
  if ("statusUpdate" in response) {
    const { status, ...rest } = response.statusUpdate;
    const legacyStatus = shownStatus(status);
    return { kind: "status-update", ...rest, status: legacyStatus, final: isFinal(status) };
  }
  const { artifact, ...rest } = response.artifactUpdate;
  return { kind: "artifact-update", ...rest, artifact: shownArtifact(artifact) };
}

export function shownPushConfig({ taskId, ...config }: TaskPushNotificationConfig): object {
  const { authentication, ...rest } = config;
  const schemes = authentication && { authentication: { schemes: [authentication.scheme] } };
  return { taskId, pushNotificationConfig: { ...rest, ...schemes } };
}

function shownStatus({ state, message, timestamp }: TaskStatus): object {
  return {
    state: state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-"),
    ...(message && { message: shownMessage(message) }),
    ...(timestamp !== undefined && { timestamp }),
  };
}

/** True if the stream ends with it: also if the task asks something. */
function isFinal({ state }: TaskStatus): boolean {
  return state !== "TASK_STATE_SUBMITTED" && state !== "TASK_STATE_WORKING";
}

function shownMessage({ role, parts, ...rest }: A2AMessage): object {
  return {
    kind: "message",
    ...rest,
    role: role === "ROLE_USER" ? "user" : "agent",
    parts: parts.map(shownPart),
  };
}

function shownArtifact({ parts, ...rest }: Artifact): object {
  return { ...rest, parts: parts.map(shownPart) };
}

function shownPart({ text, raw, url, data, mediaType, filename, metadata }: A2APart): object {
  const about = metadata === undefined ? {} : { metadata };
  if (text !== undefined) return { kind: "text", text, ...about };
  if (data !== undefined) return { kind: "data", data: asObject(data), ...about };
  const file = {
    ...(raw !== undefined && { bytes: raw }),
    ...(url !== undefined && { uri: url }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(filename !== undefined && { name: filename }),
  };
  return { kind: "file", file, ...about };
}

/** Data of 0.3 is an object. */
function asObject(data: Json): JsonObject {
  return isJsonObject(data) ? data : { value: data };
}
