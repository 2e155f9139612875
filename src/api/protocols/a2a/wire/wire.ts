import type { Json, JsonObject } from "../../../../core/json.ts";

// The objects of A2A 1.0 as its JSON has them (ProtoJSON of a2a.proto), as far as the server sends them.

export type TaskState =
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_INPUT_REQUIRED";

/** One of text, raw (base64), url and data. */
export interface A2APart {
  text?: string;
  raw?: string;
  url?: string;
  data?: Json;
  mediaType?: string;
  filename?: string;
  metadata?: JsonObject;
}

export interface A2AMessage {
  messageId: string;
  contextId: string;
  taskId: string;
  role: "ROLE_USER" | "ROLE_AGENT";
  parts: A2APart[];
  metadata?: JsonObject;
}

export interface Artifact {
  artifactId: string;
  name?: string;
  parts: A2APart[];
  metadata?: JsonObject;
}

export interface TaskStatus {
  state: TaskState;
  message?: A2AMessage;
  /** ISO 8601. */
  timestamp?: string;
}

export interface A2ATask {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: A2AMessage[];
  metadata: JsonObject;
}

export interface TaskStatusUpdate {
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: JsonObject;
}

export interface TaskArtifactUpdate {
  taskId: string;
  contextId: string;
  artifact: Artifact;
  append?: boolean;
  lastChunk?: boolean;
}

/** One of them. */
export type StreamResponse =
  | { task: A2ATask }
  | { statusUpdate: TaskStatusUpdate }
  | { artifactUpdate: TaskArtifactUpdate };

/** The address that gets the changes of a task. */
export interface TaskPushNotificationConfig {
  id: string;
  taskId: string;
  url: string;
  /** Without credentials: they are not shown. */
  authentication?: { scheme: string };
}

export type RpcId = string | number | null;

/** The JSON of a JSON-RPC response. */
export function rpcResult(id: RpcId, result: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}
