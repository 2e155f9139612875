import type { JsonObject } from "../../core/json.ts";
import type { ListedRequest, ListedRun } from "../directory.ts";

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
