import type { Services } from "../../http/endpoint/services.ts";

export interface ProtocolServices extends Services {
  version: string;
  /** Writes a line about an internal error. */
  log: (line: string) => void;
  /** True if push notifications can be stored and sent. */
  pushNotifications: boolean;
}
