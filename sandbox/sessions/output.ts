/**
 * The output of an execution: kept up to a number of bytes, and passed to listeners as it is printed. Text is only ever
 * appended, so listeners have received exactly the text of the result, unless the execution was interrupted and started again.
 */
export class Output {
  readonly #limit: number;
  #pieces: string[] = [];
  #bytes = 0;
  #decoder = new TextDecoder();
  readonly #listeners = new Set<(text: string) => void>();
  /** Bytes printed, including those that are not kept. */
  printed = 0;
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
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
    this.#append(this.#decoder.decode(kept, { stream: true }));
    if (kept.byteLength === bytes.byteLength) return;
    // A character that was cut in two is left out.
    this.#decoder = new TextDecoder();
    this.truncated = true;
  }

  /** Ends a block, so that an incomplete character is not joined with output of the next block. */
  endBlock(): void {
    this.#append(this.#decoder.decode());
  }

  /** Adds a line of the sandbox itself, even if no more output is kept. */
  note(line: string): void {
    const { text } = this;
    this.#append(`${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
  }

  /** Forgets everything, for an execution that starts again. */
  clear(): void {
    this.#pieces = [];
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

  #append(text: string): void {
    if (text === "") return;
    this.#pieces.push(text);
    for (const listener of this.#listeners) listener(text);
  }
}
