import type { WebhookInfo } from "troupe/client";

export type EventName = WebhookInfo["events"][number];

/** The events of webhooks. */
export const EVENTS: Readonly<Record<EventName, string>> = {
  "run.completed": "a run completes",
  "run.failed": "a run fails",
  "run.cancelled": "a run is cancelled",
  "run.waiting": "a run waits for a human",
  "request.created": "a question or an approval is requested",
  message: "a message is added, once its turn is finished",
};

export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

/** The deliveries of webhooks that belong to a run. */
export const OF_RUNS = "default";
