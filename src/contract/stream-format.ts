import type { JsonObject } from "../core/json.ts";
import type { StreamFrame } from "./stream-frame.ts";

/** How a client's stream is written: a format by its name, with what the client's request says about it. */
export interface StreamFormat {
  name: string;
  /** JSON of at most a few kilobytes. */
  options: JsonObject;
}

/**
 * Writes one stream in the words of a protocol. It gets the frames of docs/http-api.md in their order: the run as it is,
 * recorded ones, `caught_up`, snapshots, and then what happens. A pure function of them: it has no clock, no ids of its own,
 * and waits for nothing.
 */
export interface StreamEncoder {
  /** The text to send for a frame; empty for none. One that throws ends its stream. */
  encode(frame: StreamFrame): string;
  /** Whether the protocol's stream is over: nothing more is encoded, and the connection is closed. */
  readonly ended: boolean;
}

export type MakeEncoder = (options: JsonObject) => StreamEncoder;

/** Formats by name. Each is loaded when the first stream asks for it. */
export type StreamFormats = Readonly<Record<string, () => Promise<MakeEncoder>>>;
