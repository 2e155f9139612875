import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { ComponentModel, FunctionCall, JsonObject, Message } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { FunctionTool } from "troupe";
import { catalog } from "../../support/catalog.ts";
import { assistant } from "../../support/components.ts";
import { Effects } from "../../support/effects.ts";
import { type Frame, outline, roundRobin, TestTeam, texts, value } from "../../support/team.ts";

const DAY = 86_400;

let effects = new Effects();
catalog.registerTool(
  new FunctionTool({
    name: "remove",
    description: "Removes a file.",
    parameters: z.object({ path: z.string(), force: z.boolean().optional() }),
    execute: async ({ path }, { idempotencyKey }) => {
      await effects.run(idempotencyKey);
      return `removed ${path}`;
    },
  }),
);

catalog.registerTool(
  new FunctionTool({
    name: "pay",
    description: "Pays.",
    parameters: z.object({ id: z.bigint() }),
    execute: ({ id }) => ({ paid: id }),
  }),
);

const remove = (path: string): FunctionCall => ({
  id: "c",
  name: "remove",
  arguments: JSON.stringify({ path }),
});

/** An assistant whose model asks for these calls at once. */
function clerk(paths: string[] | (() => string[]), config: JsonObject = {}): ComponentModel {
  effects = new Effects();
  const calls = () => (Array.isArray(paths) ? paths : paths()).map(remove);
  const tool = {
    provider: "FunctionTool",
    config: { name: "remove", approval: "human", ...config },
  };
  return assistant(effects, "clerk", { tools: [tool] }, calls);
}

const coder = (config: JsonObject = {}): ComponentModel => ({
  provider: "CodeExecutorAgent",
  config: {
    name: "coder",
    code_executor: { provider: "test.TestCodeExecutor", config: {} },
    approval: "human",
    ...config,
  },
});

async function waiting(component: ComponentModel, task = "go") {
  const team = await TestTeam.create(component);
  const run = await team.rested((await team.start(task)).id);
  expect(run).toMatchObject({ status: "waiting" });
  return { team, run };
}

const answer = async (team: TestTeam, { id, requests }: RunInfo, given: JsonObject, index = 0) =>
  team.gateway.answer(id, requests[index]?.id ?? "", given);

describe("code under approval", () => {
  const code = "```sh\nls\n```";

  test("waits without an object, and runs when it is approved", async () => {
    const { team, run } = await waiting(coder(), code);
    expect(run.requests).toEqual([
      {
        id: expect.any(String),
        kind: "approval",
        source: "coder",
        prompt: '"coder" wants to run this code.',
        code: "```sh\nls\n\n```",
        allow: ["run", "team"],
        context: { messages: [expect.objectContaining({ content: code })], truncated: false },
        created_at: expect.any(String),
        expires_at: null,
      },
    ]);
    await team.evict();
    expect(value(await team.gateway.requests(run.id))).toEqual(run.requests);
    value(await answer(team, run, { approved: true }));
    expect(texts(await team.finished(run.id))).toEqual([code, "ls\n"]);
  });

  test("is shown as a change of status to watchers", async () => {
    const team = await TestTeam.create(coder());
    const seen: Frame[] = [];
    for await (const frame of await team.startStream(code)) {
      seen.push(frame);
      if (outline(seen).at(-1) === "run waiting") break;
    }
    expect(outline(seen)).toEqual(["run running", "caught_up", code, "run waiting"]);
  });

  test("cannot be changed, only refused", async () => {
    const { team, run } = await waiting(coder(), code);
    expect(await answer(team, run, { approved: true, arguments: { code: "rm" } })).toMatchObject({
      ok: false,
      problem: { status: 422, code: "invalid_answer", errors: [{ path: "arguments" }] },
    });
    value(await answer(team, run, { approved: false, reason: "not now" }));
    expect(texts(await team.finished(run.id)).at(-1)).toBe(
      "Code execution was not approved. Reason: not now",
    );
  });

  test("may be longer than a row", async () => {
    const long = `\`\`\`sh\n${"x".repeat(1_100_000)}\n\`\`\``;
    const { team, run } = await waiting(coder(), long);
    expect(await team.sql("select id from question where length(question) > 1000000")).toEqual([]);
    await team.evict();
    const [request] = value(await team.gateway.requests(run.id));
    expect(request?.code).toHaveLength(long.length + 1);
    value(await answer(team, run, { approved: false }));
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    value(await team.gateway.replaceComponent(coder()));
    const left = "select owner from part where owner like 'question:%'";
    expect(await team.sql(left)).toEqual([]);
  });

  test("counts as refused if no human approves it in time", async () => {
    const { team, run } = await waiting(coder({ approval_timeout_seconds: 3 * DAY }), code);
    const [request] = run.requests;
    const { created_at = "", expires_at = "" } = request ?? {};
    expect(Date.parse(expires_at ?? "") - Date.parse(created_at)).toBe(3 * DAY * 1000);
    await team.sql("update question set expires_at = 1");
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    expect(texts(await team.finished(run.id)).at(-1)).toMatch(/Nobody answered in time/);
  });
});

describe("a tool under approval", () => {
  test("is called with the arguments that a human has edited", async () => {
    const { team, run } = await waiting(clerk(["/a"]));
    expect(run.requests).toMatchObject([
      {
        kind: "approval",
        source: "clerk",
        tool_call: { name: "remove", call_id: "c", arguments: { path: "/a" } },
        expires_at: null,
      },
    ]);
    for (const [given, path] of [
      [{ path: 7 }, "arguments.path"],
      [{}, "arguments.path"],
      [{ path: "/b", why: "x" }, "arguments.why"],
    ] as const) {
      expect(await answer(team, run, { approved: true, arguments: given })).toMatchObject({
        ok: false,
        problem: { status: 422, code: "invalid_answer", errors: [{ path }] },
      });
    }
    expect(await answer(team, run, { approved: false, arguments: { path: "/b" } })).toMatchObject({
      ok: false,
      problem: { errors: [{ path: "arguments" }] },
    });
    expect(await team.run(run.id)).toMatchObject({ status: "waiting" });
    await team.evict();
    value(await answer(team, run, { approved: true, arguments: { path: "/b", force: null } }));
    expect(texts(await team.finished(run.id)).at(-1)).toMatch(/changed .*"\/b".*\nremoved \/b$/);
  });

  test("asks about several calls at once, and each is made when it is approved", async () => {
    const { team, run } = await waiting(clerk(["/a", "/b", "/c"]));
    expect(run.requests).toHaveLength(3);
    value(await answer(team, run, { approved: true }, 1));
    expect(await team.rested(run.id)).toMatchObject({ requests: [{}, {}] });
    expect(effects.begun).toEqual(["1/model:0", "1/tool:0:1/call"]);
    await team.evict();
    value(await answer(team, run, { approved: false }, 0));
    value(await answer(team, run, { approved: true }, 2));
    expect(texts(await team.finished(run.id)).at(-1)).toBe(
      "The tool call was not approved.\nremoved /b\nremoved /c",
    );
    expect(effects.repeated).toEqual([]);
  });

  test("is shown to watchers while another step runs beside it", async () => {
    const free = new FunctionTool({
      name: "work",
      description: "Takes its time.",
      parameters: {},
      policy: "retry",
      execute: async (_args, { idempotencyKey }) => effects.run(idempotencyKey),
    });
    catalog.registerTool(free);
    effects = new Effects();
    const calls = [{ id: "w", name: "work", arguments: "{}" }, remove("/a")];
    const tools: JsonObject[] = [
      { provider: "FunctionTool", config: { name: "work" } },
      { provider: "FunctionTool", config: { name: "remove", approval: "human" } },
    ];
    const team = await TestTeam.create(assistant(effects, "clerk", { tools }, () => calls));
    const release = effects.hold("1/tool:0:0/call");
    const seen: string[] = [];
    for await (const { event, data } of await team.startStream("go")) {
      if (event !== "run") continue;
      const { id, status, requests } = data as RunInfo;
      seen.push(`${status} ${requests.length}`);
      if (requests.length === 1) {
        value(await team.gateway.answer(id, requests[0]!.id, { approved: false }));
        release();
      }
    }
    expect(seen).toEqual(["running 0", "running 1", "running 0", "completed 0"]);
  });

  test("that was cut off after its approval is not called again", async () => {
    const { team, run } = await waiting(clerk(["/a"]));
    effects.hang("1/tool:0:0/call");
    value(await answer(team, run, { approved: true }));
    await effects.until("1/tool:0:0/call");
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    expect(texts(await team.finished(run.id)).at(-1)).toMatch(/outcome is unknown/);
    expect(effects.begun).toEqual(["1/model:0", "1/tool:0:0/call"]);
  });

  test("may be paused, stopped and cancelled while it waits, and an earlier turn may be forked", async () => {
    const { team, run } = await waiting(roundRobin([clerk(["/a"])], 2));
    value(await team.gateway.pauseRun(run.id));
    expect(await team.rested(run.id)).toMatchObject({ status: "paused" });
    value(await answer(team, run, { approved: true }));
    expect(effects.begun).toEqual(["1/speaker:clerk/model:0"]);
    value(await team.gateway.resumeRun(run.id));
    const next = await team.rested(run.id);
    expect(next).toMatchObject({ status: "waiting", turns: 1 });
    const fork = await team.fork();
    const forked = await fork.rested((await fork.start(null)).id);
    expect(forked.requests).toMatchObject([{ tool_call: { arguments: { path: "/a" } } }]);
    value(await team.gateway.stopRun(next.id, "now"));
    expect(await answer(team, next, { approved: true })).toMatchObject({
      problem: { code: "run_ended" },
    });
  });
});

test("an agent as a tool and the tools inside it are asked about one by one", async () => {
  const inner = clerk(["/a"]);
  const mind = effects;
  const tools: JsonObject[] = [
    { provider: "AgentTool", config: { agent: inner as unknown as JsonObject, approval: "human" } },
  ];
  const ask = (task: string) => ({ id: "c", name: "clerk", arguments: JSON.stringify({ task }) });
  const { team, run } = await waiting(
    assistant(mind, "boss", { tools }, () => [ask("one"), ask("two")]),
  );
  expect(run.requests).toMatchObject([
    { source: "boss", tool_call: { arguments: { task: "one" } } },
    { source: "boss", tool_call: { arguments: { task: "two" } } },
  ]);
  // Both are answered at once, and made one after the other: they share an agent.
  await team.evict();
  value(await answer(team, run, { approved: true, arguments: { task: "uno" } }, 0));
  value(await answer(team, run, { approved: true }, 1));
  const first = await team.rested(run.id);
  expect(first.requests).toMatchObject([{ source: "clerk", tool_call: { name: "remove" } }]);
  await team.evict();
  value(await answer(team, first, { approved: true }));
  const second = await team.rested(run.id);
  expect(second.requests).toMatchObject([{ source: "clerk", tool_call: { name: "remove" } }]);
  expect(second.requests[0]?.id).not.toBe(first.requests[0]?.id);
  value(await answer(team, second, { approved: false }));
  expect(texts(await team.finished(run.id)).at(-1)).toMatch(
    /changed .*"uno".*\nclerk: removed \/a\nclerk: The tool call was not approved\.$/,
  );
  expect(effects.repeated).toEqual([]);
});

test.each<[string, JsonObject]>([
  ["as the model wrote it", {}],
  ["as a number of JSON text", { arguments: '{"id":-9007199254740995}' }],
  ["as a text", { arguments: { id: "-9007199254740995" } }],
])("an integer beyond 2^53 outlives the object, and is approved %s", async (_, given) => {
  effects = new Effects();
  const tools = [{ provider: "FunctionTool", config: { name: "pay", approval: "human" } }];
  const call = { id: "c", name: "pay", arguments: '{"id":9007199254740993}' };
  const { team, run } = await waiting(assistant(effects, "clerk", { tools }, () => [call]));
  expect(run.requests[0]?.tool_call?.arguments).toEqual({ id: "9007199254740993" });
  const unsafe = await answer(team, run, { approved: true, arguments: { id: 2 ** 53 } });
  expect(unsafe).toMatchObject({ problem: { errors: [{ path: "arguments.id" }] } });
  await team.evict();
  value(await answer(team, run, { approved: true, ...given }));
  value(await answer(team, run, { approved: true, ...given }));
  const id = "arguments" in given ? "-9007199254740995" : "9007199254740993";
  expect(texts(await team.finished(run.id)).at(-1)).toMatch(new RegExp(`{"paid":${id}}$`));
});

describe("a retry", () => {
  test("does not ask again about approved calls", async () => {
    const { team, run } = await waiting(clerk(["/a"]));
    effects.hang("1/tool:0:0/call");
    value(await answer(team, run, { approved: true }));
    await effects.until("1/tool:0:0/call");
    value(await team.gateway.stopRun(run.id, "now"));
    const again = value(await team.gateway.retryRun(run.id));
    expect(texts(await team.finished(again.id)).at(-1)).toMatch(/outcome is unknown/);
  });

  test("asks again if the model makes another call at the same place", async () => {
    const paths = ["/a", "/b"];
    // What follows the call fails: the model's reply is made responsible.
    catalog.registerFunction("cannot read the clerk", (messages: readonly Message[]) => {
      if (messages.some(({ source }) => source === "clerk"))
        throw new TypeError("cannot read this");
      return false;
    });
    const { provider, config } = roundRobin([clerk(() => [paths.shift() ?? ""])], 1);
    const condition = {
      provider: "FunctionalTermination",
      config: { func: "cannot read the clerk" },
    };
    const { team, run } = await waiting({
      provider,
      config: { ...config, termination_condition: condition },
    });
    value(await answer(team, run, { approved: false }));
    expect(await team.finished(run.id)).toMatchObject({ status: "failed" });
    const again = value(await team.gateway.retryRun(run.id));
    const { requests } = await team.rested(again.id);
    expect(requests).toMatchObject([{ tool_call: { arguments: { path: "/b" } } }]);
    expect(requests[0]?.id).not.toBe(run.requests[0]?.id);
  });

  test("asks again when the team was given another component meanwhile", async () => {
    const { team, run } = await waiting(clerk(["/a"]));
    value(await team.gateway.pauseRun(run.id));
    value(await answer(team, run, { approved: true }));
    value(await team.gateway.stopRun(run.id, "now"));
    // Under the same name it may be another tool.
    value(await team.gateway.replaceComponent(clerk(["/a"], { description: "Removes all." })));
    const again = value(await team.gateway.retryRun(run.id));
    expect(await team.rested(again.id)).toMatchObject({ status: "waiting", requests: [{}] });
    expect(effects.begun).not.toContain("1/tool:0:0/call");
  });
});
