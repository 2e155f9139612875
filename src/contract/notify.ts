import * as z from "zod";
import { textSchema, timeSchema } from "./common.ts";
import { MOST_RECEIVERS, WEBHOOK_EVENTS } from "./constants.ts";
import type { TokenMaker } from "./common.ts";
import { eventsSchema, webhookUrlSchema } from "./webhook-fields.ts";

/** The marker that stands for a secret where receivers are shown, also inside of a URL. */
const MASKED = /\*{10}/;

const idOfReceiver = textSchema(64)
  .optional()
  .describe(
    "As the list shows it: names the receiver whose masked secret stays. Left out, the only receiver that looks the same.",
  );

const on = eventsSchema
  .default(["request.created", "run.completed", "run.failed"])
  .describe("The events of which it gets a message.");

const receiverUrlSchema = webhookUrlSchema.describe(
  "https; http only on a server for this machine. It is shown without what follows the host; given like that, the stored one stays.",
);

const slackSchema = z.strictObject({
  id: idOfReceiver,
  kind: z.literal("slack"),
  url: z
    .union([receiverUrlSchema, z.literal("**********")])
    .describe("The address of an incoming webhook of Slack."),
  on,
});

const telegramSchema = z.strictObject({
  id: idOfReceiver,
  kind: z.literal("telegram"),
  token: z
    .string()
    .max(200, "must be at most 200 characters")
    .refine(
      (token) => MASKED.test(token) || /^[A-Za-z0-9:_-]+$/.test(token),
      "must be the token of a bot as BotFather shows it, for example 123456:ABC-DEF",
    )
    .describe("The token of the bot. It is shown as **********; given like that, it stays."),
  chat: z
    .union(
      [
        z
          .string()
          .regex(
            /^(@[A-Za-z0-9_]{1,64}|-?\d{1,20})$/,
            "must be the id of a chat, or the name of a channel such as @team",
          ),
        z.number().int(),
      ],
      "must be the id of a chat, or the name of a channel such as @team",
    )
    .transform(String)
    .describe("The id of a chat, or @ and the name of a channel."),
  on,
});

const emailSchema = z.strictObject({
  id: idOfReceiver,
  kind: z.literal("email"),
  to: z
    .string()
    .max(254, "must be at most 254 characters")
    .regex(
      /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+$/,
      "must be one e-mail address without a name, for example ada@example.com",
    ),
  on,
});

const webhookSchema = z.strictObject({
  id: idOfReceiver,
  kind: z.literal("webhook"),
  url: z
    .union([receiverUrlSchema, z.literal("**********")])
    .describe("Signed with the tenant's secret: GET /v1/webhooks/default/secret."),
  on,
});

/** Receivers of messages as a request gives them. */
export const receiversSchema = z
  .array(z.discriminatedUnion("kind", [slackSchema, telegramSchema, emailSchema, webhookSchema]))
  .max(MOST_RECEIVERS, `must name at most ${MOST_RECEIVERS} receivers`)
  .superRefine((receivers, context) => {
    for (const [index, { id }] of receivers.entries()) {
      if (id === undefined || receivers.findIndex((one) => one.id === id) === index) continue;
      context.addIssue({ code: "custom", path: [index, "id"], message: "is given twice" });
    }
  });

export type Receiver = z.output<typeof receiversSchema>[number];

/** A receiver as a request gives it: Slack, Telegram, an e-mail address, or a webhook. */
export type ReceiverInput = z.input<typeof receiversSchema>[number];

export const putNotifySchema = z.strictObject({ notify: receiversSchema });

export const shownReceiverSchema = z
  .object({
    id: z.string(),
    kind: z.enum(["slack", "telegram", "email", "webhook"]),
    url: z.string().optional(),
    token: z.string().optional(),
    chat: z.string().optional(),
    to: z.string().optional(),
    on: z.array(z.enum(WEBHOOK_EVENTS)),
  })
  .describe("Without its secrets. It can be sent back as it is.");

/** Receivers as the API shows them. */
export const shownReceiversSchema = z.array(shownReceiverSchema);

export type ShownReceiver = z.output<typeof shownReceiverSchema>;

export const notifySchema = z.object({
  notify: shownReceiversSchema,
  states: z
    .array(
      z.object({
        id: z.string(),
        links: z
          .boolean()
          .describe(
            "Whether its messages about open questions carry a link that answers: if the credential that named it may answer.",
          ),
        disabled_reason: z.string().nullable(),
        disabled_at: timeSchema.nullable(),
      }),
    )
    .describe("A disabled receiver gets nothing until it is put again."),
});

export type NotifyInfo = z.output<typeof notifySchema>;

/** The circumstances under which receivers were named: they decide which links their messages carry. */
export interface NotifyOrigin {
  /** The address of the service as the credential has reached it. */
  base_url: string;
  /** The creation of the team; a later team with the same id has another one. */
  creation: string;
  /** The name of the credential, else its kind. */
  made_by: string;
  /** The id of the caller. */
  maker: string;
  /** The key with which links end; null for none. */
  ends_with: TokenMaker | null;
  /** The longest life of a link in seconds. */
  life: number;
  /** Links end then at the latest, ISO 8601; null for never. */
  until: string | null;
  /** True if the credential may answer questions itself, so that its receivers may. */
  answers: boolean;
}

/** Receivers that a request names, not yet sealed. */
export interface GivenReceivers {
  receivers: readonly Receiver[];
  origin: NotifyOrigin;
}

/** A receiver as it is stored, with its runs and deliveries, too. */
export interface StoredReceiver {
  /** Its id is unique in its list. */
  shown: ShownReceiver;
  /** The sealed URL or token; null for e-mail. */
  secret: string | null;
  origin: NotifyOrigin;
  /** For an answer to an e-mail: the one that it answers. */
  thread?: MailThread;
}

/** The headers of an e-mail by which its answers are shown below it. */
export interface MailThread {
  subject: string;
  message_id: string;
  /** The `References` of that e-mail. */
  references: readonly string[];
  /** The address to which that e-mail went, from which the answer comes. Left out, the sender of all e-mails. */
  from?: string;
}
