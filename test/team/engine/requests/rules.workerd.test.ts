import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { ComponentModel, FunctionCall, JsonObject } from "troupe";
import { FunctionTool } from "troupe";
import type { Approver } from "#contract/gateways/approver.ts";
import type { RunInfo } from "#contract/run.ts";
import { catalog } from "../../support/catalog.ts";
import { assistant } from "../../support/components.ts";
import { Effects } from "../../support/effects.ts";
import { roundRobin, TestTeam, texts, value } from "../../support/team.ts";

const effects = new Effects();
/** Calls of the tool that came to their end. */
let calls = 0;
let approvals: unknown[] = [];
catalog.registerTool(
  new FunctionTool({
    name: "refund",
    description: "Pays money back.",
    parameters: z.object({
      amount: z.number().transform((amount) => Math.abs(amount)),
      to: z.string().optional(),
    }),
    execute: ({ amount }, { approval }) => {
      approvals.push(approval);
      calls++;
      return `refunded ${amount}`;
    },
  }),
);

const refund = (amount: number, more: JsonObject = {}): FunctionCall => ({
  id: "c",
  name: "refund",
  arguments: JSON.stringify({ amount, ...more }),
});

const tool = (approval: unknown, more: JsonObject = {}): ComponentModel => ({
  provider: "FunctionTool",
  config: { name: "refund", approval: approval as JsonObject, ...more },
});

/** An agent whose model asks for these calls at once in each of its turns. */
function clerk(approval: unknown, asked: FunctionCall[], name = "clerk"): ComponentModel {
  return assistant(effects, name, { tools: [tool(approval)] }, () => asked);
}

async function started(component: ComponentModel) {
  calls = 0;
  approvals = [];
  const team = await TestTeam.create(component);
  const run = await team.rested((await team.start("go")).id);
  return { team, run };
}

const above = (amount: number) => ({ when: [{ argument: "amount", above: amount }] });
const person = (subject: string, ...scopes: string[]) => ({
  by: subject,
  approver: { subject, user: subject, scopes } satisfies Approver,
});

async function answer(
  team: TestTeam,
  { id, requests }: RunInfo,
  given: JsonObject,
  by = person("anna"),
  index = 0,
) {
  return team.gateway.answer(id, requests[index]?.id ?? "", given, by);
}

async function decisions(team: TestTeam, run: string) {
  return value(await team.gateway.decisions(run, { limit: 50 })).decisions;
}

async function stored(team: TestTeam) {
  return value(await team.gateway.approvals({ limit: 50 })).approvals;
}

describe("a rule", () => {
  test("lets a call run whose arguments fulfil no condition, and records that", async () => {
    const { team, run } = await started(clerk(above(100), [refund(90)]));
    const ended = await team.finished(run.id);
    expect(texts(ended).at(-1)).toBe("refunded 90");
    expect(await decisions(team, run.id)).toEqual([
      {
        step: expect.stringMatching(/tool:0:0\/call$/),
        agent: "clerk",
        tool: "refund",
        arguments: { amount: 90 },
        rule: above(100),
        matched: [],
        outcome: "ran",
        by: [],
        request_id: null,
        at: expect.any(String),
      },
    ]);
    expect(approvals).toEqual([undefined]);
  });

  test("asks a human about the others, and the tool knows who approved", async () => {
    const { team, run } = await started(clerk(above(100), [refund(900), refund(90)]));
    expect(run).toMatchObject({
      status: "waiting",
      requests: [
        {
          rule: above(100),
          matched: [{ condition: { argument: "amount", above: 100 }, value: 900 }],
        },
      ],
    });
    expect(run.requests[0]).not.toHaveProperty("allow");
    const answered = value(await answer(team, run, { approved: true, reason: "fine" }));
    const anna = { subject: "anna", approved: true, reason: "fine", at: expect.any(String) };
    expect(answered.approvals).toEqual([anna]);
    await team.finished(run.id);
    expect(await decisions(team, run.id)).toMatchObject([
      { outcome: "ran", arguments: { amount: 90 } },
      { outcome: "approved", by: [anna], request_id: run.requests[0]?.id },
    ]);
    expect(approvals).toContainEqual({ by: ["anna"], at: expect.any(String), rule: above(100) });
  });

  test("sees the arguments as the tool gets them", async () => {
    const { run } = await started(clerk(above(100), [refund(-900)]));
    expect(run.requests[0]?.matched).toMatchObject([{ value: 900 }]);
  });

  test("asks about what cannot be compared", async () => {
    const rule = { when: [{ argument: "to", equals: "x" }] };
    const { team, run } = await started(clerk(rule, [refund(1)]));
    expect(run.requests[0]?.matched).toEqual([
      { condition: { argument: "to", equals: "x" }, value: null },
    ]);
    value(await answer(team, run, { approved: false, reason: "to whom?" }));
    expect(texts(await team.finished(run.id)).at(-1)).toContain("to whom?");
    expect(await decisions(team, run.id)).toMatchObject([{ outcome: "refused" }]);
  });

  test("asks about each call if it has no conditions", async () => {
    const { run } = await started(clerk({}, [refund(1), refund(2)]));
    expect(run.requests).toHaveLength(2);
  });

  test("counts the calls of each run, alike ones of one turn included", async () => {
    const rule = { when: [{ calls_in_run: true, above: 3 }] };
    const one = clerk(rule, [refund(1), refund(1)]);
    const two = clerk(rule, [refund(1)], "two");
    const { team, run } = await started(roundRobin([one, two], 2));
    expect(run.status).toBe("completed");
    const again = await team.rested((await team.start("go")).id);
    expect(again.status).toBe("completed");
    const four = clerk(rule, [refund(1), refund(1), refund(1), refund(1)]);
    const { run: most } = await started(four);
    expect(most.requests.map(({ matched }) => matched)).toEqual([
      [{ condition: { calls_in_run: true, above: 3 }, value: 4 }],
    ]);
  });

  test("has a time limit of its own", async () => {
    const { team, run } = await started(clerk({ timeout_seconds: 60 }, [refund(1)]));
    expect(run.requests[0]?.expires_at).not.toBeNull();
    await team.sql("update question set expires_at = 1");
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    await team.finished(run.id);
    expect(await decisions(team, run.id)).toMatchObject([{ outcome: "expired", by: [] }]);
  });

  test("keeps its decision over a crash, and each call happens once", async () => {
    const { team, run } = await started(clerk(above(100), [refund(90), refund(900)]));
    await team.evict();
    expect(await decisions(team, run.id)).toMatchObject([{ outcome: "ran" }]);
    value(await answer(team, run, { approved: true }));
    await team.finished(run.id);
    expect(calls).toBe(2);
    expect(await decisions(team, run.id)).toHaveLength(2);
  });
});

describe("those whom a rule names", () => {
  const rule = { ...above(100), by: ["approvals:finance", "user:bob"] };

  test("approve by a scope or as a user, and others are refused", async () => {
    const { team, run } = await started(clerk(rule, [refund(900), refund(901)]));
    expect(await answer(team, run, { approved: true })).toMatchObject({
      ok: false,
      problem: { status: 403, code: "not_an_approver" },
    });
    expect(await answer(team, run, { approved: false })).toMatchObject({
      problem: { code: "not_an_approver" },
    });
    const named = { by: "bob", approver: { subject: "bob", scopes: ["approvals:sales"] } };
    expect(
      await team.gateway.answer(run.id, run.requests[0]?.id ?? "", { approved: true }, named),
    ).toMatchObject({ problem: { code: "not_an_approver" } });
    value(await answer(team, run, { approved: true }, person("anna", "approvals:finance")));
    value(await answer(team, run, { approved: true }, person("bob"), 1));
    await team.finished(run.id);
    expect(calls).toBe(2);
  });
});

describe("a quorum", () => {
  const rule = { ...above(100), quorum: 2 };

  test("keeps the request open until two subjects have approved", async () => {
    const { team, run } = await started(clerk(rule, [refund(900)]));
    const first = value(await answer(team, run, { approved: true }));
    expect(first).toMatchObject({ status: "waiting", approvals: [{ subject: "anna" }] });
    expect(first.requests[0]?.approvals).toEqual(first.approvals);
    await team.evict();
    value(await answer(team, run, { approved: true }));
    expect(await answer(team, run, { approved: false })).toMatchObject({
      problem: { status: 409, code: "already_answered" },
    });
    const second = value(await answer(team, run, { approved: true }, person("bob")));
    expect(second.approvals?.map(({ subject }) => subject)).toEqual(["anna", "bob"]);
    await team.finished(run.id);
    expect(calls).toBe(1);
    expect(approvals).toMatchObject([{ by: ["anna", "bob"] }]);
    expect(value(await answer(team, run, { approved: true })).status).toBe("completed");
    expect(await answer(team, run, { approved: false })).toMatchObject({
      problem: { status: 409 },
    });
  });

  test("is closed by one refusal", async () => {
    const { team, run } = await started(clerk(rule, [refund(900)]));
    value(await answer(team, run, { approved: true }));
    value(await answer(team, run, { approved: false, reason: "no" }, person("bob")));
    await team.finished(run.id);
    expect(calls).toBe(0);
    expect(await decisions(team, run.id)).toMatchObject([
      { outcome: "refused", by: [{ subject: "anna" }, { subject: "bob", approved: false }] },
    ]);
  });

  test("begins again with changed arguments, which the rule judges", async () => {
    const rules = { ...rule, when: [{ argument: "to", matches: "@" }] };
    const { team, run } = await started(clerk(rules, [refund(5, { to: "a@x" })]));
    value(await answer(team, run, { approved: true }));
    const edit = { approved: true, arguments: { amount: 5, to: "b@x" } };
    const changed = value(await answer(team, run, edit, person("bob")));
    expect(changed.approvals?.map(({ subject }) => subject)).toEqual(["bob"]);
    expect(changed.requests[0]).toMatchObject({
      revision: 2,
      tool_call: { arguments: { amount: 5, to: "b@x" } },
      matched: [{ value: "b@x" }],
    });
    expect(await answer(team, run, { approved: true, revision: 1 })).toMatchObject({
      problem: { status: 409, code: "arguments_changed" },
    });
    value(await answer(team, run, { approved: true, revision: 2 }));
    await team.finished(run.id);
    expect(await decisions(team, run.id)).toMatchObject([
      { arguments: { amount: 5, to: "b@x" }, by: [{ subject: "bob" }, { subject: "anna" }] },
    ]);
  });

  test("is not needed for arguments that the rule lets run", async () => {
    const rules = { ...rule, when: [{ argument: "to", matches: "@" }] };
    const { team, run } = await started(clerk(rules, [refund(5, { to: "a@x" })]));
    value(await answer(team, run, { approved: true, arguments: { amount: 5, to: "here" } }));
    await team.finished(run.id);
    expect(calls).toBe(1);
  });

  test("is not shortened by a change that cannot be judged before the tool reads it", async () => {
    const { team, run } = await started(clerk(rule, [refund(-900)]));
    const edit = { approved: true, arguments: { amount: -950 } };
    expect(value(await answer(team, run, edit)).status).toBe("waiting");
  });
});

describe("once", () => {
  test("asks about the first call only, and alike calls of its turn wait for it", async () => {
    const component = roundRobin([clerk("once", [refund(1), refund(2)])], 2);
    const { team, run } = await started(component);
    expect(run.requests).toHaveLength(1);
    value(await answer(team, run, { approved: true }));
    await team.finished(run.id);
    expect(calls).toBe(4);
    const later = await team.rested((await team.start("go")).id);
    expect(later.requests).toHaveLength(1);
  });

  test("asks about the next call after a refusal", async () => {
    const { team, run } = await started(clerk("once", [refund(1), refund(2)]));
    value(await answer(team, run, { approved: false }));
    const next = await team.rested(run.id);
    expect(next.requests).toMatchObject([{ tool_call: { arguments: { amount: 2 } } }]);
  });
});

describe("an approval that is remembered", () => {
  test("counts for equal calls of the run, alike ones of its turn included", async () => {
    const alike = [refund(1), refund(1), refund(2)];
    const { team, run } = await started(roundRobin([clerk("human", alike)], 2));
    expect(run.requests).toHaveLength(3);
    value(await answer(team, run, { approved: true, allow: "run" }));
    value(await answer(team, run, { approved: true }, person("anna"), 2));
    const second = await team.rested(run.id);
    expect(second.requests).toMatchObject([{ tool_call: { arguments: { amount: 2 } } }]);
    expect(await stored(team)).toMatchObject([{ uses: 3, run_id: run.id, by: ["anna"] }]);
    value(await answer(team, second, { approved: false }));
    await team.finished(run.id);
    expect(await stored(team)).toEqual([]);
  });

  test("counts for the team with teams:write, until it is revoked", async () => {
    const { team, run } = await started(clerk("human", [refund(1)]));
    expect(await answer(team, run, { approved: true, allow: "team" })).toMatchObject({
      problem: { status: 403, code: "missing_scope", extra: { scope: "teams:write" } },
    });
    const admin = person("anna", "teams:write");
    value(await answer(team, run, { approved: true, allow: "team" }, admin));
    await team.finished(run.id);
    const next = await team.rested((await team.start("go")).id);
    expect(next.status).toBe("completed");
    expect(await decisions(team, next.id)).toMatchObject([
      { outcome: "ran", by: [{ subject: "anna" }], request_id: null },
    ]);
    const [only] = await stored(team);
    expect(only).toMatchObject({
      agent: "clerk",
      tool: "refund",
      arguments: { amount: 1 },
      by: ["anna"],
      uses: 1,
      run_id: null,
    });
    value(await team.gateway.deleteApproval(only?.id ?? ""));
    expect(await team.gateway.deleteApproval(only?.id ?? "")).toMatchObject({
      problem: { status: 404, code: "approval_not_found" },
    });
    expect((await team.rested((await team.start("go")).id)).status).toBe("waiting");
  });

  test.each([
    [{}, "run", "not_rememberable"],
    [{}, "team", "not_rememberable"],
    [{ remember: "run" }, "team", "not_rememberable"],
    [{ remember: "run" }, "run", undefined],
    [{ remember: "team" }, "run", undefined],
    [{ remember: "team" }, "team", undefined],
  ])("%j permits %s: %s", async (rule, allow, code) => {
    const { team, run } = await started(clerk(rule, [refund(1)]));
    const given = await answer(team, run, { approved: true, allow }, person("a", "teams:write"));
    expect(given.ok ? undefined : given.problem.code).toBe(code);
    if (code === undefined) await team.finished(run.id);
  });

  test("needs each approver of a quorum", async () => {
    const rule = { quorum: 2, remember: "team" };
    const { team, run } = await started(clerk(rule, [refund(1)]));
    const all = { approved: true, allow: "team" };
    value(await answer(team, run, all, person("anna", "teams:write")));
    value(await answer(team, run, { approved: true, allow: "run" }, person("bob")));
    await team.finished(run.id);
    expect(await stored(team)).toEqual([]);
  });

  test("does not count for another rule of the same tool", async () => {
    const { team, run } = await started(clerk("human", [refund(1)]));
    const admin = person("anna", "teams:write");
    value(await answer(team, run, { approved: true, allow: "team" }, admin));
    await team.finished(run.id);
    value(await team.gateway.replaceComponent(clerk({ by: ["user:bob"] }, [refund(1)])));
    expect((await team.rested((await team.start("go")).id)).status).toBe("waiting");
  });

  test("belongs to an approval", async () => {
    const { team, run } = await started(clerk("human", [refund(1)]));
    expect(await answer(team, run, { approved: false, allow: "run" })).toMatchObject({
      problem: { status: 422, errors: [{ path: "allow" }] },
    });
  });
});

test("decisions have pages", async () => {
  const { team, run } = await started(clerk(above(9), [refund(1), refund(2), refund(3)]));
  await team.finished(run.id);
  const first = value(await team.gateway.decisions(run.id, { limit: 2 }));
  const cursor = first.next_cursor ?? "";
  const rest = value(await team.gateway.decisions(run.id, { limit: 2, cursor }));
  expect([...first.decisions, ...rest.decisions].map(({ arguments: args }) => args)).toEqual([
    { amount: 1 },
    { amount: 2 },
    { amount: 3 },
  ]);
  expect(rest.next_cursor).toBeNull();
  expect(await team.gateway.decisions(run.id, { limit: 2, cursor: "x" })).toMatchObject({
    problem: { code: "invalid_cursor" },
  });
});
