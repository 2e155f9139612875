import { beforeEach, expect, test } from "vitest";
import type { FailureList } from "#contract/run-failures.ts";
import { withoutNumbers } from "#tenant/directory/failures.ts";
import { value } from "../../team/support/team.ts";
import { tenantStub, type TenantStub } from "../../team/support/tenant.ts";
import { made, run, type RunChange, Teller } from "../support/teller.ts";

let tenant: TenantStub;
let count = 0;

beforeEach(() => {
  tenant = tenantStub(`failures-${++count}`);
});

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 2, 0, minute)).toISOString();

/** A run that failed at a minute, a minute after it was created. */
function failed(
  team: string,
  id: string,
  minute: number,
  { message = "No more replies.", agent = "writer", version = 1 } = {},
): RunChange {
  const change = run(team, id, "failed");
  return {
    ...change,
    run: {
      ...change.run,
      created_at: at(minute - 1),
      ended_at: at(minute),
      error: { type: "model_exhausted", message, agent },
      component_version: version,
    },
  };
}

async function failures(
  query: { since?: number; limit?: number; cursor?: string } = {},
): Promise<FailureList> {
  return value(await tenant.failures({ limit: 50, ...query }));
}

test("failures with equal messages, agents and versions are a group, the latest first", async () => {
  const [a, b] = [new Teller(tenant, "a"), new Teller(tenant, "b")];
  await a.tell(made(), failed("a", "a1", 1, { message: "Call 17 timed out after 30 s." }));
  await a.tell(failed("a", "a2", 2, { message: "Call 18 timed out after 31 s." }));
  await b.tell(made(), failed("b", "b1", 3, { message: "Call 19 timed out after 30 s." }));
  await b.tell(failed("b", "b2", 4, { agent: "critic" }), failed("b", "b3", 5, { version: 2 }));
  const all = await failures();
  expect(all).toMatchObject({ complete: true, next_cursor: null });
  expect(all.groups).toMatchObject([
    { message: "No more replies.", agent: "writer", component_version: 2, count: 1 },
    { message: "No more replies.", agent: "critic", component_version: 1, count: 1 },
    {
      error: "model_exhausted",
      message: "Call … timed out after … s.",
      agent: "writer",
      component_version: 1,
      count: 3,
      teams: 2,
      first_at: at(1),
      last_at: at(3),
    },
  ]);
  const first = await failures({ limit: 2 });
  const rest = await failures({ limit: 2, cursor: first.next_cursor ?? "" });
  expect([...first.groups, ...rest.groups]).toEqual(all.groups);
  expect(rest.next_cursor).toBeNull();
  expect((await failures({ since: Date.parse(at(4)) })).groups).toHaveLength(2);
  expect((await failures({ since: Date.parse(at(6)) })).groups).toEqual([]);
});

test("only the latest run of a team is retryable, and none while another one is open", async () => {
  const [a, b, c] = ["a", "b", "c"].map((id) => new Teller(tenant, id)) as [Teller, Teller, Teller];
  await a.tell(made(), failed("a", "a1", 1), failed("a", "a2", 2));
  await b.tell(made(), failed("b", "b1", 3), run("b", "b2", "running", 4));
  await c.tell(made(), failed("c", "c1", 5), run("c", "c2", "completed", 6));
  expect((await failures()).groups).toMatchObject([
    { count: 4, teams: 3, retryable: 1, latest: [{ team_id: "a", run_id: "a2" }] },
  ]);
  await b.tell({
    ...failed("b", "b2", 7),
    run: { ...failed("b", "b2", 7).run, created_at: at(4) },
  });
  expect((await failures()).groups).toMatchObject([
    { retryable: 2, latest: [{ run_id: "b2" }, { run_id: "a2" }] },
  ]);
});

test("a run that an earlier version reported has no agent and no version", async () => {
  const a = new Teller(tenant, "a");
  const { run: reported, ...change } = failed("a", "a1", 1);
  const { component_version: _, ...earlier } = reported;
  const error = { type: "model_exhausted", message: "No more replies." };
  await a.tell(made(), { ...change, run: { ...earlier, error } as never });
  expect((await failures()).groups).toMatchObject([{ agent: null, component_version: null }]);
  expect(value(await tenant.runs({ limit: 1 })).runs).toMatchObject([
    { component_version: null, error: { ...error, agent: null } },
  ]);
});

test("a cursor that is invalid is named", async () => {
  await new Teller(tenant, "a").tell(made());
  expect(await tenant.failures({ limit: 5, cursor: "x" })).toMatchObject({
    problem: { status: 422, errors: [{ path: "cursor" }] },
  });
});

test("a message keeps its words and the names of models without their numbers", () => {
  for (const [message, expected] of [
    ["Run 48f7c2aa-1b6e-4c3b-9d5e-0a1b2c3d4e5f failed.", "Run … failed."],
    ["The request req_011CSmHq9Vb3 was refused (HTTP 529).", "The request … was refused (HTTP …)."],
    ["Tried again at 2026-11-29T10:00:03.123Z.", "Tried again at …Z."],
    ["The model gpt-4o-mini has no price.", "The model gpt-…o-mini has no price."],
    ["No more replies.", "No more replies."],
    ["1,024 of 2.5 tokens", "… of … tokens"],
  ]) {
    expect(withoutNumbers(message ?? "")).toBe(expected);
  }
});
