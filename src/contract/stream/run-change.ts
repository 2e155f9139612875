import type { JsonObject } from "../../core/json.ts";
import type { ListedRequest, ListedRun } from "../directory.ts";

/** A change of a run: it waits for a human or has ended. */
export interface RunChange {
  run: ListedRun;
  /** The open questions; as many as fit. */
  requests: readonly ListedRequest[];
  /** The answer message of a completed run; null if it is too large or missing. */
  answer: JsonObject | null;
  /** The caller's own id of the run's conversation. */
  context?: string;
}

/** The content of a notification. */
export interface PushBody {
  contentType: string;
  body: string;
}
