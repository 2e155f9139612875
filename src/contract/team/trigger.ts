import * as z from "zod";
import { MOST_TRIGGERS, TRIGGER_KINDS, TRIGGER_OUTCOMES } from "../constants.ts";
import { idSchema, timeSchema } from "../common.ts";
import { valueConditionsSchema } from "../../core/rules/condition.ts";
import { startRunSchema } from "../run.ts";
import { receiversSchema, shownReceiversSchema } from "../notify.ts";
import { userSchema } from "../user.ts";
import { taskTemplateSchema } from "../task-template.ts";
import { secretIssue } from "./trigger-secret.ts";

const secretSchema = z
  .string()
  .min(8, "must have 8 to 256 characters")
  .max(256, "must have 8 to 256 characters")
  .regex(/^\P{Cc}+$/u, "must not contain control characters")
  .describe(
    "The sender's secret. Stripe and Slack issue theirs; for the others one is made if it is left out. In a change, left out, it stays.",
  );

const taskSchema = taskTemplateSchema
  .describe(
    "The task of a run, with values of the event in the places of {{ issue.title }}. What is missing is empty.",
  )
  .meta({ examples: ["Triage the issue {{ issue.title }}: {{ issue.body }}"] });

const filterSchema = z
  .strictObject({
    when: valueConditionsSchema.min(1, "must have at least one condition"),
  })
  .describe("A run starts if any condition holds of the event; without a filter, always.");

export const putTriggerSchema = z
  .strictObject({
    kind: z.enum(TRIGGER_KINDS, `must be one of ${TRIGGER_KINDS.join(", ")}`),
    secret: secretSchema.optional(),
    task: taskSchema,
    on_conflict: startRunSchema.shape.on_conflict
      .unwrap()
      .default("queue")
      .describe("As of a run, while the team is busy; here queue is the default."),
    filter: filterSchema.nullable().default(null),
    user: userSchema.nullable().optional().describe("For whom its runs are."),
    notify: receiversSchema
      .optional()
      .describe(
        "Receivers of messages about its runs, beside those of the team. In a change, left out, they stay.",
      ),
  })
  .superRefine(({ kind, secret }, context) => {
    const message = secret === undefined ? undefined : secretIssue(kind, secret);
    if (message !== undefined) context.addIssue({ code: "custom", path: ["secret"], message });
  });

export type PutTrigger = z.output<typeof putTriggerSchema>;

export const triggerSchema = z.object({
  id: idSchema,
  kind: z.enum(TRIGGER_KINDS),
  address: z.string().describe("Where events are sent: a URL, or an e-mail address."),
  task: z.string(),
  on_conflict: putTriggerSchema.shape.on_conflict.unwrap(),
  filter: filterSchema.nullable(),
  user: z.string().nullable(),
  notify: shownReceiversSchema.describe("Left out for none.").optional(),
  created_at: timeSchema,
});

export type TriggerInfo = z.output<typeof triggerSchema>;

/** The answer that has a secret which was made for the trigger. */
export const createdTriggerSchema = triggerSchema.extend({
  secret: z.string().describe("Shown once, if it was made here.").optional(),
});

export type CreatedTrigger = z.output<typeof createdTriggerSchema>;

export const triggerPageSchema = z.object({
  triggers: z.array(triggerSchema).max(MOST_TRIGGERS),
  next_cursor: z.string().nullable(),
});

export type TriggerPage = z.output<typeof triggerPageSchema>;

export const rotateTriggerSchema = z.strictObject({
  secret: secretSchema.optional(),
  revoke_previous: z
    .boolean()
    .default(false)
    .describe("Ends the secret before it now, instead of in a day."),
});

export type RotateTrigger = z.output<typeof rotateTriggerSchema>;

export const triggerSecretSchema = z.object({
  secret: z.string().describe("Shown once, if it was made here.").optional(),
  previous_secret_expires_at: timeSchema.nullable(),
});

export type TriggerSecret = z.output<typeof triggerSecretSchema>;

export const triggerDeliverySchema = z.object({
  id: z.string().describe("The sender's id of the delivery, or one that was made."),
  at: timeSchema,
  status: z.enum(TRIGGER_OUTCOMES),
  run: z.string().optional(),
  reason: z.string().describe("The code of why it was skipped or refused.").optional(),
});

export type TriggerDelivery = z.output<typeof triggerDeliverySchema>;

export const triggerDeliveryPageSchema = z.object({
  deliveries: z.array(triggerDeliverySchema),
  next_cursor: z.string().nullable(),
});

export type TriggerDeliveryPage = z.output<typeof triggerDeliveryPageSchema>;

/** The answer to the sender of an event. */
export const receivedEventSchema = z.union([
  z.object({ run: z.string() }),
  z.object({ filtered: z.literal(true) }),
  z.object({ skipped: z.string() }),
  z.object({ challenge: z.string() }),
]);
