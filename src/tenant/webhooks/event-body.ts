import type { JsonObject } from "../../core/json.ts";
import type { WebhookEvent } from "../../contract/webhook.ts";

/** The most characters of a body: receivers get the event and fetch large parts themselves. */
const MOST_BODY = 65_536;

/** Characters of a field that stays in a body that was too large. */
const MOST_FIELD = 2_000;

/** The Standard Webhooks body of an event. Data that is too large is reduced to its small fields and `truncated`. */
export function eventBody(event: {
  type: WebhookEvent["type"] | "webhook.test";
  timestamp: string;
  data: JsonObject;
}): string {
  const { type, timestamp, data } = event;
  const body = JSON.stringify({ type, timestamp, data });
  if (body.length <= MOST_BODY) return body;
  const small = Object.entries(data).filter(
    ([, value]) => JSON.stringify(value).length <= MOST_FIELD,
  );
  return JSON.stringify({
    type,
    timestamp,
    data: { ...Object.fromEntries(small), truncated: true },
  });
}
