import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { Database } from "#sqlite/database.ts";
import { MemoryMarks } from "#sqlite/recall/memory-marks.ts";
import { counter, TestTeam } from "../../team/support/team.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 0, 1);

async function withMarks(use: (marks: MemoryMarks, rows: () => number) => void): Promise<void> {
  const { stub } = await TestTeam.create(counter("ann"));
  await runInDurableObject(stub, (_instance, { storage }) => {
    const db = new Database(storage);
    const rows = (): number =>
      db.first<{ n: number }>("select count(*) as n from memory_mark")?.n ?? 0;
    use(new MemoryMarks(db), rows);
  });
}

function write(id: string, started_at: number) {
  return { id, run: null, text: `content of ${id}`, started_at };
}

test("old marks become one, which blocks all earlier entries", () =>
  withMarks((marks, rows) => {
    const old = NOW - 100 * DAY_MS;
    for (let n = 0; n < 50; n++) marks.addForEntry(`old-${n}`, `content of old-${n}`, old + n);
    marks.addForEntry("new", "content of new", NOW);
    expect(rows()).toBe(2);
    expect(marks.has(write("old-7", old - 1))).toBe(true);
    expect(marks.has(write("other", old + 48))).toBe(true);
    expect(marks.has(write("other", old + 50))).toBe(false);
    expect(marks.has(write("new", NOW - 1))).toBe(true);
    expect(marks.has(write("new", NOW))).toBe(false);
  }));

test("the marks of the last day stay if there are very many", () =>
  withMarks((marks, rows) => {
    const before = NOW - 2 * DAY_MS;
    for (let n = 0; n < 10_000; n++) marks.addForRun(`run-${n}`, before + (n % 1000));
    expect(rows()).toBe(10_000);
    marks.addForEntry("new", "content of new", NOW);
    expect(rows()).toBe(2);
    expect(marks.has(write("other", before - 1))).toBe(true);
    expect(marks.has(write("other", before + 1000))).toBe(false);
    expect(marks.has(write("new", NOW - 1))).toBe(true);
  }));
