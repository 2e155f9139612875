import type { WebhookInfo } from "troupe/client";

export type EventName = WebhookInfo["events"][number];

/** What webhooks are called for. */
export const EVENTS: Readonly<Record<EventName, string>> = {
  "run.completed": "a run has completed",
  "run.failed": "a run has failed",
  "run.cancelled": "a run was cancelled",
  "run.waiting": "a run waits for a human",
  "request.created": "a question or an approval was asked for",
  message: "a message was said, once its turn is finished",
};

export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

/** The deliveries of webhooks that belong to a run. */
export const OF_RUNS = "default";
