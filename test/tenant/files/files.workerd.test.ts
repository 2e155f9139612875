import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { PATIENCE } from "../../support/patience.ts";
import { value } from "../../team/support/team.ts";
import { tenantObject, tenantStub, type TenantStub } from "../../team/support/tenant.ts";

const CONTENT = new Uint8Array(new TextEncoder().encode("Hello."));
const FILE = { filename: "a.txt", media_type: null, purpose: "user_data", owner: "" };

/** The rows with files and their bytes. */
function rowsOf(tenant: TenantStub): Promise<number[]> {
  return runInDurableObject(tenantObject(tenant), (_, { storage }) =>
    ["kept_file", "kept_file_piece"].map(
      (table) => storage.sql.exec<{ n: number }>(`select count(*) as n from ${table}`).one().n,
    ),
  );
}

test("a file that has expired is not found, and the alarm erases it", async () => {
  const tenant = tenantStub("files-expire");
  const content = CONTENT;
  const kept = value(await tenant.addFile({ ...FILE, expires_in: 3_600, content }));
  const expired = value(await tenant.addFile({ ...FILE, expires_in: 0, content }));
  expect(await tenant.keptFile(expired.id, undefined)).toMatchObject({
    problem: { status: 404, code: "file_not_found" },
  });
  await runDurableObjectAlarm(tenantObject(tenant));
  expect(await rowsOf(tenant)).toEqual([1, 1]);
  expect(value(await tenant.info()).stored_bytes).toBe(CONTENT.length);
  await evictDurableObject(tenantObject(tenant));
  expect(value(await tenant.keptBytes(kept.id, undefined))).toEqual(CONTENT);
});

test("the files of a tenant are erased with it", async () => {
  const tenant = tenantStub("files-deleted");
  value(await tenant.addFile({ ...FILE, expires_in: 3_600, content: CONTENT }));
  value(await tenant.destroy());
  const tables = () =>
    runInDurableObject(tenantObject(tenant), (_, { storage }) =>
      storage.sql.exec("select name from sqlite_master where name like 'kept_file%'").toArray(),
    );
  // The alarm is due at once and fires by itself.
  await expect.poll(tables, PATIENCE).toEqual([]);
});
