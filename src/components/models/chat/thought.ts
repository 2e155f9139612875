const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Splits the reply of a model that reasons inside its text (DeepSeek R1 served locally). Without both tags, or with
 * them in the wrong order, all of it is content.
 */
export function splitThought(text: string): { thought: string | null; content: string } {
  const start = text.indexOf(OPEN);
  const end = text.indexOf(CLOSE);
  if (start === -1 || end < start) return { thought: null, content: text };
  return {
    thought: text.slice(start + OPEN.length, end).trim(),
    content: text.slice(end + CLOSE.length).trim(),
  };
}

/** Collects reasoning that streams in a field of its own, and shows it between the same tags. */
export class StreamedThought {
  #text: string | null = null;
  #open = false;

  /** All of it so far; null when there was none. */
  get text(): string | null {
    return this.#text;
  }

  /**
   * The text that a chunk adds to the shown text. An empty piece of reasoning does not end the reasoning; a chunk
   * without any does.
   * @param reasoning the reasoning in the chunk; null if it has none
   */
  add(reasoning: string | null): string {
    if (reasoning === null) {
      if (!this.#open) return "";
      this.#open = false;
      return CLOSE;
    }
    if (reasoning === "") return "";
    this.#text = (this.#text ?? "") + reasoning;
    if (this.#open) return reasoning;
    this.#open = true;
    return OPEN + reasoning;
  }
}
