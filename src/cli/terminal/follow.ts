import {
  ApiError,
  type HumanRequest,
  RunError,
  type RunInfo,
  type RunStream,
  type StreamItem,
  type TeamClient,
} from "../../client/index.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { untilInterrupted } from "./interrupt.ts";
import { printJson } from "./output.ts";
import { ask, isInteractive } from "./questions.ts";
import { reportError } from "./report-error.ts";
import { Transcript } from "./transcript.ts";

/**
 * Shows a run to its end and asks its questions, or leaves it on Ctrl-C.
 *
 * @param start starts the run, or continues with one
 * @param json whether to print its items instead
 */
export async function follow(
  team: TeamClient,
  start: (signal: AbortSignal) => RunStream,
  json: boolean,
): Promise<ExitCode> {
  const transcript = new Transcript(process.stdout);
  let code = EXIT.done as ExitCode;
  const interrupted = await untilInterrupted(async (signal) => {
    const questions =
      json || !isInteractive() ? undefined : new Questions(team, transcript, signal);
    try {
      for await (const item of start(signal)) {
        if (json) printJson(withoutRepetition(item));
        else transcript.show(item);
        if (item.kind !== "run") continue;
        questions?.update(item.run);
        if (questions === undefined && item.run.status === "waiting") {
          code = EXIT.waiting;
          break;
        }
      }
    } catch (error) {
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
      `\nThe run goes on. "troupe attach ${team.id}" shows it again, "troupe stop ${team.id}" ends it.`,
    );
    return EXIT.interrupted;
  }
  if (code === EXIT.waiting) {
    hint(`The run waits for a human. "troupe inbox" answers; "troupe attach ${team.id}" goes on.`);
  }
  return code;
}

/** A text in progress as what was added: its whole content with each token would be a lot. */
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

/** Asks the open questions of a run one after the other. */
class Questions {
  readonly #team: TeamClient;
  readonly #transcript: Transcript;
  readonly #signal: AbortSignal;
  #open: readonly HumanRequest[] = [];
  /** Requests that are answered, or over. */
  readonly #settled = new Set<string>();
  #asking: { id: string; abort: AbortController } | undefined;

  constructor(team: TeamClient, transcript: Transcript, signal: AbortSignal) {
    this.#team = team;
    this.#transcript = transcript;
    this.#signal = signal;
  }

  update(run: RunInfo): void {
    this.#open = run.requests;
    // Answered elsewhere, or its time is over.
    if (!run.requests.some(({ id }) => id === this.#asking?.id)) this.#asking?.abort.abort();
    if (this.#asking === undefined) void this.#askAll(run.id);
  }

  /** Ends the question that is being asked. */
  close(): void {
    this.#open = [];
    this.#asking?.abort.abort();
  }

  async #askAll(run: string): Promise<void> {
    for (;;) {
      const request = this.#open.find(({ id }) => !this.#settled.has(id));
      if (request === undefined) return;
      const abort = new AbortController();
      this.#asking = { id: request.id, abort };
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
      // Somebody else was faster. After any other error the question is asked again.
      if (error instanceof ApiError && error.status === 409) this.#settled.add(request.id);
      reportError(error, false);
    }
  }
}
