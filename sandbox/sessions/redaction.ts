const REPLACEMENT = "[redacted]";

/** Shorter texts occur by chance. */
const SHORTEST = 4;

/** Shorter lines of a longer text are not secret by themselves. */
const SHORTEST_LINE = 8;

/** Takes the values of a request's variables out of its output, also as JSON writers repeat them. */
export class Redaction {
  /** The longest first: one may contain another. */
  readonly #forms: readonly string[];

  constructor(env: Readonly<Record<string, string>>) {
    const forms = Object.values(env).flatMap((value) =>
      value.length < SHORTEST ? [] : [value, ...longLines(value)].flatMap(asWritten),
    );
    this.#forms = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  }

  /** Whether there is anything to take out. */
  get needed(): boolean {
    return this.#forms.length > 0;
  }

  redact(text: string): string {
    let redacted = text;
    for (const form of this.#forms) redacted = redacted.replaceAll(form, REPLACEMENT);
    return redacted;
  }

  /** The same for a text that was cut, without the beginning of a value at its end. */
  redactCut(text: string): string {
    const redacted = this.redact(text);
    const cut = Math.max(0, ...this.#forms.map((form) => overlap(redacted, form)));
    return cut < SHORTEST ? redacted : redacted.slice(0, -cut) + REPLACEMENT;
  }
}

/** A key in the PEM format is printed line by line, too. */
function longLines(value: string): string[] {
  const lines = value.split(/\r?\n/);
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= SHORTEST_LINE);
}

/** As it is, and as JSON has it: with all characters, or with ASCII only. */
function asWritten(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = plain.replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [text, plain, ascii];
}

/** How many characters at the end of a text are the beginning of another. */
function overlap(text: string, form: string): number {
  for (let length = Math.min(text.length, form.length - 1); length > 0; length--)
    if (text.endsWith(form.slice(0, length))) return length;
  return 0;
}
