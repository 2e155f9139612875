import { beforeAll, expect, test } from "vitest";
import { type TeamClient, TroupeClient } from "#client/index.ts";
import type { TasksOfTeam } from "#contract/team/board.ts";
import { jsonInit } from "../support/http-app.ts";
import { steeringStage, team as component } from "../support/steered-teams.ts";
import { TestWorker } from "../support/worker.ts";

// What people have sent into a run, and changed on the board, when the conversation is replaced that it belongs to.

const stage = steeringStage((settings) => TestWorker.start(settings));
const { teams } = stage;

let client: TroupeClient;

beforeAll(async () => {
  client = new TroupeClient({ baseURL: await stage.worker.origin });
});

type Replace = (team: TeamClient) => Promise<unknown>;

/** @param kept what the agent still knows @param tasks the board, which a reset keeps as people see it */
test.each<
  [way: string, kept: string[], tasks: string[], prepare: (team: TeamClient) => Promise<Replace>]
>([
  ["a reset", [], ["Old task"], () => Promise.resolve((team) => team.reset())],
  [
    "another state",
    ["Hello.", "Hi."],
    [],
    async (before) => {
      const state = await before.saveState();
      return (team) => team.loadState(state);
    },
  ],
  [
    "another state in parts",
    ["Hello.", "Hi."],
    [],
    async (before) => {
      const part = await (await before.statePart()).text();
      return async (team) => {
        const { state } = await team.putStatePart(1, part);
        await team.commitState(state ?? "");
      };
    },
  ],
])("%s drops the message that a cancelled run has not read", async (_way, kept, tasks, prepare) => {
  const memory = [{ provider: "troupe.memory.TaskBoard", config: {} }];
  const participants = [teams.assistant("writer", { memory })];
  const writers = component("RoundRobinGroupChat", { participants, max_turns: 1 });
  const first = await teams.start(writers, "Hello.");
  (await stage.model.request(1)).end("Hi.");
  await teams.finished(first);
  const { team: id } = first;
  const team = client.team(id);
  const replace = await prepare(team);
  const cancelled = await teams.again(id, "Begin.");
  (await stage.model.request(2)).begin("Once");
  await teams.shown(cancelled);
  await teams.steer(cancelled, "Shorter.");
  const added = await stage.worker.fetch(`/v1/teams/${id}/tasks`, jsonInit({ title: "Old task" }));
  expect(added.status, await added.clone().text()).toBe(201);
  await teams.stop(cancelled);
  await teams.finished(cancelled);
  // Without another conversation, both are there.
  expect(JSON.stringify(await team.saveState())).toMatch(
    /Shorter\.[^]*Old task|Old task[^]*Shorter\./,
  );

  await replace(team);
  const onBoard = async (): Promise<string[]> => {
    const board = await stage.worker.fetch(`/v1/teams/${id}/tasks`);
    return ((await board.json()) as TasksOfTeam).tasks.map(({ title }) => title);
  };
  expect(await onBoard()).toEqual(tasks);
  expect(JSON.stringify(await team.saveState())).not.toContain("Shorter.");
  const next = await teams.again(id, "Again.");
  const request = await stage.model.request(3);
  expect(request.texts.slice(1)).toEqual([...kept, "Again."]);
  expect(request.texts[0]?.includes("Old task")).toBe(tasks.length > 0);
  request.end("Fine.");
  expect((await teams.finished(next)).status).toBe("completed");
  expect(await onBoard()).toEqual(tasks);
  expect((await teams.said(await teams.fork(id))).slice(-2)).toEqual(["Again.", "Fine."]);
});
