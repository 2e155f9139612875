import type { WebhookInfo } from "troupe/client";

export type EventName = WebhookInfo["events"][number];

/** The events of webhooks. */
export const EVENTS: Readonly<Record<EventName, string>> = {
  "run.completed": "A run completes",
  "run.failed": "A run fails",
  "run.cancelled": "A run is cancelled",
  "run.waiting": "A run waits for a person",
  "request.created": "An agent asks a question or for an approval",
  message: "A message is added (when its turn ends)",
};

export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

/** The deliveries of webhooks that belong to a run. */
export const OF_RUNS = "default";
