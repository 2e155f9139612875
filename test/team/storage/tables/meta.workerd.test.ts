import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { counter, TestTeam, value } from "../../support/team.ts";

test.each([
  ["[]", "what is stored as team is not an object"],
  ['{"label":null}', "what is stored as team has no id"],
])("a team whose record is %s is refused and can be deleted", async (stored, says) => {
  const team = await TestTeam.create(counter("a"));
  await team.delivered();
  await runInDurableObject(team.stub, (_instance, { storage }) => {
    storage.sql.exec("update meta set value = ? where name = 'team'", stored);
  });
  await team.evict();
  expect(await team.gateway.team()).toMatchObject({
    ok: false,
    problem: { code: "team_unreadable", detail: expect.stringContaining(says) as string },
  });
  value(await team.gateway.destroy());
  expect(await team.gateway.team()).toMatchObject({ problem: { code: "team_not_found" } });
});
