const OPEN = "<think>";
const CLOSE = "</think>";

/** What a piece adds to a thought and to the answer behind it. */
interface Split {
  thought: string;
  answer: string;
}

/** Splits the text of a model into the reasoning between tags that it may begin with, and its answer, piece by piece. */
export class TaggedThought {
  /** `begin`: it may still become a tag. `gap`: space between the thought and the answer is part of neither. */
  #at: "begin" | "lead" | "thought" | "gap" | "answer" = "begin";
  /** What may become a tag. */
  #held = "";
  /** Whether the text begins with a thought. */
  thinks = false;

  /** Whether what follows is the answer. */
  get closed(): boolean {
    return this.#at === "gap" || this.#at === "answer";
  }

  add(piece: string): Split {
    if (this.#at === "answer") return { thought: "", answer: piece };
    this.#held += piece;
    if (this.#at === "begin") {
      if (this.#held.length < OPEN.length && OPEN.startsWith(this.#held)) return NOTHING;
      this.thinks = this.#held.startsWith(OPEN);
      this.#at = this.thinks ? "lead" : "answer";
      if (this.thinks) this.#held = this.#held.slice(OPEN.length);
    }
    const thought = this.thinks && !this.closed ? this.#takeThought() : "";
    if (this.#at === "gap") {
      this.#held = this.#held.trimStart();
      if (this.#held !== "") this.#at = "answer";
    }
    return { thought, answer: this.#at === "answer" ? this.rest().answer : "" };
  }

  /** What was held back, at the end of the text. */
  rest(): Split {
    const held = this.#held;
    this.#held = "";
    return this.#at === "lead" || this.#at === "thought"
      ? { thought: held, answer: "" }
      : { thought: "", answer: held };
  }

  #takeThought(): string {
    if (this.#at === "lead") {
      this.#held = this.#held.trimStart();
      if (this.#held === "") return "";
      this.#at = "thought";
    }
    const end = this.#held.indexOf(CLOSE);
    const known = end === -1 ? this.#held.length - beginningOf(CLOSE, this.#held) : end;
    const thought = this.#held.slice(0, known);
    this.#held = this.#held.slice(end === -1 ? known : end + CLOSE.length);
    if (end !== -1) this.#at = "gap";
    return thought;
  }
}

const NOTHING: Split = { thought: "", answer: "" };

/** How many characters of a tag the text ends with. */
function beginningOf(tag: string, text: string): number {
  let length = Math.min(tag.length - 1, text.length);
  while (!tag.startsWith(text.slice(text.length - length))) length--;
  return length;
}
