import { fold } from "../../core/search/fold.ts";
import { segmentWords } from "../../core/search/segment.ts";
import { termsOf } from "../../core/search/tokens.ts";
import type { Database } from "../database.ts";
import { WordRanking } from "../word-ranking.ts";

/** Characters that belong to a word. By default, combining marks would split the words of many languages. */
const TOKENIZER = "porter unicode61 categories 'L* N* Co Mn Mc'";

/** The full-text index of a table: an FTS5 table whose row ids are those of the entries. It does not store their texts. */
export class WordIndex {
  readonly #db: Database;
  readonly #table: string;

  constructor(db: Database, name: string) {
    this.#db = db;
    this.#table = `${name}_words`;
  }

  /** Must not be called in the transaction that fills it: SQLite does not recover from its rollback. */
  create(): void {
    this.#db.write(
      `create virtual table if not exists ${this.#table} using fts5 (text, content = '', contentless_delete = 1, tokenize = "${TOKENIZER}")`,
    );
    // Counts the entries of each token.
    this.#db.write(
      `create virtual table if not exists ${this.#table}_terms using fts5vocab (${this.#table}, 'row')`,
    );
  }

  drop(): void {
    this.#db.write(`drop table if exists ${this.#table}_terms`);
    this.#db.write(`drop table if exists ${this.#table}`);
  }

  add(seq: number, text: string): void {
    this.#db.write(
      `insert into ${this.#table} (rowid, text) values (?, ?)`,
      seq,
      // SQLite removes accents of Latin letters only.
      segmentWords(fold(text)),
    );
  }

  replace(seq: number, text: string): void {
    this.#db.write(
      `update ${this.#table} set text = ? where rowid = ?`,
      segmentWords(fold(text)),
      seq,
    );
  }

  remove(seq: number): void {
    this.#db.write(`delete from ${this.#table} where rowid = ?`, seq);
  }

  /** The entries with the words of a text. @param size the number of entries */
  ranking(text: string, size: number): WordRanking {
    return new WordRanking(
      this.#db,
      this.#table,
      termsOf(segmentWords(fold(text)), "porter"),
      size,
    );
  }
}
