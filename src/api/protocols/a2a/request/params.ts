import * as z from "zod";
import { webhookUrlSchema } from "../../../../contract/webhook-fields.ts";
import { listIssues, issuesOf } from "../../../../core/issues.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { A2AError } from "../wire/errors.ts";

const object = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be a JSON object",
);

const KINDS = ["text", "raw", "url", "data"] as const;

const partSchema = z
  .object({
    text: z.string().optional(),
    raw: z.string().optional(),
    url: z.string().optional(),
    data: z.unknown().optional(),
    mediaType: z.string().optional(),
    filename: z.string().optional(),
  })
  .refine(
    (part) => KINDS.filter((kind) => part[kind] !== undefined).length === 1,
    `must have one of ${KINDS.join(", ")}; in version 0.3 the kind text, file or data, and what it names`,
  );

export type SentPart = z.output<typeof partSchema>;

/** A list of texts. The fields that have one have no effect here. */
const texts = z.array(z.string()).optional();

/** Characters of a `contextId` that a client makes up. */
const MOST_CONTEXT_ID = 256;

const messageSchema = z
  .object({
    messageId: z.string().min(1).max(255),
    contextId: z.string().max(MOST_CONTEXT_ID).optional(),
    taskId: z.string().optional(),
    role: z.literal("ROLE_USER", 'must be "ROLE_USER", in version 0.3 "user"'),
    parts: z.array(partSchema).min(1, "must have at least one part"),
    metadata: object.optional(),
    extensions: texts,
    referenceTaskIds: texts,
  })
  .transform((given) => {
    const { extensions: _extensions, referenceTaskIds: _ids, ...message } = given;
    return message;
  });

export type SentMessage = z.output<typeof messageSchema>;

const historyLength = z.number().int().min(0).optional();

/** Visible characters and spaces between them: what a header can have. */
const HEADER = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

const secret = z
  .string()
  .max(4_000)
  .regex(HEADER, "must be visible ASCII characters")
  .or(z.literal(""))
  .optional();

const pushConfigFields = {
  id: z.string().max(255).optional(),
  url: webhookUrlSchema,
  token: secret,
  authentication: z
    .object({
      scheme: z
        .string()
        .regex(/^[\w!#$%&'*+.^`|~-]{1,64}$/, "must be an HTTP authentication scheme"),
      credentials: secret,
    })
    .nullish(),
};

const pushConfigSchema = z.object(pushConfigFields);

export type GivenPushConfig = z.output<typeof pushConfigSchema>;

export const taskPushConfigSchema = z.object({ taskId: z.string(), ...pushConfigFields });

export const pushConfigIdSchema = z.object({ taskId: z.string(), id: z.string() });

export const pushConfigsSchema = z.object({
  taskId: z.string(),
  pageSize: z.number().int().min(0).optional(),
  pageToken: z.string().optional(),
});

export const sendMessageSchema = z.object({
  message: messageSchema,
  configuration: z
    .object({
      acceptedOutputModes: texts,
      historyLength,
      returnImmediately: z.boolean().default(false),
      taskPushNotificationConfig: pushConfigSchema.nullish(),
    })
    .prefault({}),
  metadata: object.default({}),
});

export const getTaskSchema = z.object({ id: z.string(), historyLength });

export const taskIdSchema = z.object({ id: z.string() });

/** All states of the protocol, including those that tasks never have here. */
const STATES = [
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
] as const;

export const listTasksSchema = z
  .object({
    contextId: z.string().optional(),
    status: z.enum(STATES).optional(),
    pageSize: z.number().int().min(1).max(100).default(50),
    pageToken: z.string().optional(),
    historyLength: historyLength.default(0),
    statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
    includeArtifacts: z.boolean().default(false),
  })
  .prefault({});

/** @throws A2AError for invalid parameters */
export function parseParams<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
): z.output<Schema> {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const issues = issuesOf(result.error).map(({ path, message }) => ({
    path: path === "" ? "params" : path,
    message,
  }));
  throw new A2AError("INVALID_PARAMS", `The params are invalid: ${listIssues(issues)}`);
}
