import type { JsonObject } from "../../core/json.ts";

/** Who is told of the changes of one run in the words of a protocol. Unlike a webhook it has no events to choose. */
export interface PushConfig {
  /** Of this run's. */
  id: string;
  url: string;
  /** Name of the format that notifications are written in. */
  format: string;
  /** What its protocol shows of it besides. */
  about: JsonObject;
}

export interface SecretPushConfig extends PushConfig {
  /** JSON of the headers that each notification has, by name; sealed where it is stored. */
  headers: string;
}
