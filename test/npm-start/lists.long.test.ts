import { globSync, mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { PATIENCE } from "../support/patience.ts";

/** The tables that each team had then; now they come with their first row. */
const TABLES_THEN = [
  "step (key text primary key, state text not null, attempt integer not null, policy text not null, fingerprint text not null, result text, at integer, ran integer, kind text not null default 'effect')",
  "question (id text primary key, ordinal integer not null, run text not null, question text not null, created_at integer not null, expires_at integer, ran integer not null, answer text, answered_at integer)",
];

/** Makes of a stored team what a version without lists would have stored. */
function forgetLists(persistTo: string): void {
  // The lists are complete since the first start.
  rmSync(join(persistTo, "teams-listed"));
  for (const file of globSync("v3/do/*TenantObject/*", { cwd: persistTo })) {
    rmSync(join(persistTo, file));
  }
  for (const file of globSync("v3/do/*TeamObject/*.sqlite", { cwd: persistTo })) {
    const db = new DatabaseSync(join(persistTo, file));
    const team = db.prepare("select 1 from sqlite_master where name = 'outbox'").get();
    if (team !== undefined) {
      db.exec("drop table if exists step; drop table if exists question");
      for (const table of TABLES_THEN) db.exec(`create table ${table} without rowid`);
      db.exec(
        "drop table outbox; drop table if exists schedule; alter table event drop column pieces; alter table head drop column steps; alter table run drop column steps",
      );
      db.exec("update meta set value = '2' where name = 'schema'");
      db.exec("update meta set value = json_remove(value, '$.tenant') where name = 'team'");
    }
    db.close();
  }
}

test("npm start lists teams that a version without lists has stored", async () => {
  const persistTo = mkdtempSync(join(tmpdir(), "troupe-lists-"));
  const port = await freePort();
  try {
    {
      await using server = await NpmStart.ready({ port, persistTo });
      const body = jsonInit({ id: "old", label: "Old", component: SAMPLE_COMPONENT });
      expect((await fetch(`${server.url}/v1/teams`, body)).status).toBe(201);
      const run = await fetch(`${server.url}/v1/teams/old/runs?wait=60`, jsonInit({ task: "go" }));
      expect(run.status).toBe(200);
    }
    forgetLists(persistTo);
    await using server = await NpmStart.ready({ port, persistTo });
    await vi.waitFor(async () => {
      const response = await fetch(`${server.url}/v1/teams`);
      expect(await response.json()).toMatchObject({ teams: [{ id: "old", label: "Old" }] });
    }, PATIENCE);
    const runs = await fetch(`${server.url}/v1/runs`);
    expect(await runs.json()).toMatchObject({ runs: [{ team_id: "old", status: "completed" }] });
  } finally {
    rmSync(persistTo, { recursive: true, force: true });
  }
});
