import { expect, test, vi } from "vitest";
import type { ComponentModel } from "troupe";
import type { CancelledWork, RemoteWork } from "#core/steps/remote-work.ts";
import { PATIENCE } from "../../support/patience.ts";
import { ringAt } from "../support/clock.ts";
import { logged } from "../support/logged.ts";
import { cancellations } from "../support/scripted-agent.ts";
import { agent, roundRobin, TestTeam, value } from "../support/team.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** An agent that begins work elsewhere and then asks a human. */
const leaver = (name: string, state: RemoteWork["state"]): ComponentModel =>
  agent(name, async function* (self, ctx) {
    yield* [];
    await ctx.step("begin", async ({ scope = "" }) => {
      const remote: RemoteWork = { id: name, agent: name, scope, order: 0, state, task: {} };
      return { remote };
    });
    await ctx.ask({ id: ctx.id(), kind: "input", source: self.name, prompt: "Which?" });
    return "thanks";
  });

/** A run that leaves work is stopped. @returns when, and the number of attempts to cancel the work */
async function stopped(
  name: string,
  state: RemoteWork["state"],
  answer: () => CancelledWork,
): Promise<{ team: TestTeam; at: number; attempts: () => number }> {
  let count = 0;
  cancellations.set(name, () => {
    count++;
    return answer();
  });
  const team = await TestTeam.create(roundRobin([leaver(name, state)], 1));
  const run = await team.start("go");
  await team.rested(run.id);
  value(await team.gateway.stopRun(run.id, "now"));
  return { team, at: Date.now(), attempts: () => count };
}

const leftOf = (name: string): unknown[] =>
  logged.filter((entry) => entry.event === "remote_work_left" && entry.work === name);

test("a cancellation whose service does not answer is repeated after growing pauses, for a day", async () => {
  const { team, at, attempts } = await stopped("silent", "begun", () => {
    throw new Error("no answer");
  });
  await vi.waitFor(() => expect(attempts()).toBe(1), PATIENCE);
  for (const [after, count] of [
    [SECOND, 1],
    [MINUTE, 2],
    [1.5 * MINUTE, 2],
    [2.5 * MINUTE, 3],
    // At most an hour apart.
    [5 * HOUR, 4],
    [6.1 * HOUR, 5],
    [23 * HOUR, 6],
  ] as const) {
    await ringAt(team, at + after);
    expect(attempts(), `${after} ms`).toBe(count);
  }
  expect(leftOf("silent")).toEqual([]);
  await ringAt(team, at + 25 * HOUR);
  expect(attempts()).toBe(7);
  expect(leftOf("silent")).toEqual([
    { event: "remote_work_left", team: team.id, work: "silent", code: "internal" },
  ]);
  await ringAt(team, at + 30 * HOUR);
  expect(attempts()).toBe(7);
});

test("a cancellation is repeated while its service still does the work", async () => {
  const answers: CancelledWork[] = ["going_on", "unknown", "over"];
  const { team, at, attempts } = await stopped("busy", "begun", () => answers.shift() ?? "over");
  await vi.waitFor(() => expect(attempts()).toBe(1), PATIENCE);
  for (const minutes of [1, 3, 10, 30]) await ringAt(team, at + minutes * MINUTE);
  expect(attempts()).toBe(3);
});

test("a cancellation of work that may never have begun waits for it, and looks for it during ten minutes", async () => {
  const { team, at, attempts } = await stopped("lost", "asked", () => "unknown");
  for (const [after, count] of [
    [3 * SECOND, 0],
    [MINUTE, 1],
    [9 * MINUTE, 2],
    [20 * MINUTE, 3],
    [60 * MINUTE, 3],
  ] as const) {
    await ringAt(team, at + after);
    expect(attempts(), `${after} ms`).toBe(count);
  }
  expect(leftOf("lost")).toEqual([]);
});
