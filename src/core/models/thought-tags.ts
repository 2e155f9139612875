/**
 * The client's treatment of thoughts that a model writes into its text: it keeps them apart as the thought of the answer,
 * or leaves all of it as text.
 */
export type ThoughtTags = "thought" | "text";

interface Tag {
  open: string;
  /** The end of the thought; undefined for a mark with which the answer begins. */
  close?: RegExp;
  /** True if its text is the answer if nothing follows it. */
  isSaid?: boolean;
  /** True if it is never text, so that a thought without an end is one. */
  isMark?: boolean;
}

const NAMES = ["think", "thinking", "reasoning", "thought"];

/** The marks of gpt-oss, which a server without a parser for them passes on: https://cookbook.openai.com/articles/openai-harmony */
const CHANNELS: readonly Tag[] = ["<|channel|>", "<|start|>assistant<|channel|>"].flatMap(
  (begin) => {
    const close = /<\|end\|>|(?=<\|start\|>|<\|channel\|>)/;
    return [
      { open: `${begin}analysis<|message|>`, close, isMark: true },
      { open: `${begin}commentary<|message|>`, close, isMark: true, isSaid: true },
      { open: `${begin}final<|message|>` },
    ];
  },
);

const TAGS: readonly Tag[] = [
  ...NAMES.map((name) => ({ open: `<${name}>`, close: new RegExp(`</${name}>`, "i") })),
  { open: "[think]", close: /\[\/THINK\]/i },
  ...CHANNELS,
];

const CLOSINGS = [
  ...NAMES.map((name) => `</${name}>`),
  "[/think]",
  "<|end|>",
  "<|start|>",
  "<|channel|>",
];
const BEGINNINGS = [...TAGS.map(({ open }) => open), ...CLOSINGS];
const LONGEST = Math.max(...BEGINNINGS.map(({ length }) => length));

/** A tag at the beginning of a text, and where its thought begins. */
interface Opening {
  tag: Tag;
  end: number;
}

/** The tag with which a text begins after blanks. `unclear`: the text is too short to say. */
export function openingOf(text: string): Opening | "unclear" | undefined {
  const start = text.search(/\S/);
  if (start === -1) return "unclear";
  const head = text.slice(start, start + LONGEST).toLowerCase();
  const tag = TAGS.find(({ open }) => head.startsWith(open));
  if (tag !== undefined) return { tag, end: start + tag.open.length };
  return BEGINNINGS.some((mark) => mark.length > head.length && mark.startsWith(head))
    ? "unclear"
    : undefined;
}

/** The length of the end of a thought's text that may be the beginning of a closing tag. */
export function unclearLength(text: string): number {
  for (let length = Math.min(LONGEST - 1, text.length); length > 0; length--) {
    const end = text.slice(text.length - length).toLowerCase();
    if (CLOSINGS.some((closing) => closing.startsWith(end))) return length;
  }
  return 0;
}

/** A text without the thoughts at its beginning. `thought` is null if it has none. */
export interface SplitText {
  thought: string | null;
  content: string;
}

/**
 * Takes the thoughts from the beginning of an answer: between tags, or before a closing tag whose opening one is lost. A tag in the
 * middle of an answer is text.
 *
 * @param isCut whether the answer broke off, so that a thought without an end is one
 */
export function splitThought(text: string, isCut: boolean): SplitText {
  const thoughts: string[] = [];
  let rest = text;
  let said: string | undefined;
  for (;;) {
    const opening = openingOf(rest);
    if (opening === undefined || opening === "unclear") break;
    const { tag, end } = opening;
    const inside = rest.slice(end);
    if (tag.close === undefined) {
      const content = inside.replace(/<\|(?:return|end)\|>\s*$/, "");
      return { thought: joined(thoughts), content: content.trim() };
    }
    const closing = tag.close.exec(inside);
    if (closing === null && !isCut && tag.isMark !== true) break;
    const length = closing?.index ?? inside.length;
    thoughts.push(inside.slice(0, length));
    said = tag.isSaid === true ? thoughts.at(-1) : undefined;
    rest = inside.slice(length + (closing?.[0].length ?? 0));
  }
  if (thoughts.length === 0) {
    const lone = loneEndOf(text);
    if (lone === undefined) return { thought: null, content: text };
    return { thought: text.slice(0, lone.index).trim(), content: text.slice(lone.end).trim() };
  }
  if (said !== undefined && rest.trim() === "") {
    return { thought: joined(thoughts.slice(0, -1)), content: said.trim() };
  }
  return { thought: joined(thoughts), content: rest.trim() };
}

function joined(thoughts: readonly string[]): string | null {
  if (thoughts.length === 0) return null;
  return thoughts
    .map((thought) => thought.trim())
    .filter((thought) => thought !== "")
    .join("\n\n");
}

/** The place of a closing tag. */
interface TagRange {
  index: number;
  end: number;
}

function loneEndOf(text: string): TagRange | undefined {
  if (mayBeJson(text) && isJson(text)) return undefined;
  const search = new LoneEnd();
  return search.add(text) ?? search.finish();
}

/** True if a text begins as JSON does. A closing tag in a string of it is text, which only the whole text can show. */
export function mayBeJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const MARK = new RegExp(
  `<(/?)(${NAMES.join("|")})\\b[^<>]*>|\\[(/?)(THINK)\\]|(?:<\\|end\\|>)?(?:<\\|start\\|>assistant)?<\\|channel\\|>final<\\|message\\|>`,
  "gi",
);
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const CODE = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g;

/** A search of the line for each of its pieces would be slow beyond this length. */
const LONGEST_OPEN_LINE = 10_000;

/**
 * Looks through a text in pieces for the end of a thought whose beginning is lost: the first closing tag outside code that has no
 * opening tag before it.
 */
export class LoneEnd {
  /** The line that is not complete, and where it begins. */
  #line = "";
  #start = 0;
  #fence: string | undefined;
  #opened = new Set<string>();

  add(piece: string): TagRange | undefined {
    const [first = "", ...others] = piece.split("\n");
    this.#line += first;
    for (const next of others) {
      const found = this.finish();
      if (found !== undefined) return found;
      this.#start += this.#line.length + 1;
      this.#line = next;
    }
    // A tag ends with one of these, so that most pieces need no search. A long line is searched when it is complete.
    if (!/[>\]]/.test(piece) || this.#line.length > LONGEST_OPEN_LINE) return undefined;
    // A quotation mark of code before the tag may have its counterpart in the rest of the line.
    if (this.#fence !== undefined || this.#line.trimStart().startsWith("~~~")) return undefined;
    const [clear = ""] = this.#line.split("`", 1);
    return this.#searchIn(clear, new Set(this.#opened));
  }

  /** Searches the line that is complete now. */
  finish(): TagRange | undefined {
    const line = this.#line;
    const fence = FENCE.exec(line)?.[1];
    if (this.#fence !== undefined) {
      if (fence?.startsWith(this.#fence) && line.trim() === fence) this.#fence = undefined;
      return undefined;
    }
    this.#fence = fence;
    if (fence !== undefined) return undefined;
    const clear = line.replace(CODE, (code) => " ".repeat(code.length));
    return this.#searchIn(clear, this.#opened);
  }

  #searchIn(line: string, opened: Set<string>): TagRange | undefined {
    for (const { index, 0: mark, 1: slash, 2: name, 3: other, 4: bracket } of line.matchAll(MARK)) {
      const tag = (name ?? bracket ?? "").toLowerCase();
      const isOpening = tag !== "" && (slash ?? other) === "";
      if (isOpening) opened.add(tag);
      else if (!opened.has(tag))
        return { index: this.#start + index, end: this.#start + index + mark.length };
    }
    return undefined;
  }
}
