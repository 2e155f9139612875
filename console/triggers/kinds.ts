import type { PutTrigger } from "troupe/client";

export type TriggerKind = PutTrigger["kind"];

/** The senders of events, in the order of the form. */
export const KINDS: Readonly<Record<TriggerKind, string>> = {
  github: "GitHub",
  stripe: "Stripe",
  slack: "Slack",
  standard: "Standard Webhooks",
  email: "E-mail",
  plain: "A program",
};

export const KIND_NAMES = Object.keys(KINDS) as TriggerKind[];

/** The kinds whose sender makes the secret. */
export const ISSUED: ReadonlySet<TriggerKind> = new Set(["stripe", "slack"]);
