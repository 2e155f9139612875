import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { Database } from "#sqlite/database.ts";
import { counter, TestTeam } from "../support/team.ts";

const ROWS = 40;

/** A table of rows in an object of its own, and what reads it. */
async function withTable<T>(use: (db: Database, read: () => Iterable<number>) => T): Promise<T> {
  const { stub } = await TestTeam.create(counter("ann"));
  return runInDurableObject(stub, (_instance, { storage }) => {
    const db = new Database(storage);
    db.write("create table item (n integer primary key)");
    for (let n = 1; n <= ROWS; n++) db.write("insert into item values (?)", n);
    const read = function* (): Iterable<number> {
      const query = "select n from item where n > ? order by n";
      for (const { n } of db.each<{ n: number }>(query, [0], (row) => [row.n])) yield n;
    };
    return use(db, read);
  });
}

test("rows that are read a few at a time come once, in their order", async () => {
  const read = await withTable((_db, rows) => [...rows()]);
  expect(read).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1));
});

test.for([1, 2, 3, ROWS - 1])("a reader that stops after %i rows leaves no table locked", (stop) =>
  withTable((db, rows) => {
    const seen: number[] = [];
    // The reader stays reachable: a statement must not wait for garbage collection either.
    const reader = rows()[Symbol.iterator]();
    while (seen.length < stop) seen.push(reader.next().value as number);
    db.write("drop table item");
    expect(seen).toHaveLength(stop);
    expect(db.all("select name from sqlite_master where name = 'item'")).toEqual([]);
  }),
);
