import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problemSchema } from "#contract/problem.ts";
import { jsonInit } from "../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";

interface TeamState {
  type: string;
  version: string;
  agent_states: Record<string, unknown>;
  [key: string]: unknown;
}

const PATH = "/v1/teams/team/state";
let worker: TestWorker;
let good: TeamState;

beforeAll(async () => {
  worker = await TestWorker.start();
  await worker.fetch("/v1/teams", jsonInit({ id: "team", component: SAMPLE_COMPONENT }));
  await worker.fetch("/v1/teams/team/runs?wait=60", jsonInit({ task: "Write." }));
  good = (await (await worker.fetch(PATH)).json()) as TeamState;
});

afterAll(() => worker[Symbol.asyncDispose]());

const MANAGER = "RoundRobinGroupChatManager";
const bad: Record<string, (state: TeamState) => unknown> = {
  "an empty object": () => ({}),
  "no agents": ({ type, version }) => ({ type, version }),
  "agents as a list": (state) => ({ ...state, agent_states: [] }),
  "agents as null": (state) => ({ ...state, agent_states: null }),
  "a missing agent": (state) => ({ ...state, agent_states: without(state, "writer") }),
  "a missing manager": (state) => ({ ...state, agent_states: without(state, MANAGER) }),
  "an agent that is a number": (state) => withAgent(state, "writer", 7),
  "a manager whose thread is not a list": (state) =>
    withAgent(state, MANAGER, { ...(state.agent_states[MANAGER] as object), message_thread: 7 }),
  "a manager whose thread holds what is not a message": (state) =>
    withAgent(state, MANAGER, {
      ...(state.agent_states[MANAGER] as object),
      message_thread: [{ type: "TextMessage" }],
    }),
  "a manager that counts half turns": (state) =>
    withAgent(state, MANAGER, { ...(state.agent_states[MANAGER] as object), current_turn: 0.5 }),
};

function without(state: TeamState, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state.agent_states).filter(([key]) => key !== name));
}

function withAgent(state: TeamState, name: string, value: unknown): TeamState {
  return { ...state, agent_states: { ...state.agent_states, [name]: value } };
}

describe("a state that does not fit is refused and changes nothing", () => {
  test.for(Object.entries(bad))("%s", async ([, make]) => {
    const response = await worker.fetch(PATH, jsonInit(make(good), "PUT"));
    const problem = problemSchema.loose().parse(await response.json());
    expect([response.status, problem.code]).toEqual([422, "invalid_state"]);
    expect(await (await worker.fetch(PATH)).json()).toEqual(good);
  });
});

test("a saved state can be loaded", async () => {
  expect((await worker.fetch(PATH, jsonInit(good, "PUT"))).status).toBe(204);
  expect(await (await worker.fetch(PATH)).json()).toEqual(good);
});

test("a state with an empty context loads, and again, and the team continues", async () => {
  const anew = withAgent(good, "writer", {
    ...(good.agent_states["writer"] as object),
    agent_state: { type: "AssistantAgentState", version: "1.0.0", llm_context: { messages: [] } },
  });
  for (const state of [anew, anew, good, anew]) {
    expect((await worker.fetch(PATH, jsonInit(state, "PUT"))).status).toBe(204);
  }
  expect(await (await worker.fetch(PATH)).json()).toEqual(anew);
  const run = await worker.fetch("/v1/teams/team/runs?wait=60", jsonInit({ task: "Again." }));
  expect(await run.json()).toMatchObject({ status: "completed" });
  expect((await worker.fetch("/v1/teams/team/reset", { method: "POST" })).status).toBe(200);
  const after = await worker.fetch("/v1/teams/team/runs?wait=60", jsonInit({ task: "New." }));
  expect(await after.json()).toMatchObject({ status: "completed" });
});

test("the conversation of a loaded state is the new team's, once", async () => {
  await worker.fetch("/v1/teams", jsonInit({ id: "copy", component: SAMPLE_COMPONENT }));
  for (const _time of [1, 2]) {
    const loaded = await worker.fetch("/v1/teams/copy/state", jsonInit(good, "PUT"));
    expect(loaded.status).toBe(204);
  }
  const listed = async (team: string): Promise<unknown[]> => {
    const response = await worker.fetch(`/v1/teams/${team}/messages`);
    const { messages } = (await response.json()) as {
      messages: { source: string; content: string }[];
    };
    return messages.map(({ source, content }) => [source, content]);
  };
  const { message_thread } = good.agent_states[MANAGER] as {
    message_thread: { source: string; content: string }[];
  };
  const thread = message_thread.map(({ source, content }) => [source, content]);
  expect(await listed("copy")).toEqual(thread);
  await worker.fetch("/v1/teams/copy/runs?wait=60", jsonInit({ task: "Go on." }));
  expect((await listed("copy")).slice(0, thread.length + 1)).toEqual([
    ...thread,
    ["user", "Go on."],
  ]);
});
