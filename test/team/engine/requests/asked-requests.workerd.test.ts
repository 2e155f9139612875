import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { counter, roundRobin, TestTeam, value } from "../../support/team.ts";

function human(config: object = {}) {
  return { provider: "UserProxyAgent", config: { name: "human", ...config } };
}

/** A team whose run waits for an answer. */
async function asking(config: object = {}, turns = 1) {
  const team = await TestTeam.create(roundRobin([counter("a"), human(config)], turns + 1));
  const { id } = await team.start("go");
  const { requests } = await team.rested(id);
  return { team, run: id, request: requests[0]!.id };
}

describe("a question that is read by its id", () => {
  test("is open until it is answered, and then has its answer and who gave it", async () => {
    const { team, run, request } = await asking({ timeout_seconds: 600, default_answer: "no" });
    expect(value(await team.gateway.request(run, request))).toMatchObject({
      id: request,
      status: "open",
      default_answer: { content: "no" },
      answer: null,
      answered_at: null,
      answered_by: null,
    });
    value(await team.gateway.answer(run, request, { content: "yes" }, { by: "ann" }));
    const answered = value(await team.gateway.request(run, request));
    expect(answered).toMatchObject({
      status: "answered",
      answer: { content: "yes" },
      answered_by: "ann",
    });
    expect(Date.parse(answered.answered_at ?? "")).toBeGreaterThan(0);
    await team.evict();
    expect(value(await team.gateway.request(run, request))).toEqual(answered);
  });

  test("has expired when its default answer counts", async () => {
    const team = await TestTeam.create(
      roundRobin([human({ timeout_seconds: 0.001, default_answer: "nobody home" })], 1),
    );
    const { id } = await team.start("go");
    if ((await team.rested(id)).status === "waiting") await runDurableObjectAlarm(team.stub);
    const { messages = [] } = (await team.finished(id)).result ?? {};
    const asked = messages.find(({ type }) => type === "UserInputRequestedEvent");
    const { request_id } = asked as unknown as { request_id: string };
    expect(value(await team.gateway.request(id, request_id))).toMatchObject({
      status: "expired",
      answer: { content: "nobody home" },
      answered_by: null,
    });
  });

  test("is not there once its run ended without it, and the problem says so", async () => {
    const { team, run, request } = await asking();
    value(await team.gateway.stopRun(run, "now"));
    await team.finished(run);
    expect(await team.gateway.request(run, request)).toMatchObject({
      ok: false,
      problem: {
        status: 404,
        code: "request_not_found",
        detail: "The run is cancelled and has no such request: its open ones ended with it.",
      },
    });
    expect(await team.gateway.request("no-run", request)).toMatchObject({
      ok: false,
      problem: { code: "run_not_found" },
    });
  });
});
