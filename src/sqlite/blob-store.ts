import type { Database } from "./database.ts";
import { LazyTable } from "./lazy-table.ts";
import { joined, type StoredPart, type PartStore } from "./part-store.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { fromBase64, toBase64 } from "../core/base64.ts";

/** Blobs that one page of a fork asks for. */
const MOST_WANTED = 64;

/** A blob that a fork lacks, and how many of its parts have arrived. */
export interface WantedBlob {
  hash: string;
  part: number;
}

/** One part of a blob that has `parts` of them. */
export interface BlobPart extends StoredPart {
  hash: string;
  parts: number;
}

/**
 * The large base64 of all stored texts, once for each content: decoded, by its SHA-256. Rows of the log, of threads,
 * contexts and snapshots are never removed one by one, so the blobs of their texts stay as long as the object and are not counted.
 * A text that may be removed counts as a user of its blobs; a blob without other reasons to stay is removed with its last user.
 */
export class BlobStore {
  readonly #db: Database;
  readonly #parts: PartStore;
  readonly #blobs: LazyTable;
  readonly #uses: LazyTable;

  constructor(db: Database, parts: PartStore) {
    this.#db = db;
    this.#parts = parts;
    // `parts` is null until the bytes of a fork's blob have arrived.
    const blob = "hash text primary key, parts integer, kept integer not null";
    this.#blobs = new LazyTable(db, "blob", `(${blob}) without rowid`);
    const use = "user text, hash text, primary key (user, hash)";
    this.#uses = new LazyTable(db, "blob_use", `(${use}) without rowid`);
  }

  /** Stores the base64 of a JSON text. Returns the text that refers to it. @param user undefined for a text that stays */
  share(json: string, user: string | undefined): string {
    return withReferences(json, ({ hash, content }) => {
      const blob = this.#find(hash);
      const kept = user === undefined || blob?.kept === 1;
      if (blob?.parts == null) {
        this.#blobs.create();
        const parts = this.#parts.write(owner(hash), content);
        const row = [hash, parts, Number(kept)];
        this.#db.write("insert or replace into blob values (?, ?, ?)", ...row);
      } else if (kept) this.#keep(hash);
      if (!kept) this.#use(user, hash);
      return true;
    });
  }

  /** Refers to the base64 that is stored, and leaves the rest of it where it is. */
  referTo(json: string): string {
    if (!this.exist) return json;
    return withReferences(json, ({ hash }) => this.#find(hash)?.parts != null);
  }

  /** The JSON text that {@link share} was given. */
  restore(text: string): string {
    if (!hasReferences(text)) return text;
    return withoutReferences(text, (hash) => joined(this.#parts.read(owner(hash))));
  }

  /** A text was removed. */
  release(user: string): void {
    if (!this.#uses.exists) return;
    const released = this.#db.all<{ hash: string }>(
      "select hash from blob_use where user = ?",
      user,
    );
    if (released.length === 0) return;
    this.#db.write("delete from blob_use where user = ?", user);
    for (const { hash } of released) {
      const used = this.#db.first("select 1 as used from blob_use where hash = ? limit 1", hash);
      if (used !== undefined || this.#find(hash)?.kept === 1) continue;
      this.#db.write("delete from blob where hash = ?", hash);
      this.#parts.remove(owner(hash));
    }
  }

  /** Keeps the blobs that a user refers to from now on. */
  keepAll(user: string): void {
    if (!this.#uses.exists) return;
    for (const { hash } of this.#db.all<{ hash: string }>(
      "select hash from blob_use where user = ?",
      user,
    )) {
      this.#keep(hash);
    }
    this.#db.write("delete from blob_use where user = ?", user);
  }

  /** A text of a fork arrived before the blobs that it refers to. */
  expect(text: string): void {
    for (const { hash } of referencesIn(text)) {
      this.#blobs.create();
      this.#db.write("insert or ignore into blob values (?, null, 1)", hash);
      this.#keep(hash);
    }
  }

  /** True if there are any. */
  get exist(): boolean {
    return this.#parts.exist && this.#blobs.exists;
  }

  /** Expected blobs that have not arrived completely. */
  get wanted(): WantedBlob[] {
    if (!this.#blobs.exists) return [];
    return this.#db
      .all<{ hash: string }>("select hash from blob where parts is null limit ?", MOST_WANTED)
      .map(({ hash }) => ({ hash, part: this.#parts.size(owner(hash)).count }));
  }

  /** The parts of blobs that a fork asks for. */
  *read(wanted: readonly WantedBlob[]): Iterable<BlobPart> {
    for (const { hash, part } of wanted) {
      const parts = this.#find(hash)?.parts ?? 0;
      for (const { n, body } of this.#parts.read(owner(hash), part)) yield { hash, parts, n, body };
    }
  }

  receive({ hash, parts, n, body }: BlobPart): void {
    this.#parts.add(owner(hash), n, body);
    if (n === parts - 1) this.#db.write("update blob set parts = ? where hash = ?", parts, hash);
  }

  #find(hash: string): { parts: number | null; kept: number } | undefined {
    if (!this.#blobs.exists) return undefined;
    return this.#db.first<{ parts: number | null; kept: number }>(
      "select parts, kept from blob where hash = ?",
      hash,
    );
  }

  #keep(hash: string): void {
    this.#db.write("update blob set kept = 1 where hash = ? and kept = 0", hash);
  }

  #use(user: string, hash: string): void {
    this.#uses.create();
    this.#db.write("insert or ignore into blob_use values (?, ?)", user, hash);
  }
}

function owner(hash: string): string {
  return `blob:${hash}`;
}

/** Shorter base64 stays in its text. */
export const SHORTEST_BASE64 = 4096;

/** Encloses a reference. JSON has this character as `\u0001` only, so no stored text has it elsewhere. */
const MARK = "\u0001";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Base64 as a blob. `form`: `bytes` that encode to it, or the `text` itself where it is not the standard encoding of any. */
interface Blob {
  form: "bytes" | "text";
  /** SHA-256 of `content`, lower-case hex. */
  hash: string;
  content: Uint8Array;
}

/** The reference that replaces base64 of this number of characters in a text. */
interface BlobReference extends Pick<Blob, "form" | "hash"> {
  length: number;
}

/**
 * Puts references in the place of the large base64 in a JSON text: images, files, and what texts contain of them.
 *
 * @param take whether the blob may be referred to; it is stored then
 */
export function withReferences(json: string, take: (blob: Blob) => boolean): string {
  let text = "";
  let end = 0;
  for (const run of base64Runs(json)) {
    const base64 = json.slice(run.start, run.end);
    const blob = blobOf(base64);
    if (!take(blob)) continue;
    text += `${json.slice(end, run.start)}${MARK}${blob.form[0] ?? ""}${blob.hash}${base64.length}${MARK}`;
    end = run.end;
  }
  return end === 0 ? json : text + json.slice(end);
}

export function hasReferences(text: string): boolean {
  return text.includes(MARK);
}

export function referencesIn(text: string): BlobReference[] {
  return text.split(MARK).flatMap((part, index) => (index % 2 === 0 ? [] : [parse(part)]));
}

/** The JSON text with the base64 that its references stand for. */
export function withoutReferences(text: string, read: (hash: string) => Uint8Array): string {
  return text
    .split(MARK)
    .map((part, index) => {
      if (index % 2 === 0) return part;
      const { form, hash } = parse(part);
      const content = read(hash);
      return form === "bytes" ? toBase64(content) : decoder.decode(content);
    })
    .join("");
}

/** Characters of the JSON text. */
export function lengthWithoutReferences(text: string): number {
  return text
    .split(MARK)
    .reduce((sum, part, index) => sum + (index % 2 === 0 ? part.length : parse(part).length), 0);
}

function parse(reference: string): BlobReference {
  return {
    form: reference.startsWith("b") ? "bytes" : "text",
    hash: reference.slice(1, 65),
    length: Number(reference.slice(65)),
  };
}

function blobOf(base64: string): Blob {
  const form = isStandard(base64) ? "bytes" : "text";
  const content = form === "bytes" ? fromBase64(base64) : encoder.encode(base64);
  const hash = Array.from(sha256(content), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { form, hash, content };
}

/** True if its bytes encode to the same text. */
function isStandard(base64: string): boolean {
  if (base64.length % 4 !== 0 || /[-_]/.test(base64)) return false;
  const last = base64.slice(-4);
  try {
    return toBase64(fromBase64(last)) === last;
  } catch {
    return false;
  }
}

/**
 * The runs of base64 or base64url of at least {@link SHORTEST_BASE64} characters. Looks at few characters of other texts.
 */
function* base64Runs(json: string): Iterable<{ start: number; end: number }> {
  let after = 0;
  for (let probe = SHORTEST_BASE64 - 1; probe < json.length; probe += SHORTEST_BASE64) {
    if (!isBase64(json.charCodeAt(probe))) continue;
    let start = probe;
    while (start > after && isBase64(json.charCodeAt(start - 1))) start--;
    let end = probe + 1;
    while (isBase64(json.charCodeAt(end))) end++;
    after = end;
    probe = end;
    start += escapeLength(json, start);
    if (end - start < SHORTEST_BASE64) continue;
    const padded = json.startsWith("==", end) ? end + 2 : end + Number(json.startsWith("=", end));
    yield { start, end: padded };
  }
}

/** Letters, digits, `+`, `/`, `-` and `_`. */
function isBase64(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 47 && code <= 57) ||
    code === 43 ||
    code === 45 ||
    code === 95
  );
}

/** Characters at `start` that belong to an escape sequence of JSON: `n`, or `u000a`. */
function escapeLength(json: string, start: number): number {
  let backslashes = 0;
  while (json[start - 1 - backslashes] === "\\") backslashes++;
  if (backslashes % 2 === 0) return 0;
  return json[start] === "u" ? 5 : 1;
}
