import { describe, expect, test } from "vitest";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { mentions, steeringStage, type Started, team } from "../support/steered-teams.ts";

// Messages into runs that end before their agents have read them, and the turn that reads one that would be left.

const stage = steeringStage((settings) => KillableWorker.start(settings));
const { teams } = stage;

async function crash(): Promise<void> {
  await stage.worker.kill();
  await stage.worker.restart();
}

/** A run that has ended before its agent has read a message. */
async function unread(
  end: (started: Started) => Promise<unknown>,
): Promise<Started & { id: string }> {
  const started = await teams.start(
    team("RoundRobinGroupChat", { participants: [teams.assistant("writer")], max_turns: 1 }),
  );
  const first = await stage.model.request(1);
  first.begin("Once");
  await teams.shown(started);
  const id = await teams.steer(started, "Shorter.");
  await end(started);
  await teams.finished(started);
  return { ...started, id };
}

/** The ids of the thread in the saved state of a team. */
async function threadOf(id: string): Promise<string[]> {
  const state = (await (await stage.worker.fetch(`/v1/teams/${id}/state`)).json()) as {
    agent_states: { RoundRobinGroupChatManager: { message_thread: { id: string }[] } };
  };
  return state.agent_states.RoundRobinGroupChatManager.message_thread.map((one) => one.id);
}

/** Runs the team once more. Returns what its agent was asked with. */
async function askedNext(id: string, task: string): Promise<string[]> {
  const before = stage.model.requests.length;
  const next = await teams.again(id, task);
  const request = await stage.model.request(before + 1);
  request.end("Twice.");
  expect((await teams.finished(next)).status).toBe("completed");
  return request.texts;
}

const count = (ids: readonly string[], id: string): number =>
  ids.filter((one) => one === id).length;

describe.each([
  ["was cancelled", (started: Started) => teams.stop(started)],
  ["has failed", () => Promise.resolve(stage.model.requests[0]?.fail())],
])("a run that %s", (_name, end) => {
  test("leaves an unread message in the thread and in forks, and the next run of each reads it first", async () => {
    const { team: id, id: sent } = await unread(end);
    await crash();
    const read = ["You are writer.", "Begin.", "Shorter."];
    expect((await teams.log(id)).map((message) => message.id)).toContain(sent);
    expect(count(await threadOf(id), sent)).toBe(1);
    const copy = await teams.fork(id);
    const second = await teams.fork(copy);
    for (const one of [copy, second]) {
      expect(await teams.said(one)).toEqual(["Begin.", "Shorter."]);
      expect(count(await threadOf(one), sent)).toBe(1);
    }
    await crash();
    for (const one of [copy, second, id]) {
      expect(await askedNext(one, "Again.")).toEqual([...read, "Again."]);
      expect(await askedNext(one, "And again.")).toEqual([
        ...read,
        "Again.",
        "Twice.",
        "And again.",
      ]);
      expect(await teams.said(one)).toEqual([
        "Begin.",
        "Shorter.",
        "Again.",
        "Twice.",
        "And again.",
        "Twice.",
      ]);
      expect(count(await threadOf(one), sent)).toBe(1);
    }
    // The turn before the message has a fork without it.
    expect(await teams.said(await teams.fork(id, { turn: 1 }))).toEqual(["Begin."]);
  });

  test("has a retry that reads the message once, also after the component was replaced", async () => {
    const { team: id, run, id: sent } = await unread(end);
    const replaced = await stage.worker.fetch(
      `/v1/teams/${id}/component`,
      jsonInit(
        team("RoundRobinGroupChat", {
          participants: [teams.assistant("writer", { description: "Another." })],
          max_turns: 1,
        }),
        "PUT",
      ),
    );
    expect(replaced.status, await replaced.clone().text()).toBe(200);
    await replaced.body?.cancel();
    const fork = await teams.fork(id);
    const retried = await stage.worker.fetch(`/v1/teams/${id}/runs/${run}/retry`, jsonInit({}));
    const retry = { team: id, run: ((await retried.json()) as { id: string }).id };
    const request = await stage.model.request(2);
    expect(request.texts).toEqual(["You are writer.", "Begin.", "Shorter."]);
    request.end("Short.");
    expect((await teams.finished(retry)).status).toBe("completed");
    expect(await teams.said(id)).toEqual(["Begin.", "Shorter.", "Short."]);
    expect(count(await threadOf(id), sent)).toBe(1);
    expect(await teams.said(fork)).toEqual(["Begin.", "Shorter."]);
    expect(await askedNext(fork, "Go.")).toEqual(["You are writer.", "Begin.", "Shorter.", "Go."]);
  });
});

test("a message to a queued run that is cancelled is in the thread, and is read once", async () => {
  const started = await teams.start(teams.assistant("writer"));
  const first = await stage.model.request(1);
  first.begin("Once");
  await teams.shown(started);
  const queued = await teams.again(started.team, "Next.", { on_conflict: "queue" });
  await teams.steer(queued, "Politely.");
  expect((await teams.stop(queued)).status).toBe(202);
  expect(await teams.said(started.team)).toEqual(["Begin.", "Politely."]);
  first.end(".");
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are writer.", "Begin.", "Once.", "Politely."]);
  second.end("Please.");
  await teams.finished(started);
  expect(await teams.said(started.team)).toEqual(["Begin.", "Politely.", "Once.", "Please."]);
});

describe("a message that a speaker has read in the middle of its turn", () => {
  const cut = async (component: object, more: object = {}) => {
    const started = await teams.start(component);
    const first = await stage.model.request(1);
    await teams.steer(started, "All of you.", more);
    await first.closed;
    return { started, again: await stage.model.request(2) };
  };

  test("is read by the next speaker before the run ends", async () => {
    const { started, again } = await cut(
      team("RoundRobinGroupChat", {
        participants: [teams.assistant("writer"), teams.assistant("critic")],
        termination_condition: mentions("DONE"),
      }),
    );
    again.end("DONE");
    const next = await stage.model.request(3);
    expect(next.texts).toEqual(["You are critic.", "Begin.", "All of you.", "DONE"]);
    next.end("DONE, too");
    expect((await teams.finished(started)).status).toBe("completed");
    expect(stage.model.requests).toHaveLength(3);
  });

  test("asks the last speaker of a swarm, who has read it, for nothing more", async () => {
    const swarm = (condition: object): object =>
      team("Swarm", {
        participants: [teams.assistant("desk", { handoffs: ["clerk"] }), teams.assistant("clerk")],
        termination_condition: condition,
      });
    const { started, again } = await cut(swarm(mentions("DONE")));
    again.end("DONE");
    expect((await teams.finished(started)).status).toBe("completed");
    expect(stage.model.requests).toHaveLength(2);
  });

  test("asks for no more turn where the one whom it was sent to has read it, or the only agent has", async () => {
    const agents = { participants: [teams.assistant("writer"), teams.assistant("critic")] };
    const condition = { termination_condition: mentions("DONE") };
    const { started, again } = await cut(team("RoundRobinGroupChat", { ...agents, ...condition }), {
      to: "writer",
    });
    again.end("DONE");
    expect((await teams.finished(started)).status).toBe("completed");
    expect(stage.model.requests).toHaveLength(2);
  });
});
