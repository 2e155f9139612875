import { MAX_DOCUMENT_CHUNKS } from "../../contract/constants.ts";
import { beginningOf } from "../../core/cut.ts";
import type { DocumentChunk } from "../../contract/gateways/memory-gateway.ts";
import { RefusedDocument } from "./sent-document.ts";

/** Tokens of a chunk: few enough to be one topic, enough to be understood alone. */
const CHUNK_TOKENS = 400;
/** The average tokens of a Latin letter, the fewest of any character. */
const LEAST_COST = 0.25;
/** The most characters that can fit into a chunk. */
const LONGEST_PIECE = CHUNK_TOKENS / LEAST_COST;

/**
 * Packs the text of a document into chunks while it is read, so that no more than a few thousand characters of it are held. A chunk is of one section and
 * one page; a longer block (a paragraph, list, table or other piece of the document) becomes several chunks.
 */
export class ChunkWriter {
  readonly #add: (chunk: DocumentChunk) => void;
  #count = 0;
  #sections = 0;
  /** The place of the text that follows. */
  #place: Pick<DocumentChunk, "heading" | "page"> = { heading: null, page: null };
  /** The place of the chunk that is being filled. */
  #filled = this.#place;
  #parts: string[] = [];
  #tokens = 0;
  /** The text of the present block that is in no piece yet. */
  #rest = "";

  constructor(add: (chunk: DocumentChunk) => void) {
    this.#add = add;
  }

  get count(): number {
    return this.#count;
  }

  /** The text that comes is below this heading or on this page. @throws RefusedDocument for too many of them */
  section(place: Pick<DocumentChunk, "heading" | "page">): void {
    this.end();
    this.#place = place;
    this.#sections++;
    if (this.#sections > MAX_DOCUMENT_CHUNKS) throw tooManyParts();
  }

  /** More text of the present block. */
  text(text: string): void {
    this.#rest += text;
    if (this.#rest.length > 2 * LONGEST_PIECE) this.#divide({ isLast: false });
  }

  /** Ends the present block. */
  end(): void {
    if (this.#rest !== "") this.#divide({ isLast: true });
  }

  /** Ends the document. */
  finish(): void {
    this.end();
    this.#flush();
  }

  /** Divides the text of a block into pieces that fit into a chunk: between lines, sentences or words, wherever they are. */
  #divide({ isLast }: { isLast: boolean }): void {
    const text = this.#rest;
    const end = text.trimEnd().length;
    let from = 0;
    for (;;) {
      while (from < end && text.charAt(from).trim() === "") from++;
      // The rest may be the beginning of a longer piece.
      if (end <= from || (!isLast && end - from <= LONGEST_PIECE)) break;
      const at = breakBefore(text, from, reach(text, from, end), end);
      this.#piece(text.slice(from, at).trim());
      from = at;
    }
    // More blanks than these are not looked at: what follows them is another piece anyway.
    this.#rest = isLast ? "" : text.slice(from, Math.max(from, end) + LONGEST_PIECE);
  }

  #piece(text: string): void {
    const tokens = tokensOf(text);
    const { heading, page } = this.#filled;
    const isElsewhere = heading !== this.#place.heading || page !== this.#place.page;
    if (isElsewhere || (this.#tokens > 0 && this.#tokens + tokens > CHUNK_TOKENS)) this.#flush();
    this.#filled = this.#place;
    this.#parts.push(text);
    this.#tokens += tokens;
  }

  #flush(): void {
    if (this.#parts.length === 0) return;
    if (this.#count === MAX_DOCUMENT_CHUNKS) throw tooManyParts();
    // A character may have been divided by the document itself, as escapes of JSON.
    const content = this.#parts.join("\n\n").toWellFormed();
    this.#add({ chunk: this.#count, ...this.#filled, content });
    this.#count++;
    this.#parts = [];
    this.#tokens = 0;
  }
}

function tooManyParts(): RefusedDocument {
  return new RefusedDocument(
    "document_too_large",
    `has more than ${MAX_DOCUMENT_CHUNKS} parts (sections, and about ${CHUNK_TOKENS} tokens each). Divide it into several documents`,
  );
}

/** The places where a text may be divided, the best first. */
const BREAKS = [/\n/, /[.!?…:;]\s|[。！？；]/, /\s/];

/** The end of the part of a text from `from` that fits into a chunk. */
function reach(text: string, from: number, end: number): number {
  let tokens = 0;
  for (let index = from; index < end; index++) {
    tokens += cost(text.charCodeAt(index));
    if (tokens > CHUNK_TOKENS) return index;
  }
  return end;
}

/** The place to divide a text whose characters before `reached` fit: in the second half of these. */
function breakBefore(text: string, from: number, reached: number, end: number): number {
  if (reached === end) return end;
  const half = from + Math.floor((reached - from) / 2);
  for (const pattern of BREAKS) {
    for (let index = reached - 1; index >= half; index--) {
      const found = pattern.exec(text.slice(index, index + 2));
      if (found?.index === 0) return index + 1;
    }
  }
  return from + Math.max(1, beginningOf(text.slice(from, reached + 1), reached - from).length);
}

function tokensOf(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index++) tokens += cost(text.charCodeAt(index));
  return tokens;
}

/** The average tokens of a character: of Latin letters, of other alphabets, and of scripts in which it is a word. */
function cost(code: number): number {
  return code < 0x80 ? LEAST_COST : code < 0x2e80 ? 0.5 : 1;
}
