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

/** Makes of a stored team what a version without lists would have stored. */
function forgetLists(persistTo: string): void {
  for (const file of globSync("v3/do/*TenantObject/*", { cwd: persistTo })) {
    rmSync(join(persistTo, file));
  }
  for (const file of globSync("v3/do/*TeamObject/*.sqlite", { cwd: persistTo })) {
    const db = new DatabaseSync(join(persistTo, file));
    const team = db.prepare("select 1 from sqlite_master where name = 'outbox'").get();
    if (team !== undefined) {
      db.exec(
        "drop table outbox; drop table if exists schedule; alter table step drop column trace; alter table event drop column pieces; alter table head drop column steps; alter table run drop column steps",
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
