import type { JsonObject } from "troupe";

/** An event of a stream or of a trace. */
export interface TraceEvent {
  type: string;
  [field: string]: unknown;
}

/** A request and the events that a server answered it with. */
export interface Exchange {
  input: TraceInput;
  events: readonly TraceEvent[];
}

/** The body of a request, as far as the ids in it are looked at. */
export interface TraceInput {
  threadId: string;
  runId: string;
  messages: { role: string; content?: unknown }[];
  resume?: { interruptId: string; status: "resolved" | "cancelled"; payload?: JsonObject }[];
  tools?: object[];
}

/** A conversation as it was recorded with another server, to be held with a team. */
export interface Journey {
  name: string;
  /** The team's component. */
  component: object;
  exchanges: readonly Exchange[];
  /** Whether the trace's snapshots are of a state that client and agents share. */
  sharesState?: boolean;
  /** The form of an answer, where the team's interrupts ask for another one than the trace's. */
  answer?: (payload: JsonObject) => JsonObject;
}
