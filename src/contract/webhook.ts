import * as z from "zod";
import { DELIVERY_STATUSES, WEBHOOK_EVENTS, type WebhookEventType } from "./constants.ts";
import type { JsonObject } from "../core/json.ts";
import type { TraceContext } from "../core/steps/step-attempt.ts";
import { idSchema, timeSchema } from "./common.ts";
import { CONTROL, eventsSchema, webhookUrlSchema } from "./webhook-fields.ts";
import type { SecretPushConfig } from "./push.ts";
import type { StoredReceiver } from "./notify.ts";

const LONGEST_DESCRIPTION = 500;

export const putWebhookSchema = z.strictObject({
  url: webhookUrlSchema,
  events: eventsSchema,
  team: idSchema.nullable().default(null).describe("Only of this team; null: of all teams."),
  description: z
    .string()
    .max(LONGEST_DESCRIPTION, `must be at most ${LONGEST_DESCRIPTION} characters`)
    .refine((text) => !CONTROL.test(text), "must not contain control characters")
    .nullable()
    .default(null),
  enabled: z.boolean().default(true),
});

export type PutWebhook = z.output<typeof putWebhookSchema>;

export const webhookSchema = z.object({
  id: idSchema,
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  team: idSchema.nullable(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  disabled_reason: z
    .string()
    .nullable()
    .describe("Why the service disabled it; null when it is enabled or its owner disabled it."),
  disabled_at: timeSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

export type WebhookInfo = z.output<typeof webhookSchema>;

const secret = z
  .string()
  .describe("whsec_ and 32 bytes as base64, as Standard Webhooks libraries take it.");

/** The answers that have the secret itself. */
export const createdWebhookSchema = webhookSchema.extend({ secret: secret.optional() });

export type PutWebhookAnswer = z.output<typeof createdWebhookSchema> & { created: boolean };

export const webhookSecretSchema = z.object({
  secret,
  previous_secret_expires_at: timeSchema
    .nullable()
    .describe("Until then deliveries are signed with the secret before, too."),
});

export type WebhookSecret = z.output<typeof webhookSecretSchema>;

export const rotateSecretSchema = z.strictObject({
  revoke_previous: z
    .boolean()
    .default(false)
    .describe("Whether the secret before ends now, because it leaked, and not in a day."),
});

export const webhooksSchema = z.object({ webhooks: z.array(webhookSchema) });

const attemptResult = {
  status: z.number().int().nullable().describe("The status of the answer; null: there was none."),
  error: z.string().nullable().describe("Why it failed; null when it was delivered."),
  response: z.string().nullable().describe("The beginning of a failed answer's body."),
  duration_ms: z.number().int().min(0),
};

const attemptSchema = z.object({ at: timeSchema, ...attemptResult });

export type WebhookAttempt = z.output<typeof attemptSchema>;

export const deliverySchema = z.object({
  id: z.string().describe("The header webhook-id of all its attempts."),
  type: z.enum(WEBHOOK_EVENTS),
  team_id: idSchema,
  run_id: z.string(),
  url: z.string(),
  receiver: z
    .object({ id: z.string(), kind: z.enum(["slack", "telegram", "email", "webhook"]) })
    .optional()
    .describe("The receiver of the team, schedule or trigger that it goes to."),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.number().int().min(0),
  last_attempt: attemptSchema.nullable(),
  next_attempt_at: timeSchema
    .nullable()
    .describe("Null unless pending. Later when an earlier delivery of the team is still pending."),
  created_at: timeSchema,
});

export type WebhookDelivery = z.output<typeof deliverySchema>;

export const deliveryPageSchema = z.object({
  deliveries: z.array(deliverySchema),
  next_cursor: z.string().nullable(),
});

export type DeliveryPage = z.output<typeof deliveryPageSchema>;

export const webhookTestSchema = z.object({ delivered: z.boolean(), ...attemptResult });

export type WebhookTest = z.output<typeof webhookTestSchema>;

const SECRET = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;

/** Standard Webhooks asks for 24 to 64 bytes. */
function isSecret(text: string): boolean {
  const [, encoded = ""] = SECRET.exec(text) ?? [];
  const bytes = Math.floor((encoded.replaceAll("=", "").length * 3) / 4);
  return encoded.length % 4 === 0 && bytes >= 24 && bytes <= 64;
}

/** The webhook of one run. */
export const runWebhookSchema = z.strictObject({
  url: webhookUrlSchema,
  events: eventsSchema.default(["run.completed", "run.failed", "run.cancelled", "run.waiting"]),
  secret: z
    .string()
    .refine(isSecret, "must be whsec_ and 24 to 64 bytes as base64")
    .nullable()
    .default(null)
    .describe("Left out, the tenant's secret signs: GET /v1/webhooks/default/secret."),
});

export type RunWebhook = z.output<typeof runWebhookSchema>;

/** The webhook of a run as its team stores it. */
export interface StoredRunWebhook {
  url: string;
  events: readonly WebhookEventType[];
  /** The sealed secret; null for the tenant's. */
  secret: string | null;
}

/** An event that a tenant's object has to deliver. */
export interface WebhookEvent {
  type: WebhookEventType;
  team_id: string;
  run_id: string;
  /** When it happened, ISO 8601. */
  timestamp: string;
  /** The run, request or message as the API shows it, with `team_id` and `run_id`. */
  data: JsonObject;
  /** The webhook of its run. */
  webhook?: StoredRunWebhook | null;
  /** Receivers of messages about its run. */
  notify?: readonly StoredReceiver[];
  /** Push notification configs of its run, and the {@link RunChange} that they get. */
  push?: { configs: readonly SecretPushConfig[]; change: JsonObject };
  /** Trace context of the request that started the run. */
  trace?: TraceContext;
  /** The hop count of a run that a receiver starts. */
  hops?: number;
}
