import type { WritePoint } from "../worker/protocol.ts";

/** When a process is killed. Counts start at 1 and at the start of the process. */
export type Kill =
  | ({ at: "write" } & WritePoint)
  /** The model's n-th request has come that far. */
  | { at: "model"; state: "received" | "streaming" | "replied"; occurrence: number }
  /** The n-th effect has happened; its answer has not been sent. */
  | { at: "effect"; occurrence: number }
  /** Milliseconds after the process was started. */
  | { at: "time"; ms: number };

export function nameOf(kill: Kill): string {
  switch (kill.at) {
    case "write":
      return `${kill.mode} ${kill.label} #${kill.occurrence}`;
    case "model":
      return `model ${kill.state} #${kill.occurrence}`;
    case "effect":
      return `effect #${kill.occurrence}`;
    case "time":
      return `after ${kill.ms} ms`;
  }
}
