import type { DocumentChunk } from "../../contract/gateways/memory-gateway.ts";

/** A paragraph, list, table or other piece of a document, with its place. */
export interface Block {
  /** The headings above it, outermost first. */
  headings: readonly string[];
  /** From 1; null in documents without pages. */
  page: number | null;
  text: string;
}

/** Tokens of a chunk: few enough to be one topic, enough to be understood alone. */
const CHUNK_TOKENS = 400;
const LONGEST_HEADING = 500;

/** Packs blocks into chunks. A chunk is of one section and one page; a longer block becomes several chunks. */
export function chunksOf(blocks: Iterable<Block>): DocumentChunk[] {
  const chunks: DocumentChunk[] = [];
  let place: Pick<DocumentChunk, "heading" | "page"> = { heading: null, page: null };
  let parts: string[] = [];
  let tokens = 0;
  const flush = (): void => {
    if (parts.length > 0)
      chunks.push({ chunk: chunks.length, ...place, content: parts.join("\n\n") });
    parts = [];
    tokens = 0;
  };
  for (const { headings, page, text } of blocks) {
    const heading = headingPath(headings);
    if (heading !== place.heading || page !== place.page) flush();
    place = { heading, page };
    for (const piece of piecesOf(text)) {
      if (tokens > 0 && tokens + piece.tokens > CHUNK_TOKENS) flush();
      parts.push(piece.text);
      tokens += piece.tokens;
    }
  }
  flush();
  return chunks;
}

function headingPath(headings: readonly string[]): string | null {
  const named = headings.filter((heading) => heading !== "");
  if (named.length === 0) return null;
  const path = named.join(" > ");
  return path.length <= LONGEST_HEADING ? path : `…${path.slice(-LONGEST_HEADING)}`;
}

/** The places where a text may be divided, the best first. */
const BREAKS = [/\n/, /[.!?…:;]\s|[。！？；]/, /\s/];

/** Divides a text into pieces that fit into a chunk: between lines, sentences or words, wherever they are. */
function* piecesOf(text: string): Generator<{ text: string; tokens: number }> {
  let rest = text.trim();
  while (rest !== "") {
    const end = reach(rest);
    const at = end === rest.length ? end : breakBefore(rest, end);
    const piece = rest.slice(0, at).trim();
    yield { text: piece, tokens: tokensOf(piece) };
    rest = rest.slice(at).trimStart();
  }
}

/** How many characters of a text fit into a chunk. */
function reach(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index++) {
    tokens += cost(text.charCodeAt(index));
    if (tokens > CHUNK_TOKENS) return index;
  }
  return text.length;
}

/** Where to divide a text, of which `end` characters fit: in the second half of these. */
function breakBefore(text: string, end: number): number {
  const half = Math.floor(end / 2);
  for (const pattern of BREAKS) {
    for (let index = end - 1; index >= half; index--) {
      const found = pattern.exec(text.slice(index, index + 2));
      if (found?.index === 0) return index + 1;
    }
  }
  // Not between the halves of a character.
  const low = text.charCodeAt(end);
  return low >= 0xdc00 && low <= 0xdfff ? Math.max(1, end - 1) : Math.max(1, end);
}

function tokensOf(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index++) tokens += cost(text.charCodeAt(index));
  return tokens;
}

/** The average tokens of a character: of Latin letters, of other alphabets, and of scripts in which it is a word. */
function cost(code: number): number {
  return code < 0x80 ? 0.25 : code < 0x2e80 ? 0.5 : 1;
}
