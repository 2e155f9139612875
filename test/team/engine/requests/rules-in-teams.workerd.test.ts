// Rules of approval on code, on workbenches and in inner teams; retries, and answers that come too late.
import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { ComponentModel, FunctionCall, JsonObject } from "troupe";
import { FunctionTool } from "troupe";
import type { Approver } from "#contract/gateways/approver.ts";
import type { RunInfo } from "#contract/run.ts";
import { catalog } from "../../support/catalog.ts";
import { agentTool, assistant, society, teamTool } from "../../support/components.ts";
import { Effects } from "../../support/effects.ts";
import { answerMcp, mcpServer, mcpWorkbench } from "../../support/mcp.ts";
import { thought } from "../../support/scripted-agent.ts";
import { agent, roundRobin, TestTeam, value } from "../../support/team.ts";

/** Amounts that were paid. */
let paid: number[] = [];
catalog.registerTool(
  new FunctionTool({
    name: "reimburse",
    description: "Pays money back.",
    parameters: z.object({ amount: z.number() }),
    execute: ({ amount }) => {
      paid.push(amount);
      return `refunded ${amount}`;
    },
  }),
);

const effects = new Effects();
const refund = (amount: number): FunctionCall => ({
  id: "c",
  name: "reimburse",
  arguments: JSON.stringify({ amount }),
});

function clerk(approval: JsonObject | string, asked: FunctionCall[]): ComponentModel {
  const tool = { provider: "FunctionTool", config: { name: "reimburse", approval } };
  return assistant(effects, "clerk", { tools: [tool] }, () => asked);
}

const above = (amount: number) => ({ when: [{ argument: "amount", above: amount }] });
const person = (subject: string) => ({
  by: subject,
  approver: { subject, user: subject, scopes: [] } satisfies Approver,
});

async function rested(component: ComponentModel, task = "go") {
  paid = [];
  const team = await TestTeam.create(component);
  return { team, run: await team.rested((await team.start(task)).id) };
}

const answer = (
  team: TestTeam,
  { id, requests }: RunInfo,
  given: JsonObject,
  { by = person("anna"), index = 0 } = {},
) => team.gateway.answer(id, requests[index]?.id ?? "", given, by);

const decisions = async (team: TestTeam, { id }: RunInfo) =>
  value(await team.gateway.decisions(id, { limit: 50 })).decisions;

describe("a rule on code", () => {
  const coder = (when: JsonObject[]): ComponentModel => ({
    provider: "CodeExecutorAgent",
    config: {
      name: "coder",
      code_executor: { provider: "test.TestCodeExecutor", config: {} },
      approval: { when },
    },
  });
  const block = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``;

  test("sees the language, and lets other code run", async () => {
    const rule = [{ argument: "language", in: ["sh", "bash"] }];
    const python = await rested(coder(rule), block("python", "print(1)"));
    expect(python.run.status).toBe("completed");
    expect(await decisions(python.team, python.run)).toMatchObject([
      {
        tool: "execute_code",
        outcome: "ran",
        arguments: { code: "print(1)\n", language: "python" },
      },
    ]);
    const shell = await rested(coder(rule), block("sh", "ls"));
    expect(shell.run.requests).toMatchObject([
      { code: block("sh", "ls\n"), matched: [{ condition: rule[0], value: "sh" }] },
    ]);
    value(await answer(shell.team, shell.run, { approved: true }));
    await shell.team.finished(shell.run.id);
    expect(await decisions(shell.team, shell.run)).toMatchObject([{ outcome: "approved" }]);
  });

  test("asks about all blocks when one of them holds", async () => {
    const rule = [{ argument: "code", matches: "\\brm\\b" }];
    const task = `${block("python", "print(1)")}\n${block("sh", "rm a.txt")}`;
    const { team, run } = await rested(coder(rule), task);
    expect(run.requests).toMatchObject([
      { code: expect.stringContaining("print(1)"), matched: [{ value: "rm a.txt\n" }] },
    ]);
    value(await answer(team, run, { approved: false, reason: "keep it" }));
    await team.finished(run.id);
    expect(await decisions(team, run)).toMatchObject([
      {
        outcome: "refused",
        arguments: { blocks: [{ language: "python" }, { language: "sh", code: "rm a.txt\n" }] },
      },
    ]);
  });
});

describe("a rule of a workbench", () => {
  /** A team whose agent calls tools of the server at once. */
  const caller = (workbench: JsonObject, ...names: string[]): ComponentModel => {
    const bench = mcpWorkbench(workbench) as unknown as JsonObject;
    const calls = names.map((name) => ({ id: name, name, arguments: '{"amount":5}' }));
    return assistant(effects, "caller", { workbench: [bench] }, () => calls);
  };

  test("judges each of its tools", async () => {
    answerMcp(async ({ name }) => `${name} done`);
    const { team, run } = await rested(caller({ approval: above(4) }, "look", "pay"));
    expect(run.requests.map(({ tool_call, matched }) => [tool_call?.name, matched])).toEqual([
      ["look", [{ condition: above(4).when[0], value: 5 }]],
      ["pay", [{ condition: above(4).when[0], value: 5 }]],
    ]);
    expect(mcpServer.calls).toEqual([]);
    value(await answer(team, run, { approved: true }));
    value(await answer(team, run, { approved: false }, { index: 1 }));
    await team.finished(run.id);
    expect(mcpServer.calls.map(({ name }) => name)).toEqual(["look"]);
  });

  test("counts the calls of each tool apart", async () => {
    answerMcp(async () => "done");
    const approval = { when: [{ calls_in_run: true, above: 1 }] };
    const { run } = await rested(caller({ approval }, "look", "pay", "pay"));
    expect(run.requests.map(({ tool_call }) => tool_call?.name)).toEqual(["pay"]);
  });

  test("is replaced by that of tool_overrides", async () => {
    answerMcp(async () => "done");
    const workbench = { approval: "human", tool_overrides: { look: { approval: above(9) } } };
    const { team, run } = await rested(caller(workbench, "look", "pay"));
    expect(run.requests.map(({ tool_call }) => tool_call?.name)).toEqual(["pay"]);
    expect(mcpServer.calls.map(({ name }) => name)).toEqual(["look"]);
    value(await answer(team, run, { approved: true }));
    await team.finished(run.id);
    expect(await decisions(team, run)).toMatchObject([
      { tool: "look", rule: above(9), outcome: "ran" },
      { tool: "pay", rule: "human", outcome: "approved" },
    ]);
  });
});

describe("an agent of an inner team", () => {
  const asked = [refund(90), refund(900)];
  const inner = () => roundRobin([clerk(above(100), asked)], 1);
  const callOf = (name: string) => () => [{ id: "t", name, arguments: '{"task":"Refund."}' }];

  test.each<[string, () => ComponentModel]>([
    ["a society of mind", () => roundRobin([society(effects, "society", inner())], 1)],
    ["a team as a participant", () => roundRobin([inner()], 1)],
    [
      "a team as a tool",
      () => assistant(effects, "boss", { tools: [teamTool("desk", inner())] }, callOf("desk")),
    ],
    [
      "an agent as a tool",
      () =>
        assistant(
          effects,
          "boss",
          { tools: [agentTool(clerk(above(100), asked))] },
          callOf("clerk"),
        ),
    ],
  ])("asks in its own name in %s, and its rule judges there", async (_, component) => {
    const { team, run } = await rested(component());
    expect(run.requests).toMatchObject([{ source: "clerk", matched: [{ value: 900 }] }]);
    expect(paid).toEqual([90]);
    await team.evict();
    value(await answer(team, run, { approved: true }));
    expect((await team.finished(run.id)).status).toBe("completed");
    expect(paid).toEqual([90, 900]);
    expect(await decisions(team, run)).toMatchObject([
      { agent: "clerk", outcome: "ran", arguments: { amount: 90 } },
      { agent: "clerk", outcome: "approved", by: [{ subject: "anna" }] },
    ]);
  });
});

describe("a retry of a failed run", () => {
  let failures = 0;
  /** Fails as often as is said. */
  const last = () =>
    agent("last", async function* (_self, ctx) {
      if (failures-- > 0) throw new TypeError("the last one fails");
      yield thought("last", ctx, "nothing is left");
      return "done";
    });

  test("asks no more with once, when the run that it continues has an approved call", async () => {
    failures = 1;
    const members = [clerk("once", [refund(1)]), last()];
    const { team, run } = await rested(roundRobin(members, 3));
    value(await answer(team, run, { approved: true }));
    expect((await team.finished(run.id)).status).toBe("failed");
    const again = value(await team.gateway.retryRun(run.id));
    expect((await team.finished(again.id)).status).toBe("completed");
    expect(paid).toEqual([1, 1]);
    const next = await team.rested((await team.start("go")).id);
    expect(next.requests).toHaveLength(1);
  });

  test("asks again about calls after those of a run whose approval ended with it", async () => {
    failures = 1;
    const members = [clerk("human", [refund(1)]), last()];
    const { team, run } = await rested(roundRobin(members, 3));
    value(await answer(team, run, { approved: true, allow: "run" }));
    expect((await team.finished(run.id)).status).toBe("failed");
    expect(value(await team.gateway.approvals({ limit: 9 })).approvals).toEqual([]);
    const again = value(await team.gateway.retryRun(run.id));
    const waiting = await team.rested(again.id);
    expect(waiting.requests).toHaveLength(1);
    expect(paid).toEqual([1]);
    value(await answer(team, waiting, { approved: true }));
    await team.finished(again.id);
    expect(paid).toEqual([1, 1]);
  });
});

describe("an answer that comes too late", () => {
  test("finds the request expired, which the decisions say", async () => {
    const { team, run } = await rested(clerk({ quorum: 2, timeout_seconds: 60 }, [refund(1)]));
    value(await answer(team, run, { approved: true }));
    await team.sql("update question set expires_at = 1");
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    await team.finished(run.id);
    const late = await answer(team, run, { approved: true }, { by: person("bob") });
    expect(late).toMatchObject({ problem: { status: 409, code: "already_answered" } });
    expect(await decisions(team, run)).toMatchObject([
      { outcome: "expired", by: [{ subject: "anna" }] },
    ]);
    expect(paid).toEqual([]);
  });

  test("finds the run cancelled, and nothing was decided", async () => {
    const { team, run } = await rested(clerk({ quorum: 2 }, [refund(1)]));
    value(await answer(team, run, { approved: true }));
    value(await team.gateway.stopRun(run.id, "now"));
    const late = await answer(team, run, { approved: true }, { by: person("bob") });
    expect(late).toMatchObject({ problem: { status: 409, code: "run_ended" } });
    expect(await decisions(team, run)).toEqual([]);
    expect(paid).toEqual([]);
  });
});

describe("changed arguments", () => {
  const rule = { ...above(100), quorum: 2 };

  test("that the rule asks about start the count with their own approval, time after time", async () => {
    const { team, run } = await rested(clerk(rule, [refund(900)]));
    const change = (amount: number, by: string, revision?: number) =>
      answer(
        team,
        run,
        { approved: true, arguments: { amount }, ...(revision !== undefined && { revision }) },
        { by: person(by) },
      );
    value(await answer(team, run, { approved: true }));
    const first = value(await change(800, "bob"));
    expect(first.approvals?.map(({ subject }) => subject)).toEqual(["bob"]);
    const second = value(await change(700, "anna", 2));
    expect(second).toMatchObject({
      approvals: [{ subject: "anna" }],
      requests: [{ revision: 3, matched: [{ value: 700 }] }],
    });
    await team.evict();
    value(await answer(team, run, { approved: true, revision: 3 }, { by: person("bob") }));
    await team.finished(run.id);
    expect(paid).toEqual([700]);
  });

  test("that no condition holds for run at once", async () => {
    const { team, run } = await rested(clerk(rule, [refund(900)]));
    value(await answer(team, run, { approved: true, arguments: { amount: 50 } }));
    await team.finished(run.id);
    expect(paid).toEqual([50]);
  });
});
