import * as fc from "fast-check";
import type { RunInfo } from "#contract/run.ts";
import type { StreamEncoder } from "#contract/stream/stream-format.ts";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import type { TextPieces } from "#contract/stream/text-pieces.ts";
import { type Action, actions, endings, type Ending } from "./actions.ts";
import { type Happening, RunSimulator } from "./run-simulator.ts";

/** One run from its beginning, as its team's object sees it. */
export interface Story {
  /** The run as it was first. */
  beginning: RunInfo;
  happenings: readonly Happening[];
}

interface Script {
  queued: boolean;
  actions: readonly Action[];
  ending: Ending;
}

/** Runs with every kind of message and event, that end in every way or not yet. */
export const stories: fc.Arbitrary<Story> = fc
  .record<Script>({
    queued: fc.boolean(),
    actions: fc.array(actions, { maxLength: 40, size: "max" }),
    ending: endings,
  })
  .map((script) => {
    const run = new RunSimulator(script.queued);
    const beginning = run.info;
    for (const action of script.actions) run.act(action);
    run.end(script.ending);
    return { beginning, happenings: run.happenings };
  });

const piecesOfFrames = new WeakMap<StreamFrame, TextPieces>();

/** The pieces that the frame's text was streamed in. */
export function piecesOf(frame: StreamFrame): TextPieces | undefined {
  return piecesOfFrames.get(frame);
}

function framesOf(happenings: readonly Happening[]): StreamFrame[] {
  return happenings.flatMap(({ frame, pieces }) => {
    if (frame !== undefined && pieces !== undefined) piecesOfFrames.set(frame, pieces);
    return frame ?? [];
  });
}

/**
 * The frames that a client gets: of everything recorded before it connected, of the texts in progress then, and of what
 * happens later.
 *
 * @param joined how much has happened when it connects
 * @param after the cursor that it resumes after
 */
export function streamOf(
  { beginning, happenings }: Story,
  joined: number,
  after = 0,
): StreamFrame[] {
  const before = happenings.slice(0, joined);
  const frames = framesOf(before);
  const recorded = frames.filter((frame) => "id" in frame && Number(frame.id) > after);
  const now = before.at(-1)?.run ?? beginning;
  const isOver = frames.some(isEnd);
  const opening: StreamFrame = { event: "run", data: now };
  if (isOver) {
    // The status cancelled comes with the last frame alone.
    const { started_at } = now;
    const status = started_at === null ? "queued" : "running";
    if (now.status === "cancelled") opening.data = { ...now, status, ended_at: null };
    return [opening, ...recorded];
  }
  const later = framesOf(happenings.slice(joined));
  const snapshots = (before.at(-1)?.texts ?? []).map(({ data, pieces }) => {
    const frame: StreamFrame = { event: "snapshot", data };
    piecesOfFrames.set(frame, pieces);
    return frame;
  });
  return [opening, ...recorded, { event: "caught_up", data: {} }, ...snapshots, ...later];
}

/**
 * The text that a client gets in a format although the encoder is lost whenever the run is paused: another one is given what was
 * recorded up to there, as by the team's object, and what it writes of that is not sent.
 */
export function encodedOverPauses(story: Story, makeEncoder: () => StreamEncoder): string {
  const all = streamOf(story, 0);
  let encoder = makeEncoder();
  let text = "";
  for (const [index, frame] of all.entries()) {
    if (encoder.ended) break;
    text += encoder.encode(frame, piecesOf(frame));
    if (frame.event !== "run" || frame.data.status !== "paused" || encoder.ended) continue;
    encoder = makeEncoder();
    const rests = frame.data;
    encoder.visibleState?.({});
    encoder.encode({ event: "run", data: { ...rests, status: "running" } });
    for (const before of all.slice(0, index)) {
      if (before.event !== "run" && "id" in before) encoder.encode(before, piecesOf(before));
    }
    encoder.encode({ event: "run", data: rests });
    encoder.encode({ event: "caught_up", data: {} });
    if (index === all.length - 1) continue;
    text += encoder.encode({ event: "run", data: { ...rests, status: "running" } });
    text += encoder.encode({ event: "caught_up", data: {} });
  }
  return text;
}

/** Whether the stream of a run ends with this frame. */
export function isEnd(frame: StreamFrame): boolean {
  return (
    frame.event === "failed" ||
    (frame.event === "message" && "message_ids" in frame.data) ||
    (frame.event === "run" && frame.id !== undefined)
  );
}

/** The streams of clients that connect at any time, some of which resume after a cursor. */
export const frames: fc.Arbitrary<StreamFrame[]> = fc
  .tuple(
    stories,
    fc.oneof(fc.constant(0), fc.nat(60)),
    fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(30) }),
  )
  .map(([story, joined, after]) =>
    streamOf(story, Math.min(joined, story.happenings.length), after),
  )
  // A stream with nothing to send has no frames: 204.
  .filter((stream) => stream.length > 1);
