/** Starts each line the chaos worker prints for the harness. */
export const MARK = "@chaos ";

/**
 * When a write is to be killed. `lost`: before it is durable, together with everything else of the same
 * synchronous turn; `durable`: as soon as it is.
 */
export type WriteMode = "lost" | "durable";

/** A write to storage: the n-th (from 1) with this label since the process started. */
export interface WritePoint {
  label: string;
  occurrence: number;
  mode: WriteMode;
}

/** What the worker of one process is sent. */
export interface Arming {
  point: WritePoint | null;
  /** No alarm is set further ahead than that, in milliseconds. */
  heartbeatMs: number;
}

export type Marker =
  /** The object of a team was constructed: it had not been loaded. */
  | { kind: "constructed" }
  /** A write happened; it is not durable yet. */
  | { kind: "write"; label: string; occurrence: number }
  /** The armed point is reached; the worker spins and waits to be killed. */
  | { kind: "kill" }
  /** A step's result is durable: the step must not run again. */
  | { kind: "recorded"; key: string; result: string };

/** The class and the name of an object, such as `TeamObject:acme/team`. */
export type ObjectName = `${string}:${string}`;

/** Where a single object is reset: the n-th time (from 1) that it comes by a write, a call or the end of a call. */
export interface ResetPoint extends WritePoint {
  object: ObjectName;
}

/** How often objects have come by points, and whether there is one to come. */
export interface PassedPoints {
  counts: { object: ObjectName; label: string; count: number }[];
  armed: boolean;
}

/** What the worker answers to the harness, besides the service's own requests. */
export const RESETS_PATH = "/chaos/resets";
