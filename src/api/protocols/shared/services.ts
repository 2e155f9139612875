import type { Services } from "../../http/endpoint/services.ts";

/** What the protocols use of the service. */
export interface ProtocolServices extends Services {
  version: string;
  /** Writes a line about an internal error. */
  log: (line: string) => void;
  /** Whether push notifications can be stored and sent. */
  pushNotifications: boolean;
}
