import { expect, test } from "vitest";
import { MOST_SESSIONS } from "#tenant/object/session-store.ts";
import { tenantStub } from "../../team/support/tenant.ts";

test("the settings of the sessions that were changed last are kept", async () => {
  const tenant = tenantStub("sessions");
  const ids = Array.from({ length: MOST_SESSIONS + 5 }, (_, n) => `session-${n}`);
  for (const id of ids) {
    expect(await tenant.changeSession(id, { level: "info", most: 1 })).toMatchObject({ ok: true });
  }
  const kept = await Promise.all(ids.map((id) => tenant.session(id)));
  expect(kept.filter((one) => one !== null)).toHaveLength(MOST_SESSIONS);
  expect(kept.at(0)).toBeNull();
  expect(kept.at(-1)).toEqual({ level: "info", subjects: [] });
});
