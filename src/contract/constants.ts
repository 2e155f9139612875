import { APPROVAL_SCOPE } from "../core/rules/approval-scope.ts";

// Names and limits that the schemas and the objects share. This module has no schemas, so that a start of the Worker
// makes none.

/** The scopes of a shared conversation. `teams:read` includes all of them. */
export const SHARED_SCOPES = [
  "conversation:read",
  "tools:read",
  "files:read",
  "component:read",
] as const;

/** The permissions of a credential. `requests:write` answers humans' questions and nothing else. */
export const SCOPES = [
  "teams:read",
  "teams:write",
  "runs:read",
  "runs:write",
  "requests:write",
  "keys:write",
  "usage:read",
  ...SHARED_SCOPES,
] as const;

/** The right to answer approvals whose rule names it, in addition to `requests:write`. */
export type ApprovalScope = `approvals:${string}`;

export type Scope = (typeof SCOPES)[number] | ApprovalScope;

/** True for a scope such as `approvals:finance`. */
export function isApprovalScope(value: unknown): value is ApprovalScope {
  return typeof value === "string" && APPROVAL_SCOPE.test(value);
}

export function isScope(value: unknown): value is Scope {
  return (SCOPES as readonly unknown[]).includes(value) || isApprovalScope(value);
}

/** The longest life of a team token in seconds: a day, or 90 days with scopes of shared conversations only. */
export const LONGEST_TOKEN_LIFE = 86_400;
export const LONGEST_SHARE_LIFE = 90 * LONGEST_TOKEN_LIFE;

/** The longest name of a user, in characters. */
export const LONGEST_USER = 200;

/** The most bytes of a document of a collection. */
export const MAX_DOCUMENT_BYTES = 20_000_000;
/** The most bytes of a file that is uploaded over OpenAI's API. */
export const MAX_UPLOADED_BYTES = 20_000_000;
/** The files that a tenant may have, and their bytes where they lie in its object, which has 10 GB at most. */
export const MOST_FILES = 10_000;
export const MOST_FILE_BYTES_IN_OBJECT = 4_000_000_000;
/** The most chunks of a document: those of 20 MB of any text without headings. */
export const MAX_DOCUMENT_CHUNKS = 50_000;

/** The most bytes of a skill in JSON, where base64 makes them longer. */
export const MAX_SKILL_JSON_BYTES = 16_000_000;
/** The skills that a tenant may have, and the versions of one. */
export const MOST_SKILLS = 1_000;
export const MOST_SKILL_VERSIONS = 1_000;

/** Runs of a team that may be queued at once. */
export const MAX_QUEUED_RUNS = 100;

/** Messages into runs of a team that its agents have not read yet. */
export const MAX_UNREAD_MESSAGES = 1_000;

/** The characters of these messages together: the object holds them in memory. */
export const MAX_UNREAD_CHARACTERS = 4_000_000;

/** Tools that the client of a run may have. */
export const MAX_CLIENT_TOOLS = 128;

/** Push notification configs that a run may have. */
export const MAX_PUSH_CONFIGS = 10;

/** Logins at MCP servers that a tenant may have of its own, and each of its users. */
export const MOST_CONNECTIONS = 100;

/** Logins at MCP servers that a tenant and its users may have together. */
export const MOST_CONNECTIONS_IN_ALL = 10_000;

/** The events that a webhook can subscribe to. */
export const WEBHOOK_EVENTS = [
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.waiting",
  "request.created",
  "message",
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** The most receivers of messages in one list. */
export const MOST_RECEIVERS = 10;

/** The id of the tenant's own secret, and of deliveries of webhooks that belong to a run. */
export const DEFAULT_WEBHOOK = "default";

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The senders of events that a trigger can take. */
export const TRIGGER_KINDS = ["github", "stripe", "slack", "standard", "email", "plain"] as const;

export type TriggerKind = (typeof TRIGGER_KINDS)[number];

/** The outcomes of a delivery to a trigger. */
export const TRIGGER_OUTCOMES = ["ran", "filtered", "skipped", "refused"] as const;

/** The triggers that a team can have. */
export const MOST_TRIGGERS = 50;

/** The most characters of a trigger's task. */
export const LONGEST_TRIGGER_TASK = 20_000;

/** The most characters of the description of a team's tool, and of each of its schemas. */
export const LONGEST_TOOL_DESCRIPTION = 4_000;
export const LONGEST_TOOL_SCHEMA = 16_000;

/** The form of every id in paths and bodies. */
export const ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The most bytes of a part of a state. An isolate has 128 MB, a body 100 MB at most; a part is read and written line by
 * line.
 */
export const MAX_STATE_PART_BYTES = 50_000_000;
/** A part being written ends with the first page of rows after this size. */
export const FULL_STATE_PART_BYTES = 45_000_000;
/** The largest line: a text of a megabyte as base64, or a row of a log. */
export const MAX_STATE_LINE_BYTES = 4_000_000;
/** The most bytes of a state in AutoGen's single document: calls between objects carry 32 MiB. */
export const MAX_STATE_DOCUMENT_BYTES = 25_000_000;
/** The most parts of one state. */
export const MOST_STATE_PARTS = 1_000;

/** The latest versions of a team's component that are kept; those with a label stay beyond them. */
export const MOST_VERSIONS = 200;

/** The key of metadata by which the console marks the forks of its playground: with `true`. */
export const PLAYGROUND = "playground";

/** Characters of a run's task where only its beginning is asked for. */
export const PREVIEW_CHARACTERS = 300;

/** The most retryable runs that a group of failures names. */
export const MOST_LATEST_FAILURES = 200;

/** The message of the error with which the calls of an object end that restarts for a recovery. */
export const RESTARTED = "restarted for a recovery";
