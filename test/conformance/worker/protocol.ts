import type { JsonObject } from "troupe";
import type { Thrown } from "../host.ts";

/** What the Worker answers when a component is to become the subject. */
export interface Used {
  error?: Thrown | undefined;
  /** Null when it could not be loaded. */
  role: string | null;
  /** As its stand-ins want it. */
  component: JsonObject;
}
