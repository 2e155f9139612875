import { type Hit, rarest } from "../../core/search/rank.ts";
import type { LogIndex, LogSource } from "../../core/state/item-log.ts";
import { fold } from "../../core/search/tokens.ts";
import type { Database } from "./database.ts";
import { createSearchTable, hasTable } from "./schema.ts";

/** Items read at once while an index is built. */
const PAGE = 500;

/** Hits asked for at first, and at most at a time: each time SQLite ranks all of them again. */
const FIRST_HITS = 16;
const MOST_HITS = 16_384;

/** What is part of a word: combining marks as well, which by default split the words of many languages. */
const WORDS = "unicode61 categories 'L* N* Co Mn Mc'";

/** How the tables of an index are made, by tokenizer. */
const TOKENIZERS = { porter: `porter ${WORDS}`, unicode61: WORDS, trigram: "trigram" };

interface IndexRow extends Record<string, string | number> {
  id: number;
  generation: number;
  tokenizer: string;
}

/** Thrown to undo what must not stay. */
class Undo extends Error {}

/**
 * The full-text index of one log: an FTS5 table of its own, whose row ids are the items' places in the log, and whose
 * texts are not stored again. It can always be made anew of the log, so it may be behind: in an object that was forked,
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
   * Makes the index that of `log`. As the last thing of a transaction, if in one: SQLite does not get over a full-text
   * table that was made and filled and is taken back.
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
          // SQLite knows the accents of Latin letters only.
          fold(this.#index.textOf(item)),
        );
      }
    }
  }

  /** As {@link LogSource.search}, over `log`, which the index follows already. */
  search(
    log: LogSource<unknown>,
    terms: ReadonlyMap<string, string>,
    visit: (hits: readonly Hit[]) => boolean,
  ): void {
    const table = this.#table(log.generation);
    const asked = rarest(terms.keys(), (token) => this.#itemsWith(token, table));
    if (asked.length === 0) return;
    const query = asked.map(({ token }) => `"${terms.get(token)}"`).join(" OR ");
    // Pages, because a reader that stops in the middle keeps the table locked: it could not be dropped.
    for (let offset = 0, size = FIRST_HITS; ;) {
      const hits = this.#db.all<{ index: number; score: number }>(
        `select rowid as "index", -rank as score from ${table} where ${table} match ? order by rank, rowid desc
           limit ? offset ?`,
        query,
        size,
        offset,
      );
      if (!visit(hits) || hits.length < size) return;
      offset += size;
      size = Math.min(4 * size, MOST_HITS);
    }
  }

  /** The same over what is not stored yet: items that follow the index's. It stays as it is. */
  searchOnce(...[log, ...search]: Parameters<SearchIndex["search"]>): void {
    try {
      this.#db.transaction(() => {
        this.follow(log);
        this.search(log, ...search);
        throw new Undo();
      });
    } catch (error) {
      if (!(error instanceof Undo)) throw error;
    }
  }

  /** The name of the index's table, which is empty if there was none for this generation. */
  #table(generation: number): string {
    const { tokenizer } = this.#index;
    createSearchTable(this.#db);
    const row = this.#db.first<IndexRow>(
      "select id, generation, tokenizer from search where path = ?",
      this.#path,
    );
    if (row?.generation === generation && row.tokenizer === tokenizer) return nameOf(row.id);
    if (row !== undefined) dropIndex(this.#db, row.id);
    this.#db.write(
      "insert into search (path, generation, tokenizer) values (?, ?, ?)",
      this.#path,
      generation,
      tokenizer,
    );
    const id = this.#db.first<{ id: number }>("select last_insert_rowid() as id")?.id ?? 0;
    this.#db.write(
      `create virtual table ${nameOf(id)} using fts5 (text, content = '', tokenize = "${TOKENIZERS[tokenizer]}")`,
    );
    // Which tokens there are, and in how many items.
    this.#db.write(
      `create virtual table ${nameOf(id)}_terms using fts5vocab (${nameOf(id)}, 'row')`,
    );
    return nameOf(id);
  }

  #itemsWith(token: string, table: string): number {
    const query = `select doc from ${table}_terms where term = ?`;
    return this.#db.first<{ doc: number }>(query, token)?.doc ?? 0;
  }
}

/** Removes the indexes of logs that do not go on: another component took the place of the one that had them. */
export function dropIndexes(db: Database, goOn: ReadonlySet<string>): void {
  if (!hasTable(db, "search")) return;
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
