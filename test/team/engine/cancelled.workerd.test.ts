import { describe, expect, test } from "vitest";
import type { ComponentModel, JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { counter, TestTeam, texts, value } from "../support/team.ts";

/** `a` speaks, then a human; a run ends with its third message. */
function table(): ComponentModel {
  return {
    provider: "RoundRobinGroupChat",
    config: {
      participants: [counter("a"), { provider: "UserProxyAgent", config: { name: "human" } }],
      termination_condition: {
        provider: "MaxMessageTermination",
        config: { max_messages: 3 },
      },
    },
  };
}

/** A team whose first run was cancelled while it waited for the human, after two messages. */
async function cancelled(): Promise<{ team: TestTeam; run: RunInfo }> {
  const team = await TestTeam.create(table());
  const { id } = await team.rested((await team.start("go")).id);
  value(await team.gateway.stopRun(id, "now"));
  return { team, run: await team.finished(id) };
}

async function answered(team: TestTeam, id: string): Promise<unknown[]> {
  const { requests } = await team.rested(id);
  value(await team.gateway.answer(id, requests[0]?.id ?? "", { content: "well" }));
  return said(await team.finished(id));
}

/** Without the event that asks the human. */
function said(run: RunInfo): unknown[] {
  return texts(run).filter((text) => text !== "");
}

async function counts(team: TestTeam): Promise<unknown> {
  const { agent_states } = value(await team.gateway.saveState());
  const manager = (agent_states as JsonObject)["RoundRobinGroupChatManager"] as JsonObject;
  return { current_turn: manager["current_turn"], troupe: manager["troupe"] };
}

describe("a team with a cancelled run", () => {
  test("has a saved state that counts from the beginning, as after a run that has ended", async () => {
    const { team } = await cancelled();
    const ended = await TestTeam.create(table());
    await answered(ended, (await ended.start("go")).id);
    expect(await counts(team)).toEqual(await counts(ended));
    await team.crash();
    expect(await counts(team)).toEqual(await counts(ended));
  });

  test("shows its messages to the next run, also when the object is lost before its first turn is over", async () => {
    const { team } = await cancelled();
    const next = await team.start("again");
    await team.crash();
    expect(await answered(team, next.id)).toEqual(["again", "well", "a 2"]);
  });

  test("shows its messages to an interrupting run", async () => {
    const team = await TestTeam.create(table());
    await team.rested((await team.start("go")).id);
    const next = await team.start("again", { on_conflict: "interrupt" });
    expect(await answered(team, next.id)).toEqual(["again", "well", "a 2"]);
  });

  test("a retry continues the run where it was, although the state was read in between", async () => {
    const { team, run } = await cancelled();
    await counts(team);
    const retry = value(await team.gateway.retryRun(run.id));
    await team.crash();
    expect(await answered(team, retry.id)).toEqual(["well"]);
  });

  test("a cancelled retry has ended, too", async () => {
    const { team, run } = await cancelled();
    const retry = value(await team.gateway.retryRun(run.id));
    value(await team.gateway.stopRun((await team.rested(retry.id)).id, "now"));
    await team.finished(retry.id);
    const next = await team.start("again");
    expect(await answered(team, next.id)).toEqual(["again", "well", "a 2"]);
  });

  test("a fork of its last turn has all its messages, one of an earlier turn the rest of that run's", async () => {
    const { team, run } = await cancelled();
    await answered(team, (await team.start("again")).id);
    const fork = await team.fork(run.turn);
    expect(await answered(fork, (await fork.start("fork")).id)).toEqual(["fork", "well", "a 2"]);
    const early = await team.fork(run.turn - 1);
    const { id } = await early.start("early");
    expect(said(await early.finished(id))).toEqual(["early", "a 1"]);
  });

  test("another component starts over, and a retry continues", async () => {
    const { team, run } = await cancelled();
    value(await team.gateway.replaceComponent(table()));
    expect(await counts(team)).toMatchObject({ current_turn: 0 });
    await team.evict();
    expect(await counts(team)).toMatchObject({ current_turn: 0 });
    const retry = value(await team.gateway.retryRun(run.id));
    expect(await answered(team, retry.id)).toEqual(["well"]);
  });

  test("a state that is loaded stays as it was saved", async () => {
    const running = await TestTeam.create(table());
    await running.rested((await running.start("go")).id);
    const { team } = await cancelled();
    value(await team.gateway.loadState(value(await running.gateway.saveState())));
    await team.evict();
    expect(await counts(team)).toEqual(await counts(running));
  });
});
