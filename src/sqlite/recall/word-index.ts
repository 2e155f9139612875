import { fittingLanguages, formOf, queryWords, tokensOf } from "../../core/search/tokens.ts";
import type { TextLanguage } from "../../core/search/languages.ts";
import type { Database } from "../database.ts";
import { type EarlierTable, languageTokens, WORD_TOKENIZER, WordRanking } from "../word-ranking.ts";

/** Names the tables of the present form; those before it had no number, and texts that SQLite itself took apart. */
const FORM = "_words_2";
const EARLIER_FORM = "_words";

/** The tokenizer of entries' words. */
const TOKENIZER = "porter";

/**
 * The full-text index of a table: an FTS5 table whose row ids are those of the entries. It does not store their texts but their
 * tokens. Entries of an index that an earlier version has made are found in its table until they are added here.
 */
export class WordIndex {
  readonly #db: Database;
  readonly #table: string;
  readonly #earlierTable: string;

  constructor(db: Database, name: string) {
    this.#db = db;
    this.#table = name + FORM;
    this.#earlierTable = name + EARLIER_FORM;
  }

  /** True if there are tables of the present form, or of the earlier one. */
  get exists(): boolean {
    return this.#exists || this.hasEarlier;
  }

  get #exists(): boolean {
    return this.#db.hasTable(`${this.#table}_terms`);
  }

  /** True if entries wait in a table of the earlier form. */
  get hasEarlier(): boolean {
    return this.#db.hasTable(`${this.#earlierTable}_terms`);
  }

  /** Must not be called in the transaction that fills it: SQLite does not recover from its rollback. */
  create(): void {
    if (this.#exists) return;
    this.#db.write(
      `create virtual table if not exists ${this.#table} using fts5 (text, content = '', contentless_delete = 1, tokenize = "${WORD_TOKENIZER}")`,
    );
    // Counts the entries of each token.
    this.#db.write(
      `create virtual table if not exists ${this.#table}_terms using fts5vocab (${this.#table}, 'row')`,
    );
  }

  drop(): void {
    for (const table of [this.#table, this.#earlierTable]) this.#drop(table);
  }

  add(seq: number, text: string, language: TextLanguage): void {
    this.#db.write(
      `insert into ${this.#table} (rowid, text) values (?, ?)`,
      seq,
      tokensOf(text, { tokenizer: TOKENIZER, language }).join(" "),
    );
  }

  replace(seq: number, text: string, language: TextLanguage): void {
    this.remove(seq);
    this.add(seq, text, language);
  }

  remove(seq: number): void {
    this.#db.write(`delete from ${this.#table} where rowid = ?`, seq);
    if (this.hasEarlier) this.#db.write(`delete from ${this.#earlierTable} where rowid = ?`, seq);
  }

  /** The entries with the words of a text. @param size the number of entries */
  ranking(text: string, size: number, language: TextLanguage): WordRanking {
    const by = { tokenizer: TOKENIZER, language } as const;
    const words = queryWords(text, by, languageTokens(this.#db, this.#table));
    const earlier: EarlierTable | undefined = this.hasEarlier
      ? { name: this.#earlierTable, wordOf: formOf }
      : undefined;
    return new WordRanking(this.#db, this.#table, words, size, earlier);
  }

  /**
   * Entries that have to be added again: those in a table of the earlier form, and those whose words were read in another language.
   *
   * @param language the one that all entries are to have; undefined where each has its own
   */
  outdated(language: TextLanguage | undefined): number[] {
    const seqs = this.hasEarlier ? this.#rowIds(this.#earlierTable) : [];
    if (language === undefined) return seqs;
    const tokens = languageTokens(this.#db, this.#table);
    const fitting = new Set(fittingLanguages(language, tokens));
    const others = tokens.filter((token) => !fitting.has(token));
    if (others.length === 0) return seqs;
    const query = others.map((token) => `"${token}"`).join(" OR ");
    return [...seqs, ...this.#rowIds(this.#table, query)];
  }

  /** Drops the table of the earlier form once nothing waits in it. Must not be called in a transaction. */
  dropEarlier(): void {
    if (!this.hasEarlier || this.#rowIds(this.#earlierTable).length > 0) return;
    this.#drop(this.#earlierTable);
  }

  #rowIds(table: string, query?: string): number[] {
    const where = query === undefined ? "" : ` where ${table} match ?`;
    return this.#db
      .all<{ seq: number }>(
        `select rowid as seq from ${table}${where}`,
        ...(query === undefined ? [] : [query]),
      )
      .map(({ seq }) => seq);
  }

  #drop(table: string): void {
    this.#db.write(`drop table if exists ${table}_terms`);
    this.#db.write(`drop table if exists ${table}`);
  }
}
