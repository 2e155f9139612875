import type { Services } from "../http/services.ts";
import type { A2ASettings } from "./a2a/settings.ts";

/** What the protocols use of the service. */
export interface ProtocolServices extends Services {
  version: string;
  /** Writes a line about an internal error. */
  log: (line: string) => void;
  /** Whether push notifications can be stored and sent. */
  pushNotifications: boolean;
  a2a: A2ASettings;
}
