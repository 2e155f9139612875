import type { JsonObject } from "../../core/json.ts";
import type { ListedRequest, ListedRun } from "../directory.ts";

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

/** A change of a run: it waits for a human, or is over. */
export interface RunChange {
  run: ListedRun;
  /** The open questions; as many as fit. */
  requests: readonly ListedRequest[];
  /** The message that a completed run has answered with; null where it is too large, or there is none. */
  answer: JsonObject | null;
}

/** What is sent of a change. */
export interface PushBody {
  contentType: string;
  body: string;
}
