import { describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { answerAs, execution, released, releaseAs, sandboxCalls } from "../support/sandbox.ts";
import { roundRobin, Signal, TestTeam, texts, value } from "../support/team.ts";

const runner: ComponentModel = {
  provider: "CodeExecutorAgent",
  config: {
    name: "runner",
    model_client_stream: true,
    code_executor: {
      provider: "DockerCommandLineCodeExecutor",
      config: { retry: { attempts: 3 } },
    },
  },
};

const CODE = "```python\nprint(1)\n```";

/** The session that a run of the team names, whose code prints something at once. */
async function sessionOf(team: TestTeam): Promise<string> {
  answerAs(async () => execution("1\n", 0));
  const { id } = await team.start(CODE);
  expect(texts(await team.finished(id))).toEqual([CODE, "1\n"]);
  expect(sandboxCalls).toHaveLength(1);
  return sandboxCalls[0]!.call.replace(/^POST .*\/([^/]+)\/execute$/, "$1");
}

describe("the session of a team", () => {
  test("is the same over its life, and another one for every other team", async () => {
    const team = await TestTeam.create(roundRobin([runner], 1));
    const session = await sessionOf(team);
    expect(session).toMatch(/^[\w-]{22,}$/);
    await team.evict();
    expect(await sessionOf(team)).toBe(session);
    value(await team.gateway.reset());
    expect(await sessionOf(team)).toBe(session);
    const others = [
      await sessionOf(await team.fork()),
      await sessionOf(await TestTeam.create(roundRobin([runner], 1))),
    ];
    expect(new Set([session, ...others]).size).toBe(3);
    // Whoever may see a team need not know it.
    expect(JSON.stringify(value(await team.gateway.team()))).not.toContain(session);
  });

  test("is made for a team that is older than sessions", async () => {
    const team = await TestTeam.create(roundRobin([runner], 1));
    await team.sql("update meta set value = json_remove(value, '$.session') where name = 'team'");
    await team.crash();
    const session = await sessionOf(team);
    await team.evict();
    expect(await sessionOf(team)).toBe(session);
  });

  test("is released when the team is deleted, and another team of its name has another one", async () => {
    const component = roundRobin([runner], 1);
    const team = await TestTeam.create(component);
    const session = await sessionOf(team);
    releaseAs(() => Promise.resolve());
    value(await team.gateway.destroy());
    expect(released).toEqual([session]);
    value(await team.gateway.create({ id: team.id, label: null, metadata: {}, component }));
    expect(await sessionOf(team)).not.toBe(session);
  });

  test.each([
    ["fails", () => Promise.reject(new TypeError("no connection"))],
    [
      "is not possible",
      () => {
        throw new TypeError("bad settings");
      },
    ],
    ["does not end", () => new Promise<void>(() => {})],
  ])("is deleted with the team, also if releasing it %s", async (_, release) => {
    const team = await TestTeam.create(roundRobin([runner], 1));
    releaseAs(release);
    value(await team.gateway.destroy());
    expect(released).toHaveLength(1);
    expect(await team.gateway.team()).toMatchObject({ ok: false, problem: { status: 404 } });
    await team.erased();
    expect(await team.alarm()).toBeNull();
  });
});

describe("code that is running", () => {
  test("is asked for again under its key when the object was lost, and shown again", async () => {
    const team = await TestTeam.create(roundRobin([runner], 1));
    const began = new Signal();
    answerAs(async () => {
      began.set();
      return sandboxCalls.length === 1 ? execution("a\n") : execution("a\nb\n", 0);
    });
    const { id } = await team.start(CODE);
    await began.wait();
    await team.crash();
    expect(texts(await team.finished(id))).toEqual([CODE, "a\nb\n"]);
    const [first, second] = sandboxCalls;
    expect(sandboxCalls).toHaveLength(2);
    expect(second).toEqual(first);
  });

  test("is stopped when the run is cancelled", async () => {
    const team = await TestTeam.create(roundRobin([runner], 1));
    const began = new Signal();
    const stopped = new Signal();
    answerAs(async (_url, { method }) => {
      if (method === "DELETE") {
        stopped.set();
        return new Response(null, { status: 204 });
      }
      began.set();
      return execution("a\n");
    });
    const { id } = await team.start(CODE);
    await began.wait();
    value(await team.gateway.stopRun(id, "now"));
    expect((await team.finished(id)).status).toBe("cancelled");
    await stopped.wait();
    const [execute, cancel] = sandboxCalls.map(({ call }) => call);
    expect(cancel).toBe(
      execute?.replace("POST", "DELETE").replace("/execute", `/executions/${sandboxCalls[0]?.key}`),
    );
  });

  test("has a result if its outcome stays unknown, and the team continues", async () => {
    const team = await TestTeam.create(roundRobin([runner], 2));
    answerAs(async () => new Response(null, { status: 503, headers: { "retry-after-ms": "0" } }));
    const { id } = await team.start(CODE);
    const run = await team.finished(id);
    expect(run.status).toBe("completed");
    expect(texts(run)[1]).toContain("the sandbox answered HTTP 503 (3 attempts in 1 second)");
    expect(sandboxCalls).toHaveLength(3);
  });

  test("fails its run with the reason if the sandbox refuses it", async () => {
    const team = await TestTeam.create(roundRobin([runner], 1));
    answerAs(async () => Response.json({ detail: "The key is wrong." }, { status: 401 }));
    const { id } = await team.start(CODE);
    expect(await team.finished(id)).toMatchObject({
      status: "failed",
      error: {
        type: "sandbox_refused",
        message: "the sandbox refused: HTTP 401: The key is wrong.",
      },
    });
  });
});
