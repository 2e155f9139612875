import { TroupeError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { toText } from "../messages/views.ts";
import { addUsage, type RequestUsage } from "../models/request-usage.ts";
import type { TaskResult } from "../run/task-result.ts";

export interface PrintStreamOptions {
  /** Receives the text, including its line breaks. */
  write(text: string): void;
  /** True to show tokens per message, and a summary at the end. Default false. */
  stats?: boolean | undefined;
}

/**
 * Prints a run as it happens, one headed block per message, streamed text piece by piece, and returns its result
 * (AutoGen `Console`).
 *
 * @throws TroupeError `no_result` when the stream ends without one
 *
 * @example
 * await printStream(runStream(team, { task: "Hi." }), { write: (text) => process.stdout.write(text) });
 */
export async function printStream(
  stream: AsyncIterable<Message | TaskResult>,
  options: PrintStreamOptions,
): Promise<TaskResult> {
  const printer = new Printer(options);
  let result: TaskResult | undefined;
  for await (const item of stream) {
    if (item.type === "TaskResult") result = item;
    else printer.print(item);
  }
  printer.end(result);
  if (result === undefined) {
    throw new TroupeError("no_result", "the stream ended without a TaskResult");
  }
  return result;
}

class Printer {
  readonly #options: PrintStreamOptions;
  readonly #startedAt = Date.now();
  #usage: RequestUsage = { prompt_tokens: 0, completion_tokens: 0 };
  /** The message whose text is being streamed: its line is still open. */
  #streaming: string | null = null;
  /** Messages whose text was shown piece by piece. */
  readonly #shown = new Set<string>();

  constructor(options: PrintStreamOptions) {
    this.#options = options;
  }

  print(message: Message): void {
    if (message.type === "ModelClientStreamingChunkEvent") {
      const id = message.full_message_id ?? message.source;
      if (this.#streaming !== id) {
        this.#closeLine();
        this.#header(message);
      }
      this.#streaming = id;
      this.#shown.add(id);
      this.#options.write(message.content);
      return;
    }
    // A request for input is answered where it was asked; printing it would only interfere.
    if (message.type === "UserInputRequestedEvent") return;
    this.#closeLine();
    if (!this.#shown.delete(message.id)) {
      this.#header(message);
      this.#options.write(`${toText(message)}\n`);
    }
    this.#count(message.models_usage);
  }

  end(result: TaskResult | undefined): void {
    this.#closeLine();
    if (result === undefined || !this.#options.stats) return;
    const { prompt_tokens, completion_tokens } = this.#usage;
    const seconds = (Date.now() - this.#startedAt) / 1000;
    this.#options.write(
      [
        `${RULE} Summary ${RULE}`,
        `Messages: ${result.messages.length}`,
        `Stop reason: ${result.stop_reason ?? "none"}`,
        `Prompt tokens: ${prompt_tokens}`,
        `Completion tokens: ${completion_tokens}`,
        `Seconds: ${seconds.toFixed(2)}`,
        "",
      ].join("\n"),
    );
  }

  #header({ type, source }: Message): void {
    this.#options.write(`${RULE} ${type} (${source}) ${RULE}\n`);
  }

  #closeLine(): void {
    if (this.#streaming !== null) this.#options.write("\n");
    this.#streaming = null;
  }

  #count(usage: RequestUsage | null): void {
    if (usage === null) return;
    this.#usage = addUsage(this.#usage, usage);
    if (!this.#options.stats) return;
    this.#options.write(
      `[Prompt tokens: ${usage.prompt_tokens}, completion tokens: ${usage.completion_tokens}]\n`,
    );
  }
}

const RULE = "-".repeat(10);
