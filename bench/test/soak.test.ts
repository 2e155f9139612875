import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { slopeOf } from "../soak/slope.ts";
import { remainsIn } from "../soak/stored.ts";

let state: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "troupe-soak-"));
});

afterEach(() => rmSync(state, { recursive: true, force: true }));

function database(kind: string, sql: string): void {
  const directory = join(state, "v3/do", `troupe-${kind}`);
  mkdirSync(directory, { recursive: true });
  using db = new DatabaseSync(join(directory, `${"0".repeat(64)}.sqlite`));
  db.exec(sql);
}

test("rows that name a deleted team are counted, and apart from them those that outlast it", () => {
  database(
    "TenantObject",
    `create table team (id, record); create table login_wait (team, record); create table usage (day, team);
     insert into team values ('kept', '{"label":"a gone team"}'), ('also-kept', '{}');
     insert into login_wait values ('kept', '{"of":"gone-1"}'), ('gone-2', '{}'), ('kept', '{}');
     insert into usage values ('2026-11-30', 'gone-1'), ('2026-11-30', 'kept');`,
  );
  database("TeamObject", "create table meta (name, value)");
  const { rows, kept, teams } = remainsIn(state, (id) => id.startsWith("gone-"));
  expect([...rows]).toEqual([["login_wait", 2]]);
  expect([...kept]).toEqual([["usage", 1]]);
  expect(teams).toBe(1);
});

test("a state without databases has no remains", () => {
  expect(remainsIn(state, () => true)).toEqual({ rows: new Map(), kept: new Map(), teams: 0 });
});

test("the growth is that of the line through the points, with the error of what is beside it", () => {
  const exact = slopeOf([0, 1, 2, 3].map((x) => [x, 5 + 2 * x] as const));
  expect(exact.value).toBeCloseTo(2);
  expect(exact.error).toBeCloseTo(0);
  const scattered = slopeOf([
    [0, 1],
    [1, -1],
    [2, 1],
    [3, -1],
  ]);
  expect(scattered.value).toBeCloseTo(-0.4);
  expect(scattered.error).toBeCloseTo(0.566, 2);
  expect(() => slopeOf([[0, 1]])).toThrow(RangeError);
});
