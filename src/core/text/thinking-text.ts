const OPEN = "<think>";
const CLOSE = "</think>";

/** The addition of a piece to a text; empty strings if it adds nothing. */
interface Added {
  thought: string;
  answer: string;
}

/** A text that streams. Clients of models put reasoning between tags at its beginning; the answer comes after it. */
export class ThinkingText {
  thought = "";
  answer = "";
  /** True if it begins with a tag. */
  thinks = false;
  #part: "head" | "thought" | "gap" | "answer" = "head";
  /** May be the beginning of a tag. */
  #unread = "";

  /** @param plain whether all of it is the answer */
  constructor(plain = false) {
    if (plain) this.#part = "answer";
  }

  /** True if the text has no thought, or its thought has ended. */
  get isAnswer(): boolean {
    return this.#part === "gap" || this.#part === "answer";
  }

  add(piece: string): Added {
    this.#unread += piece;
    if (this.#part === "head") this.#readHead();
    const thought = this.#part === "thought" ? this.#readThought() : "";
    if (this.#part === "gap") {
      // Space between the thought and the answer is part of neither.
      this.#unread = this.#unread.trimStart();
      if (this.#unread !== "") this.#part = "answer";
    }
    return this.#added(thought, this.#part === "answer" ? this.#take(this.#unread.length) : "");
  }

  /** The rest of a text that has ended. */
  end(): Added {
    const rest = this.#take(this.#unread.length);
    return this.#part === "thought" ? this.#added(rest, "") : this.#added("", rest);
  }

  #readHead(): void {
    if (this.#unread.length < OPEN.length && OPEN.startsWith(this.#unread)) return;
    this.#part = this.#unread.startsWith(OPEN) ? "thought" : "answer";
    this.thinks = this.#part === "thought";
    if (this.thinks) this.#take(OPEN.length);
  }

  #readThought(): string {
    const end = this.#unread.indexOf(CLOSE);
    if (end === -1) {
      let tag = Math.min(CLOSE.length - 1, this.#unread.length);
      while (!CLOSE.startsWith(this.#unread.slice(this.#unread.length - tag))) tag--;
      return this.#take(this.#unread.length - tag);
    }
    this.#part = "gap";
    const thought = this.#take(end);
    this.#take(CLOSE.length);
    return thought;
  }

  #take(length: number): string {
    const taken = this.#unread.slice(0, length);
    this.#unread = this.#unread.slice(length);
    return taken;
  }

  #added(thought: string, answer: string): Added {
    // Space before a thought is not part of it, either.
    const added = this.thought === "" ? thought.trimStart() : thought;
    this.thought += added;
    this.answer += answer;
    return { thought: added, answer };
  }
}
