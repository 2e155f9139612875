import { Redaction } from "./redaction.ts";

/**
 * The output of an execution: kept up to a number of bytes, and passed to listeners as it is printed, or line by line where values
 * have to be taken out of it. Text is only ever appended, so listeners have received exactly the text of the result, unless the
 * execution was interrupted and started again.
 */
export class Output {
  readonly #limit: number;
  readonly #redaction: Redaction;
  /** The line that has not ended, as it was printed. */
  #line = "";
  #pieces: string[] = [];
  #bytes = 0;
  #decoder = new TextDecoder();
  readonly #listeners = new Set<(text: string) => void>();
  /** Bytes printed, including those that are not kept. */
  printed = 0;
  truncated = false;

  /** @param env variables whose values must not appear */
  constructor(limit: number, env: Readonly<Record<string, string>> = {}) {
    this.#limit = limit;
    this.#redaction = new Redaction(env);
  }

  get text(): string {
    // Joined once, not at every call.
    if (this.#pieces.length > 1) this.#pieces = [this.#pieces.join("")];
    return this.#pieces[0] ?? "";
  }

  /** Takes output of a block. A character may arrive in pieces. */
  print(bytes: Uint8Array): void {
    this.printed += bytes.byteLength;
    if (this.truncated) return;
    const kept = bytes.subarray(0, this.#limit - this.#bytes);
    this.#bytes += kept.byteLength;
    this.#add(this.#decoder.decode(kept, { stream: true }));
    if (kept.byteLength === bytes.byteLength) return;
    // A character that was cut in two is left out.
    this.#decoder = new TextDecoder();
    this.truncated = true;
    this.#append(this.#redaction.redactCut(this.#takeLine()));
  }

  /** Ends a block, so that an incomplete character is not joined with output of the next block. */
  endBlock(): void {
    this.#add(this.#decoder.decode());
    this.#append(this.#redaction.redact(this.#takeLine()));
  }

  /** Adds a line of the sandbox itself, even if the limit of kept output is reached. */
  note(line: string): void {
    const { text } = this;
    this.#append(`${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
  }

  /** Forgets everything, for an execution that starts again. */
  clear(): void {
    this.#pieces = [];
    this.#line = "";
    this.#bytes = 0;
    this.#decoder = new TextDecoder();
    this.printed = 0;
    this.truncated = false;
  }

  /** Calls with the text so far, then with each new piece, until the returned function is called. */
  listen(listener: (text: string) => void): () => void {
    if (this.text !== "") listener(this.text);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Appends what was printed up to the last end of a line: a value may arrive in pieces. */
  #add(text: string): void {
    if (!this.#redaction.needed) return this.#append(text);
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) this.#append(this.#redaction.redact(this.#takeLine() + text.slice(0, end)));
    this.#line += text.slice(end);
  }

  #takeLine(): string {
    const line = this.#line;
    this.#line = "";
    return line;
  }

  #append(text: string): void {
    if (text === "") return;
    this.#pieces.push(text);
    for (const listener of this.#listeners) listener(text);
  }
}
