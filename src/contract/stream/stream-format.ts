import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { StartRunInput } from "../gateways/team-gateway.ts";
import type { Result } from "../result.ts";
import type { PushBody, RunChange } from "../webhooks/run-change.ts";
import type { StreamFrame } from "./stream-frame.ts";
import type { TextPieces } from "./text-pieces.ts";

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
  /**
   * The text to send for a frame; empty for none. One that throws ends its stream.
   *
   * @param pieces those that the frame's text was streamed in: of a piece, a snapshot, or a message that is recorded
   */
  encode(frame: StreamFrame, pieces?: TextPieces): string;
  /**
   * The text to send for what the team shows of its state (`Runnable.visibleState`; `{}` where it shows nothing): before the
   * first frame, and after each turn. Left out, the encoder has no use for it, and it is not looked up.
   */
  visibleState?(state: JsonObject): string;
  /** Whether the protocol's stream is over: nothing more is encoded, and the connection is closed. */
  readonly ended: boolean;
}

export type MakeEncoder = (options: JsonObject) => StreamEncoder;

/** A run, and how its stream is written. */
export interface FormattedStart {
  input: StartRunInput;
  options: JsonObject;
}

/** What writes the streams of a format, and its push notifications. */
export interface FormatCode {
  makeEncoder: MakeEncoder;
  /**
   * Adds what only the team knows, before a run is started: a request that asks for it first would be one call of the team
   * behind. It refuses what the team cannot do.
   *
   * @param component the team's, with sealed secrets
   */
  prepare?: (start: FormattedStart, component: ComponentModel) => Result<FormattedStart>;
  /** Missing where the protocol has no push notifications. */
  pushBody?: (change: RunChange) => PushBody;
}

/** Formats by name. Each is loaded when the first stream or notification asks for it. */
export type StreamFormats = Readonly<Record<string, () => Promise<FormatCode>>>;
