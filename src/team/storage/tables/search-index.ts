import type { Hit } from "../../../core/search/rank.ts";
import type { LogIndex, LogSource } from "../../../core/state/item-log.ts";
import { fold } from "../../../core/search/fold.ts";
import { queryWords, tokensOf } from "../../../core/search/tokens.ts";
import type { Database } from "../../../sqlite/database.ts";
import { languageTokens, WORD_TOKENIZER, WordRanking } from "../../../sqlite/word-ranking.ts";
import { createSearchTable } from "./schema.ts";

/** Items read per batch while an index is built. */
const PAGE = 500;

/** Hits that are requested at first. */
const FIRST_HITS = 16;

/** The form of the tokens: an index of another one is made again. */
const FORM = 2;

interface IndexRow extends Record<string, string | number> {
  id: number;
  generation: number;
  tokenizer: string;
}

/**
 * The full-text index of one log: an FTS5 table of its own, whose row ids are the items' places in the log, and whose
 * texts are not stored again. It can always be rebuilt from the log, so it may be behind: in an object that was forked,
 * or is older than the index.
 */
export class SearchIndex {
  readonly #db: Database;
  readonly #path: string;
  readonly #index: LogIndex<unknown>;

  constructor(db: Database, path: string, index: LogIndex<unknown>) {
    this.#db = db;
    this.#path = path;
    this.#index = index;
  }

  /**
   * Brings the index up to `log`. In a transaction, it must be the last statement: SQLite does not recover from the
   * rollback of a full-text table that was created and filled in it.
   */
  follow(log: LogSource<unknown>): void {
    const table = this.#table(log.generation);
    const last = this.#db.first<{ last: number | null }>(`select max(rowid) as last from ${table}`);
    for (let from = (last?.last ?? -1) + 1; from < log.length; from += PAGE) {
      const items = log.read(from, Math.min(log.length, from + PAGE));
      for (const [index, item] of items.entries()) {
        this.#db.write(
          `insert into ${table} (rowid, text) values (?, ?)`,
          from + index,
          this.#indexed(this.#index.textOf(item)),
        );
      }
    }
  }

  /** As {@link LogSource.search}, over `log`, which the index follows already. */
  search(log: LogSource<unknown>, query: string, visit: (hits: readonly Hit[]) => boolean): void {
    const table = this.#table(log.generation);
    const words = queryWords(query, this.#index, languageTokens(this.#db, table));
    for (const hits of new WordRanking(this.#db, table, words, log.length).hits(FIRST_HITS)) {
      if (!visit(hits.map(({ seq, score }) => ({ index: seq, score })))) return;
    }
  }

  /** Searches items that follow those of the index and are not stored yet. The index stays unchanged. */
  searchOnce(...[log, ...search]: Parameters<SearchIndex["search"]>): void {
    this.#db.tryOut(() => {
      this.follow(log);
      this.search(log, ...search);
    });
  }

  /** The form of a text for SQLite: words as tokens; it makes trigrams by itself. */
  #indexed(text: string): string {
    if (this.#index.tokenizer === "trigram") return fold(text);
    return tokensOf(text, this.#index).join(" ");
  }

  /** The name of the index's table; it is empty if there was none for this generation. */
  #table(generation: number): string {
    const { tokenizer, language = "auto" } = this.#index;
    const form = `${tokenizer}/${language}/${FORM}`;
    createSearchTable(this.#db);
    const row = this.#db.first<IndexRow>(
      "select id, generation, tokenizer from search where path = ?",
      this.#path,
    );
    if (row?.generation === generation && row.tokenizer === form) return nameOf(row.id);
    if (row !== undefined) dropIndex(this.#db, row.id);
    this.#db.write(
      "insert into search (path, generation, tokenizer) values (?, ?, ?)",
      this.#path,
      generation,
      form,
    );
    const id = this.#db.first<{ id: number }>("select last_insert_rowid() as id")?.id ?? 0;
    this.#db.write(
      `create virtual table ${nameOf(id)} using fts5 (text, content = '', tokenize = "${tokenizer === "trigram" ? tokenizer : WORD_TOKENIZER}")`,
    );
    // Counts the items of each token.
    this.#db.write(
      `create virtual table ${nameOf(id)}_terms using fts5vocab (${nameOf(id)}, 'row')`,
    );
    return nameOf(id);
  }
}

/** Removes the indexes of logs that do not continue, because another component replaced the one that had them. */
export function dropIndexes(db: Database, goOn: ReadonlySet<string>): void {
  if (!db.hasTable("search")) return;
  for (const { id, path } of db.all<{ id: number; path: string }>("select id, path from search")) {
    if (!goOn.has(path)) dropIndex(db, id);
  }
}

function dropIndex(db: Database, id: number): void {
  db.write(`drop table ${nameOf(id)}_terms`);
  db.write(`drop table ${nameOf(id)}`);
  db.write("delete from search where id = ?", id);
}

function nameOf(id: number): string {
  return `search_${id}`;
}
