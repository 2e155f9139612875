// Names and limits that the schemas and the objects share. Without schemas, which a start of the Worker would have to make.

/** What a credential may do. `requests:write` answers humans' questions and nothing else. */
export const SCOPES = [
  "teams:read",
  "teams:write",
  "runs:read",
  "runs:write",
  "requests:write",
  "keys:write",
  "usage:read",
] as const;

export type Scope = (typeof SCOPES)[number];

/** Runs of a team that may be queued at once. */
export const MAX_QUEUED_RUNS = 100;

/** Tools that the client of a run may have. */
export const MAX_CLIENT_TOOLS = 128;

/** Push notification configs that a run may have. */
export const MAX_PUSH_CONFIGS = 10;

/** What a webhook can be told of. */
export const WEBHOOK_EVENTS = [
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.waiting",
  "request.created",
  "message",
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** Id of the tenant's own secret, and of the deliveries of webhooks that belong to a run. */
export const DEFAULT_WEBHOOK = "default";

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The form of every id in paths and bodies. */
export const ID = /^[A-Za-z0-9_-]{1,64}$/;
