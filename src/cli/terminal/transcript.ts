import { beginningOf } from "../../core/cut.ts";
import type { RunInfo, StreamItem, TextInProgress } from "../../client/index.ts";
import type { Message } from "../../core/messages/message.ts";
import { toText } from "../../core/messages/views.ts";
import { printable, styler } from "./output.ts";

const COLOURS = ["cyan", "green", "yellow", "magenta", "blue"] as const;
/** The longest part of a tool's result that is shown. */
const MOST_RESULT_CHARACTERS = 1_000;

type ShownMessage = Extract<StreamItem, { kind: "message" }>["message"];

/**
 * Shows what happens in a run: texts while they grow, one at a time, and everything else when it is complete.
 */
export class Transcript {
  readonly #stream: NodeJS.WriteStream;
  readonly #style: ReturnType<typeof styler>;
  readonly #runs: boolean;
  /** The colour of each source, in the order in which they spoke. */
  readonly #colours = new Map<string, (typeof COLOURS)[number]>();
  /** The part of each text in progress that was shown. */
  readonly #shown = new Map<string, string>();
  /** Notes of runs that were shown. */
  readonly #noted = new Set<string>();
  /** The text whose line is open. */
  #open: string | undefined;
  /** The items since {@link hold}. */
  #held: StreamItem[] | undefined;

  /** @param runs whether to show that runs start and end */
  constructor(stream: NodeJS.WriteStream, { runs = false } = {}) {
    this.#stream = stream;
    this.#style = styler(stream);
    this.#runs = runs;
  }

  show(item: StreamItem): void {
    if (this.#held !== undefined) {
      this.#held.push(item);
      return;
    }
    switch (item.kind) {
      case "text":
        this.#text(item.text, item.delta === null);
        return;
      case "message":
        this.#message(item.message);
        return;
      case "discard":
        if (this.#shown.delete(item.text.id)) this.note("discarded: the model is called again");
        return;
      case "retrying": {
        const { agent, attempt, error, next_attempt_at: at } = item.retrying;
        this.note(
          `${agent ?? "the team"}: attempt ${attempt} failed (${error.message}); again at ${at}`,
        );
        return;
      }
      case "retract":
        this.note(`retracted: ${item.ids.length} messages of a turn that was abandoned`);
        return;
      case "run":
        this.#notes(item.run);
        if (this.#runs || ["queued", "paused"].includes(item.run.status)) {
          this.note(`run ${item.run.id}: ${item.run.status}`);
        }
        return;
      case "failed":
        this.note(`failed: ${item.problem.detail}`);
        return;
      case "activity":
      case "turn":
        return;
      case "result": {
        const { stop_reason, usage } = item.result;
        const tokens = usage.prompt_tokens + usage.completion_tokens;
        this.note(`completed: ${stop_reason ?? "no stop reason"}; ${tokens} tokens`);
      }
    }
  }

  /** Notes on content that the run's models did not get, each once. */
  #notes({ id, notes = [] }: RunInfo): void {
    for (const { agent, message } of notes) {
      const text = `${agent ?? "the team"}: ${message}`;
      const key = `${id} ${text}`;
      if (this.#noted.has(key)) continue;
      this.#noted.add(key);
      this.note(text);
    }
  }

  /** A note of the program itself, on its own line. */
  note(text: string): void {
    this.#closeLine();
    this.#write(`${this.#style("dim", `(${printable(text)})`)}\n`);
  }

  /** Buffers items until {@link release}, while another part uses the terminal. */
  hold(): void {
    this.#closeLine();
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const item of held) this.show(item);
  }

  #text(text: TextInProgress, replaced: boolean): void {
    // When agents speak in parallel, one text streams, and the others are shown once their message is complete.
    if (this.#open !== undefined && this.#open !== text.id) return;
    if (replaced && this.#shown.delete(text.id)) this.#closeLine();
    if (this.#open === undefined) this.#write(this.#label(text.source));
    this.#open = text.id;
    this.#write(printable(text.content.slice(this.#shown.get(text.id)?.length ?? 0)));
    this.#shown.set(text.id, text.content);
  }

  #message(message: ShownMessage): void {
    if (message.type === "UserInputRequestedEvent") return;
    // A model client that does not know the message's id uses the source instead.
    const text = [message.id, message.source].find((id) => this.#shown.has(id));
    const streamed = text === undefined ? undefined : this.#shown.get(text);
    const whole = toText(message);
    if (text !== undefined) this.#shown.delete(text);
    if (streamed !== undefined && text === this.#open && isSameText(whole, streamed)) {
      this.#closeLine();
      return;
    }
    this.#closeLine();
    this.#write(`${this.#render(message)}\n`);
  }

  #render(message: Message): string {
    const { source } = message;
    switch (message.type) {
      case "ToolCallRequestEvent":
        return this.#quiet(
          message.content.map((call) => `${source} calls ${call.name}(${call.arguments})`),
        );
      case "ToolCallExecutionEvent":
        return this.#quiet(
          message.content.map(({ name, content }) => `${name} returned ${shortened(content)}`),
        );
      case "ThoughtEvent":
        return this.#quiet([`${source} thinks: ${message.content}`]);
      default:
        return this.#label(source) + printable(toText(message));
    }
  }

  #quiet(lines: readonly string[]): string {
    return this.#style("dim", printable(lines.join("\n")));
  }

  #label(source: string): string {
    const { size } = this.#colours;
    const colour = this.#colours.get(source) ?? COLOURS[size % COLOURS.length] ?? "cyan";
    this.#colours.set(source, colour);
    return this.#style(["bold", colour], `${printable(source)}: `);
  }

  #closeLine(): void {
    if (this.#open !== undefined) this.#write("\n");
    this.#open = undefined;
  }

  #write(text: string): void {
    this.#stream.write(text);
  }
}

/** The chunks of a text may lack its line breaks, as those of AutoGen's replay client do. */
export function isSameText(one: string, other: string): boolean {
  const words = (text: string): string => text.split(/\s+/).join(" ").trim();
  return words(one) === words(other);
}

function shortened(text: string): string {
  const rest = text.length - MOST_RESULT_CHARACTERS;
  if (rest <= 0) return text;
  return `${beginningOf(text, MOST_RESULT_CHARACTERS)} … (${rest} more characters)`;
}
