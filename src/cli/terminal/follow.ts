import {
  ApiError,
  type HumanRequest,
  RunError,
  type RunInfo,
  type RunStream,
  type StreamItem,
  type TeamClient,
} from "../../client/index.ts";
import { EXIT, type ExitCode } from "./errors.ts";
import { untilInterrupted } from "./interrupt.ts";
import { printJson } from "./output.ts";
import { ask, isInteractive } from "./questions.ts";
import { reportError } from "./report-error.ts";
import { Transcript } from "./transcript.ts";
import { TypedLines } from "./typed-lines.ts";

export interface FollowOptions {
  /** True to print the items of the run as JSON instead. */
  json: boolean;
  /** True if the stream begins with what was recorded before, until it calls `onLive`. */
  replays: boolean;
}

/**
 * Shows a run to its end, asks its questions, and sends lines that are typed meanwhile into it; Ctrl-C leaves it. Without an
 * interactive terminal, it ends when the run waits for a human.
 *
 * @param start starts the run, or continues with one
 */
export async function follow(
  team: TeamClient,
  start: (signal: AbortSignal, onLive: () => void) => RunStream,
  { json, replays }: FollowOptions,
): Promise<ExitCode> {
  const transcript = new Transcript(process.stdout);
  let code = EXIT.done as ExitCode;
  const interrupted = await untilInterrupted(async (signal) => {
    const questions =
      json || !isInteractive() ? undefined : new Questions(team, transcript, signal);
    const unanswered = new AbortController();
    let live = !replays;
    let waits = false;
    const endWaiting = (): void => {
      if (live && waits && questions === undefined) unanswered.abort();
    };
    const onLive = (): void => {
      live = true;
      endWaiting();
    };
    try {
      for await (const item of start(AbortSignal.any([signal, unanswered.signal]), onLive)) {
        if (json) printJson(withoutRepetition(item));
        else transcript.show(item);
        if (item.kind !== "run") continue;
        questions?.update(item.run);
        waits = item.run.status === "waiting";
        endWaiting();
      }
    } catch (error) {
      if (unanswered.signal.aborted) {
        code = EXIT.waiting;
        return;
      }
      if (!(error instanceof RunError)) throw error;
      code = error.run.status === "cancelled" ? EXIT.cancelled : EXIT.failed;
      if (!json) transcript.note(`${error.run.status}: ${error.message}`);
    } finally {
      questions?.close();
    }
  });
  const hint = (text: string): void => void (json || process.stderr.write(`${text}\n`));
  if (interrupted) {
    hint(
      `\nThe run continues. "troupe attach ${team.id}" shows it again, "troupe stop ${team.id}" ends it.`,
    );
    return EXIT.interrupted;
  }
  if (code === EXIT.waiting) {
    hint(
      `The run waits for a human. Answer with "troupe inbox"; follow the run with "troupe attach ${team.id}".`,
    );
  }
  return code;
}

/** Follows a run that was started before, from its beginning. */
export function followRecorded(team: TeamClient, run: string, json: boolean): Promise<ExitCode> {
  return follow(team, (signal, onLive) => team.watch(run, { signal, onLive }), {
    json,
    replays: true,
  });
}

/** A text in progress as its added part, because repeating the full text for each token would be long. */
function withoutRepetition(item: StreamItem): object {
  if (item.kind !== "text") return item;
  const { id, source, content } = item.text;
  return {
    kind: "text",
    id,
    source,
    ...(item.delta === null ? { content } : { delta: item.delta }),
  };
}

/** Asks the open questions of a run one after the other. In between, lines that are typed go into the run. */
class Questions {
  readonly #team: TeamClient;
  readonly #transcript: Transcript;
  readonly #signal: AbortSignal;
  #open: readonly HumanRequest[] = [];
  /** Requests that were answered or have expired. */
  readonly #settled = new Set<string>();
  readonly #lines: TypedLines;
  #asking: { id: string; abort: AbortController } | undefined;

  constructor(team: TeamClient, transcript: Transcript, signal: AbortSignal) {
    this.#team = team;
    this.#transcript = transcript;
    this.#signal = signal;
    this.#lines = new TypedLines(team, signal);
  }

  update(run: RunInfo): void {
    this.#open = run.requests;
    const takesLines = run.ended_at === null && run.requests.length === 0;
    if (takesLines && this.#asking === undefined) this.#lines.open(run.id);
    // It was answered elsewhere or has expired.
    if (!run.requests.some(({ id }) => id === this.#asking?.id)) this.#asking?.abort.abort();
    if (this.#asking === undefined) void this.#askAll(run.id);
  }

  /** Ends the question that is being asked. */
  close(): void {
    this.#open = [];
    this.#lines.close();
    this.#asking?.abort.abort();
  }

  async #askAll(run: string): Promise<void> {
    for (;;) {
      const request = this.#open.find(({ id }) => !this.#settled.has(id));
      if (request === undefined) return;
      const abort = new AbortController();
      this.#asking = { id: request.id, abort };
      this.#lines.close();
      this.#transcript.hold();
      await this.#askOne(run, request, AbortSignal.any([abort.signal, this.#signal]));
      this.#asking = undefined;
      this.#transcript.release();
    }
  }

  async #askOne(run: string, request: HumanRequest, signal: AbortSignal): Promise<void> {
    try {
      const answer = await ask(request, { signal });
      if (answer !== undefined) await this.#team.answer(run, request.id, answer);
      this.#settled.add(request.id);
    } catch (error) {
      if (signal.aborted) {
        this.#settled.add(request.id);
        process.stdout.write("\n");
        return;
      }
      // Another person answered first. After any other error, the question is asked again.
      if (error instanceof ApiError && error.status === 409) this.#settled.add(request.id);
      reportError(error, false);
    }
  }
}
