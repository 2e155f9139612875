/**
 * What an execution prints: kept up to a number of bytes, and passed on while it comes to whoever listens. Text is only ever
 * appended, so that what was passed on is what is in the result.
 */
export class Output {
  readonly #limit: number;
  #pieces: string[] = [];
  #bytes = 0;
  #decoder = new TextDecoder();
  readonly #listeners = new Set<(text: string) => void>();
  /** Bytes that were printed, kept or not. */
  printed = 0;
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get text(): string {
    // Joined once for all who ask next.
    if (this.#pieces.length > 1) this.#pieces = [this.#pieces.join("")];
    return this.#pieces[0] ?? "";
  }

  /** Takes what a block printed. A character may arrive in pieces. */
  print(bytes: Uint8Array): void {
    this.printed += bytes.byteLength;
    if (this.truncated) return;
    const kept = bytes.subarray(0, this.#limit - this.#bytes);
    this.#bytes += kept.byteLength;
    this.#append(this.#decoder.decode(kept, { stream: true }));
    if (kept.byteLength === bytes.byteLength) return;
    // The character it was cut in is left out.
    this.#decoder = new TextDecoder();
    this.truncated = true;
  }

  /** Ends a block: what it left of a character does not join the next one's. */
  endBlock(): void {
    this.#append(this.#decoder.decode());
  }

  /** Adds a line of the sandbox's own, however much was printed. */
  note(line: string): void {
    const { text } = this;
    this.#append(`${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
  }

  /** Calls with the text so far, then with each piece that comes, until the returned function is called. */
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
