import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { Database } from "#sqlite/database.ts";
import { counter, TestTeam } from "../team/support/team.ts";

const INSERT = "insert into item (name) values (?)";

/** An empty table of names in an object, and what is in it, read past the database's own waiting writes. */
async function withTable<T>(use: (db: Database, stored: () => unknown[]) => T): Promise<T> {
  const { stub } = await TestTeam.create(counter("ann"));
  return runInDurableObject(stub, (_instance, { storage }) => {
    const db = new Database(storage);
    db.write("create table item (n integer primary key autoincrement, name text)");
    const stored = () =>
      storage.sql.exec<{ name: string }>("select name from item order by n").toArray();
    return use(db, () => stored().map(({ name }) => name));
  });
}

describe("a write that waits", () => {
  test.each<[string, (db: Database) => void, string[]]>([
    ["the next write", (db) => db.write(INSERT, "next"), ["later", "next"]],
    ["the next read", (db) => void db.all("select 1 as one"), ["later"]],
    ["a flush", (db) => db.flush(), ["later"]],
    [
      "a transaction, which does not take it back when it fails",
      (db) =>
        expect(() =>
          db.transaction(() => {
            db.write(INSERT, "undone");
            throw new Error("no");
          }),
        ).toThrow("no"),
      ["later"],
    ],
  ])("is made before %s", (_, act, expected) =>
    withTable((db, stored) => {
      db.writeLater("item", INSERT, "later");
      expect(stored()).toEqual([]);
      act(db);
      expect(stored()).toEqual(expected);
    }),
  );

  test("is made after the present task by itself, once", async () => {
    const { stub } = await TestTeam.create(counter("ann"));
    const rows = await runInDurableObject(stub, async (_instance, { storage }) => {
      const db = new Database(storage);
      db.write("create table item (name text)");
      const before = db.rowsWritten;
      db.writeLater("item", INSERT, "later");
      await new Promise((resolve) => setTimeout(resolve, 0));
      return { written: db.rowsWritten - before, rows: db.all("select name from item") };
    });
    expect(rows).toEqual({ written: 1, rows: [{ name: "later" }] });
  });

  test("has values that are computed at that time, whose own writes come first", () =>
    withTable((db, stored) => {
      db.writeLater("item", INSERT, () => {
        db.write(INSERT, "inner");
        return "outer";
      });
      db.writeLater("item", INSERT, "last");
      db.flush();
      expect(stored()).toEqual(["inner", "outer", "last"]);
    }));

  test("that fails waits for the next statement, and fails there", () =>
    withTable((db, stored) => {
      let broken = true;
      db.writeLater("item", INSERT, () => {
        if (broken) throw new Error("broken");
        return "mended";
      });
      expect(() => db.flush()).toThrow("broken");
      expect(() => db.all("select 1 as one")).toThrow("broken");
      broken = false;
      db.write(INSERT, "next");
      expect(stored()).toEqual(["mended", "next"]);
    }));

  test("is withdrawn by its table, and made after all in its order", () =>
    withTable((db, stored) => {
      db.writeLater("item", INSERT, "one");
      db.writeLater("other", INSERT, "two");
      db.writeLater("item", INSERT, "three");
      const make = db.withdraw("item");
      db.flush();
      expect(stored()).toEqual(["two"]);
      make();
      expect(stored()).toEqual(["two", "one", "three"]);
    }));
});

describe("a transaction that fails", () => {
  test("takes the tables with it that it has created, and drops copies of rows in memory", () =>
    withTable((db) => {
      let copies = 1;
      db.onForget(() => (copies = 0));
      const fail = (): never =>
        db.transaction(() => {
          db.write("create table other (n integer)");
          expect(db.hasTable("other")).toBe(true);
          throw new Error("no");
        });
      expect(db.hasTable("other")).toBe(false);
      expect(fail).toThrow("no");
      expect([db.hasTable("other"), db.hasTable("item"), copies]).toEqual([false, true, 0]);
    }));
});
