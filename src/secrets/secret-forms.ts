/** Takes the place of a secret in a text. */
export const REPLACEMENT = "[redacted]";

/**
 * An encoded secret waits from here on. Its first characters are anything, and every other piece of a text would end with one
 * of them.
 */
const WAITS_FROM = 4;

/** A part of a text that arrives piece by piece. */
interface Taken {
  /** The text that can be shown. */
  clean: string;
  /** The end that may be the beginning of a secret. */
  held: string;
  /** The end of what was shown, with which an encoded secret may begin. */
  context: string;
}

/** Finds secrets in texts, also in one that arrives piece by piece. */
export class SecretForms {
  /** The forms by their first character, the longest first. */
  readonly #byFirst = new Map<string, string[]>();
  readonly #firsts: RegExp | undefined;
  readonly #plain: ReadonlySet<string>;

  /**
   * @param forms texts that stand for secrets, the longest first: one may be the beginning of another
   * @param plain those that are not encoded
   */
  constructor(forms: readonly string[], plain: ReadonlySet<string>) {
    this.#plain = plain;
    for (const form of forms) {
      const first = form.charAt(0);
      const same = this.#byFirst.get(first);
      if (same === undefined) this.#byFirst.set(first, [form]);
      else same.push(form);
    }
    const characters = [...this.#byFirst.keys()].map(
      (first) => `\\u${first.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    if (characters.length > 0) this.#firsts = new RegExp(`[${characters.join("")}]`, "g");
  }

  /** True if there is no secret to be found. */
  get isEmpty(): boolean {
    return this.#firsts === undefined;
  }

  /** A whole text without the secrets. */
  redact(text: string): string {
    return this.take("", text, true).clean;
  }

  /**
   * A part of a text without the secrets.
   *
   * @param context the end of the part before it
   * @param isLast whether nothing follows, so that nothing has to wait
   */
  take(context: string, part: string, isLast: boolean): Taken {
    const firsts = this.#firsts;
    if (firsts === undefined) return { clean: part, held: "", context: "" };
    const text = context + part;
    let clean = "";
    /** The beginning of the text that is not in `clean` yet. */
    let from = context.length;
    let end = text.length;
    firsts.lastIndex = 0;
    for (let found = firsts.exec(text); found !== null; found = firsts.exec(text)) {
      const at = found.index;
      const match = this.#at(text, at, isLast);
      if (match === undefined) continue;
      if (match === "may begin") {
        end = Math.max(at, context.length);
        break;
      }
      clean += text.slice(from, Math.max(at, from)) + REPLACEMENT;
      from = at + match.length;
      firsts.lastIndex = from;
    }
    const visible = text.slice(from, end);
    return {
      clean: clean === "" ? visible : clean + visible,
      held: text.slice(end),
      context: text.slice(Math.max(clean === "" ? 0 : from, end - WAITS_FROM + 1), end),
    };
  }

  #at(text: string, at: number, isLast: boolean): { length: number } | "may begin" | undefined {
    const left = text.length - at;
    for (const form of this.#byFirst.get(text.charAt(at)) ?? []) {
      if (form.length <= left) {
        if (text.startsWith(form, at)) return { length: form.length };
        continue;
      }
      const waits = !isLast && (left >= WAITS_FROM || this.#plain.has(form));
      if (waits && form.startsWith(text.slice(at))) return "may begin";
    }
    return undefined;
  }
}

/** Removes secrets from a text that arrives piece by piece. Only an end that may be the beginning of a secret waits. */
export class PieceRedaction {
  readonly #forms: SecretForms;
  #held = "";
  #context = "";

  constructor(forms: SecretForms) {
    this.#forms = forms;
  }

  /** The text that can be shown after a piece; may be empty. */
  add(piece: string): string {
    return piece === "" ? "" : this.#take(piece, false);
  }

  /** The rest after the last piece. */
  end(): string {
    return this.#take("", true);
  }

  /** Forgets what waits, because another text begins. */
  clear(): void {
    this.#held = "";
    this.#context = "";
  }

  #take(piece: string, isLast: boolean): string {
    const { clean, held, context } = this.#forms.take(this.#context, this.#held + piece, isLast);
    this.#held = held;
    this.#context = context;
    return clean;
  }
}
