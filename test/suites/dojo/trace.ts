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

/** The members of a request that the replay reads. */
export interface TraceInput {
  threadId: string;
  runId: string;
  messages: { role: string; content?: unknown }[];
  resume?: { interruptId: string; status: "resolved" | "cancelled"; payload?: JsonObject }[];
  tools?: object[];
}

/** A recorded conversation with another server, to be repeated with a team. */
export interface Journey {
  name: string;
  /** The team's component. */
  component: object;
  exchanges: readonly Exchange[];
  /** Whether the trace's snapshots are of a state that client and agents share. */
  sharesState?: boolean;
  /** Turns the payload of an answer into what the team's interrupts ask for, if that differs. */
  answer?: (payload: JsonObject) => JsonObject;
}
