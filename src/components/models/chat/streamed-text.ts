import {
  LoneEnd,
  mayBeJson,
  openingOf,
  type ThoughtTags,
  unclearLength,
} from "../../../core/models/thought-tags.ts";

/** Clients show thoughts between these tags at the beginning of a text. */
const OPEN = "<think>";
const CLOSE = "</think>";

/** The settings that show a text as it streams. */
export interface StreamedTextSettings {
  thoughtTags: ThoughtTags;
  /** Makes the pieces so far void. Without it a thought whose beginning is lost stays in the text that was shown. */
  startOver?: (() => void) | undefined;
}

/**
 * Collects an answer that streams, its reasoning and its text, and says what each chunk adds to the shown text: the thought between
 * tags, then the answer. Only what may be the beginning of a tag waits for the next chunk.
 */
export class StreamedText {
  /** All of the text so far, with the tags of thoughts in it. */
  text = "";
  /** The reasoning from a field of its own so far; null when there was none. */
  reasoning: string | null = null;
  readonly #startOver: StreamedTextSettings["startOver"];
  #part: "start" | "thought" | "answer";
  #close: RegExp | undefined;
  /** The end of the text that is not shown yet. */
  #unread = "";
  /** True while only white space waits. */
  #isBlank = false;
  #isOpen = false;
  /** Undefined as long as the answer has only white space. */
  #mayBeJson: boolean | undefined;
  #hasShown = false;
  #loneEnd: LoneEnd | undefined;

  constructor({ thoughtTags, startOver }: StreamedTextSettings) {
    this.#startOver = startOver;
    const reads = thoughtTags === "thought";
    this.#part = reads ? "start" : "answer";
    this.#loneEnd = reads ? new LoneEnd() : undefined;
  }

  /** True once a piece of the text or of the reasoning has arrived. */
  get hasBegun(): boolean {
    return this.text !== "" || this.reasoning !== null;
  }

  /**
   * The text that a chunk adds to the shown text. An empty piece of reasoning does not end the reasoning; a chunk
   * without any does.
   * @param reasoning the reasoning in the chunk; null if it has none
   */
  add(reasoning: string | null, text = ""): string {
    if (reasoning) this.reasoning = (this.reasoning ?? "") + reasoning;
    const thought = this.#think(reasoning ?? "");
    if (text !== "") return this.#shown(thought + this.#read(text));
    return this.#shown(
      thought + (reasoning === null && this.#part !== "thought" ? this.#endThought() : ""),
    );
  }

  /** The rest of the text after the last chunk. */
  end(): string {
    const rest = this.#take(this.#unread.length);
    // A thought without an end may be the answer.
    if (this.#part === "thought") return this.#shown(this.#think(rest));
    const shown = rest === "" ? "" : this.#answer(rest);
    const lone = this.#loneEnd?.finish();
    return this.#shown(lone === undefined ? shown + this.#endThought() : this.#again(lone, shown));
  }

  #read(piece: string): string {
    this.text += piece;
    this.#unread += piece;
    // More white space before the first character changes nothing.
    if (this.#isBlank && piece.trim() === "") return "";
    this.#isBlank = false;
    let shown = "";
    for (;;) {
      if (this.#part === "answer") return shown + this.#answer(this.#take(this.#unread.length));
      if (this.#part === "start") {
        const opening = openingOf(this.#unread);
        if (opening === "unclear") {
          this.#isBlank = this.#unread.trim() === "";
          return shown;
        }
        this.#part = opening?.tag.close === undefined ? "answer" : "thought";
        if (opening === undefined) continue;
        this.#loneEnd = undefined;
        this.#close = opening.tag.close;
        this.#take(opening.end);
      } else {
        const closing = this.#close?.exec(this.#unread);
        if (!closing) {
          const length = this.#unread.length - unclearLength(this.#unread);
          return shown + this.#think(this.#take(length));
        }
        shown += this.#think(this.#take(closing.index));
        this.#take(closing[0].length);
        this.#part = "start";
      }
    }
  }

  #think(text: string): string {
    if (text === "" || this.#isOpen) return text;
    this.#isOpen = true;
    return OPEN + text;
  }

  #endThought(): string {
    if (!this.#isOpen) return "";
    this.#isOpen = false;
    return CLOSE;
  }

  #answer(text: string): string {
    const shown = this.#endThought() + text;
    if (this.#loneEnd !== undefined && this.#isJson(text)) this.#loneEnd = undefined;
    const lone = this.#loneEnd?.add(text);
    return lone === undefined ? shown : this.#again(lone, shown);
  }

  /** Shows a text from its beginning, because its end has shown that it began with a thought. */
  #again({ index, end }: { index: number; end: number }, shown: string): string {
    this.#loneEnd = undefined;
    if (this.#hasShown) {
      if (this.#startOver === undefined) return shown;
      this.#startOver();
    }
    const thought = (this.reasoning ?? "") + this.text.slice(0, index);
    const answer = this.text.slice(end);
    return thought.trim() === "" ? answer : OPEN + thought + CLOSE + answer;
  }

  /** True if the text may be JSON. Its first character decides: a look at the whole text for each piece would be slow. */
  #isJson(piece: string): boolean {
    if (piece.trim() !== "") this.#mayBeJson ??= mayBeJson(piece);
    return this.#mayBeJson === true;
  }

  #take(length: number): string {
    const taken = this.#unread.slice(0, length);
    this.#unread = this.#unread.slice(length);
    return taken;
  }

  #shown(text: string): string {
    if (text !== "") this.#hasShown = true;
    return text;
  }
}
