import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { StartRunInput } from "../gateways/team-gateway.ts";
import type { Result } from "../result.ts";
import type { PushBody, RunChange } from "./run-change.ts";
import type { StreamFrame } from "./stream-frame.ts";
import type { TextPieces } from "./text-pieces.ts";

/**
 * Encodes one stream in the format of a protocol. It gets the frames of docs/http-api.md in their order: the run as it
 * is, recorded frames, `caught_up`, snapshots, and then live frames. It is a pure function of them: it has no clock,
 * makes no random ids, and waits for nothing.
 */
export interface StreamEncoder {
  /**
   * The text to send for a frame; empty to send nothing. If it throws, its stream ends.
   *
   * @param pieces the pieces in which the frame's text was streamed: of a chunk, a snapshot, or a recorded message
   */
  encode(frame: StreamFrame, pieces?: TextPieces): string;
  /**
   * The text to send for the team's visible state (`TeamGateway.visibleState`; `{}` if it shows none). Called before the
   * first frame and after each turn. An encoder without this method does not use the state, and the state is not read.
   */
  visibleState?(state: JsonObject): string;
  /** True once the protocol's stream has ended: nothing else is encoded, and the connection is closed. */
  readonly ended: boolean;
}

export type MakeEncoder = (options: JsonObject) => StreamEncoder;

/** A run, and the format of its stream. */
export interface FormattedStart {
  input: StartRunInput;
  options: JsonObject;
}

/** Creates the encoders of a format, and its push notifications. */
export interface FormatCode {
  makeEncoder: MakeEncoder;
  /**
   * Adds data that only the team knows before a run is started. A separate request for it would cost one more call of
   * the team. It refuses options that the team does not support.
   *
   * @param component the team's, with sealed secrets
   */
  prepare?: (start: FormattedStart, component: ComponentModel) => Result<FormattedStart>;
  /** Missing where the protocol has no push notifications. */
  pushBody?: (change: RunChange) => PushBody;
}

/** Formats by name. Each is loaded when the first stream or notification asks for it. */
export type StreamFormats = Readonly<Record<string, () => Promise<FormatCode>>>;
