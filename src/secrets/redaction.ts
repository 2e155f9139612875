import { fromBase64, toBase64 } from "../core/base64.ts";
import type { JsonObject } from "../core/json.ts";
import { REPLACEMENT, SecretForms } from "./secret-forms.ts";
import { secretFields } from "./secret-fields.ts";

/** Shorter texts occur by chance. */
const SHORTEST = 4;
/** The same for a piece of base64, whose characters are fewer. */
const SHORTEST_ENCODED = 8;

/** The same for an answer of a model, in which words of prose must stay: many keys of local servers are short words. */
const SHORTEST_IN_ANSWERS = 8;

/** Removes secrets from texts, also in the forms in which servers and programs repeat them. */
export class Redaction {
  readonly #values = new Set<string>();
  /** The forms of all values, the longest first: one may contain another. Made when they are needed. */
  #forms: string[] | undefined;
  #inAnswers: SecretForms | undefined;

  /** @param config a component's config: all of its secret values are remembered, see {@link secretFields} */
  constructor(config: object = {}) {
    for (const { value } of secretFields(config as JsonObject)) this.remember(value);
  }

  remember(secret: string): void {
    if (this.#values.has(secret)) return;
    this.#values.add(secret);
    this.#forms = undefined;
    this.#inAnswers = undefined;
  }

  /** `text` without the secrets. */
  redact(text: string): string {
    this.#forms ??= this.#formsFrom(SHORTEST);
    let redacted = text;
    for (const form of this.#forms) redacted = redacted.replaceAll(form, REPLACEMENT);
    return redacted;
  }

  /** The forms of the secrets that an answer of a model must not have. */
  get inAnswers(): SecretForms {
    this.#inAnswers ??= new SecretForms(
      this.#formsFrom(SHORTEST_IN_ANSWERS),
      new Set([...this.#values].flatMap(partsOf)),
    );
    return this.#inAnswers;
  }

  #formsFrom(shortest: number): string[] {
    const forms = [...this.#values].flatMap((secret) => formsOf(secret, shortest));
    return [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  }
}

function formsOf(secret: string, shortest: number): string[] {
  return partsOf(secret).flatMap((part) =>
    part.length < shortest
      ? []
      : [
          ...inJson(part).flatMap(inJson),
          ...percentEncoded(part),
          inHtml(part),
          ...inBase64(part),
          ...inHex(part),
        ],
  );
}

/** A secret, and the parts of it that a server may repeat: without its scheme, decoded, the password of a pair. */
function partsOf(secret: string): string[] {
  const [, scheme, credential] = /^([A-Za-z]+) +(\S+)$/.exec(secret) ?? [];
  const parts = [secret, percentDecoded(secret)];
  if (credential === undefined) return parts;
  parts.push(credential);
  const pair = scheme?.toLowerCase() === "basic" ? base64Decoded(credential) : undefined;
  if (pair !== undefined) parts.push(pair, pair.slice(pair.indexOf(":") + 1));
  return parts;
}

/** As JSON writers do it: plain, with `\/`, without characters that mean something in HTML, with ASCII only. */
function inJson(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  return [
    text,
    plain,
    plain.replaceAll("/", "\\/"),
    plain.replaceAll(/[<>&]/g, escaped),
    plain.replaceAll(/[^ -~]/g, escaped),
  ];
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** As in paths, as RFC 3986 has it, and as in forms; all with hexadecimal digits of either case. */
function percentEncoded(text: string): string[] {
  const form = new URLSearchParams([["", text]]).toString().slice(1);
  const strict = form.replaceAll("+", "%20").replaceAll("*", "%2A").replaceAll("%7E", "~");
  const path = strict.replaceAll(/%2[1789A]/g, (code) => decodeURIComponent(code));
  return [path, strict, form].flatMap((one) => [
    one,
    one.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  ]);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function inHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** The characters that only depend on the text, wherever it starts in what is encoded. */
function inBase64(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = toBase64(new Uint8Array([...new Uint8Array(offset), ...bytes]));
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const own = encoded.slice(first, last);
    if (own.length < SHORTEST_ENCODED) return [];
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function base64Decoded(text: string): string | undefined {
  try {
    return new TextDecoder().decode(fromBase64(text));
  } catch {
    return undefined;
  }
}

function inHex(text: string): string[] {
  const digits = [...new TextEncoder().encode(text)].map((byte) =>
    byte.toString(16).padStart(2, "0"),
  );
  return [digits.join(""), digits.join("").toUpperCase()];
}
