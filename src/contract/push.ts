import type { JsonObject } from "../core/json.ts";

/** A receiver for the changes of one run in a protocol's format. Unlike a webhook, it has no choice of events. */
export interface PushConfig {
  /** Id among this run's configs. */
  id: string;
  url: string;
  /** Name of the format that notifications are written in. */
  format: string;
  /** More fields that its protocol shows. */
  about: JsonObject;
}

export interface SecretPushConfig extends PushConfig {
  /** JSON of the headers that each notification has, by name; sealed where it is stored. */
  headers: string;
}
