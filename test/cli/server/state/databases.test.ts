import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { State } from "#cli/server/state/state.ts";

let directory: string;
let objects: string;
let state: State;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "troupe-databases-"));
  objects = join(directory, "v3/do/troupe-TeamObject");
  mkdirSync(objects, { recursive: true });
  state = new State(directory, { directoryOption: "--state", withState: () => "" });
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The path of an object's database. */
function pathOf(digit: string): string {
  return join(objects, `${digit.repeat(64)}.sqlite`);
}

function database(path: string, sql: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec(sql);
  return db;
}

test("the databases of deleted objects are removed, and no others", () => {
  database(pathOf("0"), "create table a (b); drop table a; vacuum").close();
  database(pathOf("1"), "create table a (b)").close();
  writeFileSync(pathOf("2"), "");
  writeFileSync(pathOf("3"), "x".repeat(4096));
  const alarms = join(objects, "metadata.sqlite");
  database(alarms, "create table a (b); drop table a; vacuum").close();
  state.removeEmptyDatabases();
  expect([0, 1, 2, 3].map((digit) => existsSync(pathOf(String(digit))))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(existsSync(alarms)).toBe(true);
});

test("the log beside a database counts: it may have the tables, or their end", () => {
  const wal = "pragma journal_mode = wal; pragma wal_autocheckpoint = 0;";
  // Kept open, as a killed runtime leaves them.
  using _created = database(
    pathOf("0"),
    `create table a (b); drop table a; vacuum; ${wal} create table a (b)`,
  );
  using _deleted = database(pathOf("1"), `create table a (b); ${wal} drop table a`);
  state.removeEmptyDatabases();
  expect(existsSync(pathOf("0"))).toBe(true);
  expect(readdirSync(objects).filter((name) => name.startsWith("1"))).toEqual([]);
});

test("teams of early versions are looked for until they are listed", () => {
  database(
    pathOf("0"),
    `create table meta (name, value); insert into meta values ('team', '{"id":"early"}')`,
  ).close();
  expect(state.unlistedTeams()).toEqual(["early"]);
  state.noteListed();
  expect(state.unlistedTeams()).toEqual([]);
});
