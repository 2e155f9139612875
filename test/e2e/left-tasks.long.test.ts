import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { conversationsOf, HUMAN, inTurn, runsOf } from "../api/protocols/support/teams.ts";
import { AgentServer, type Work } from "../components/a2a/support/agent-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { agent } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";

type Server = Pick<TestWorker, "fetch">;

const SECRET = "Bearer 6a1f-remote-agent-key";
const SETTINGS = { SECRETS_KEY: btoa("k".repeat(32)) };

let shared: TestWorker;

beforeAll(async () => {
  shared = await TestWorker.start(SETTINGS, { quietAbout: "" });
});

afterAll(() => shared[Symbol.asyncDispose]());

/** Asks for a city, and never books it. */
const asking: Work = async (about) => {
  about.begin();
  about.status("INPUT_REQUIRED", "Which city?");
};

/** Never ends. */
const working: Work = async (about) => {
  about.begin();
  await new Promise(() => undefined);
};

/** Asks if the text says to wait; otherwise it never ends. */
const either: Work = (about) => (about.text.includes("wait") ? asking(about) : working(about));

const remote = (url: string, headers = {}, more: object = {}): object => ({
  provider: "troupe.agents.A2AAgent",
  config: { name: "remote", url, headers, ...more },
});
const known = ({ url }: AgentServer): object => remote(url, { authorization: SECRET });

const replay = (...chat_completions: unknown[]): object => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  config: {
    chat_completions,
    model_info: {
      vision: false,
      function_calling: true,
      json_output: false,
      structured_output: false,
      family: "unknown",
    },
  },
});

async function post<T>(server: Server, path: string, body: object): Promise<T> {
  const response = await server.fetch(path, jsonInit(body));
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

async function start(server: Server, id: string, body: object = {}): Promise<string> {
  const { id: run } = await post<RunInfo>(server, `/v1/teams/${id}/runs`, { task: "go", ...body });
  return `/v1/teams/${id}/runs/${run}`;
}

const statusAt = async (server: Server, path: string): Promise<string> =>
  ((await (await server.fetch(path)).json()) as RunInfo).status;

/** The ids of the tasks that were begun. */
const tasksOf = (server: AgentServer): string[] => server.messages.map(({ taskId }) => taskId);

/** Whether a file below a directory has the text. */
function isStored(directory: string, text: string): boolean {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .some((path) => statSync(path).isFile() && readFileSync(path, "latin1").includes(text));
}

test("cancellations between a stop and kill -9 are all made, by an alarm, with the credentials of the component", async () => {
  await using server = await AgentServer.start(either, { authorization: SECRET });
  await using worker = await KillableWorker.start(SETTINGS);
  const component = inTurn(known(server));
  for (const id of ["asks", "follows", "sends"]) await post(worker, "/v1/teams", { id, component });
  const attempts: string[] = [];
  server.breaks = (method) => {
    attempts.push(method);
    return method === "CancelTask" ? "before" : undefined;
  };
  const asks = await start(worker, "asks", { task: "wait" });
  await expect.poll(() => statusAt(worker, asks)).toBe("waiting");
  const follows = await start(worker, "follows");
  await expect.poll(() => attempts).toContain("SubscribeToTask");
  // The answer to this message is lost, and with it the id of its task.
  server.silent = true;
  const sends = await start(worker, "sends");
  await expect.poll(() => server.messages.length).toBe(3);
  for (const path of [asks, follows, sends]) await post(worker, `${path}/stop`, { mode: "now" });
  await expect.poll(() => attempts.filter((one) => one === "CancelTask").length).toBe(2);
  await worker.kill();
  expect(server.cancelled).toEqual([]);
  expect(isStored(worker.state, SECRET.slice("Bearer ".length))).toBe(false);

  server.silent = false;
  server.breaks = () => undefined;
  await worker.restart();
  await expect
    .poll(() => server.cancelled.toSorted(), { timeout: 40_000 })
    .toEqual(tasksOf(server).toSorted());
  for (const path of [asks, follows, sends]) expect(await statusAt(worker, path)).toBe("cancelled");
});

test("each end of a run cancels the task that it leaves, and a retry begins another one", async () => {
  await using server = await AgentServer.start(either, { authorization: SECRET });
  const waiting = async (id: string, component = inTurn(known(server))): Promise<string> => {
    await post(shared, "/v1/teams", { id, component });
    const path = await start(shared, id, { task: "wait" });
    await expect.poll(() => statusAt(shared, path)).toBe("waiting");
    return path;
  };
  const endings: Record<string, (id: string) => Promise<unknown>> = {
    now: async (id) => post(shared, `${await waiting(id)}/stop`, { mode: "now" }),
    after_turn: async (id) => post(shared, `${await waiting(id)}/stop`, { mode: "after_turn" }),
    interrupt: async (id) => {
      await waiting(id);
      const path = await start(shared, id, { on_conflict: "interrupt" });
      await post(shared, `${path}/stop`, { mode: "now" });
    },
    replaced: async (id) => {
      // The credentials are those of the component that began the task.
      const path = await waiting(id);
      await post(shared, `${path}/stop`, { mode: "now" });
      const component = inTurn(agent("writer"));
      const init = jsonInit({ component }, "PUT");
      expect((await shared.fetch(`/v1/teams/${id}/component`, init)).status).toBe(200);
    },
    deleted: async (id) => {
      await waiting(id);
      const { status } = await shared.fetch(`/v1/teams/${id}`, { method: "DELETE" });
      expect(status).toBe(204);
      expect(server.cancelled).toEqual(tasksOf(server));
    },
    time_limit: async (id) => {
      await post(shared, "/v1/teams", { id, component: inTurn(known(server)) });
      const path = await start(shared, id, { timeout_seconds: 1 });
      await expect.poll(() => statusAt(shared, path), { timeout: 20_000 }).toBe("failed");
    },
    in_a_team_of_an_agent: async (id) => {
      const component = inTurn({
        provider: "autogen_agentchat.agents.SocietyOfMindAgent",
        config: { name: "society", team: inTurn(known(server)), model_client: replay("Done.") },
      });
      await post(shared, `${await waiting(id, component)}/stop`, { mode: "now" });
    },
    in_a_tool: async (id) => {
      const tool = {
        provider: "autogen_agentchat.tools.AgentTool",
        config: { agent: known(server) },
      };
      const call = { id: "c", name: "remote", arguments: '{"task":"wait"}' };
      const component = inTurn({
        provider: "autogen_agentchat.agents.AssistantAgent",
        config: {
          name: "clerk",
          description: "Asks the remote agent.",
          model_client: replay({
            finish_reason: "function_calls",
            content: [call],
            usage: { prompt_tokens: 1, completion_tokens: 1 },
            cached: false,
          }),
          workbench: [
            { provider: "autogen_core.tools.StaticWorkbench", config: { tools: [tool] } },
          ],
        },
      });
      await post(shared, `${await waiting(id, component)}/stop`, { mode: "now" });
    },
    retry: async (id) => {
      const path = await waiting(id);
      await post(shared, `${path}/stop`, { mode: "now" });
      const again = await post<RunInfo>(shared, `${path}/retry`, {});
      const retry = path.replace(/[^/]+$/, again.id);
      await expect.poll(() => statusAt(shared, retry)).toBe("waiting");
      expect(server.messages).toHaveLength(2);
      await post(shared, `${retry}/stop`, { mode: "now" });
    },
  };
  for (const [id, end] of Object.entries(endings)) {
    server.messages.length = 0;
    server.cancelled.length = 0;
    await end(id);
    await expect
      .poll(() => server.cancelled.toSorted(), { message: id })
      .toEqual(tasksOf(server).toSorted());
  }
});

test("a message whose answer was lost is not cancelled when its run fails, and a retry sends the same one", async () => {
  await using server = await AgentServer.start(async (about) => {
    about.begin();
    about.status("COMPLETED", "Done.");
  });
  server.silent = true;
  const component = inTurn(remote(server.url, {}, { timeout: 3 }));
  await post(shared, "/v1/teams", { id: "lost", component });
  const path = await start(shared, "lost");
  await expect.poll(() => statusAt(shared, path)).toBe("failed");
  server.silent = false;
  const again = await post<RunInfo>(shared, `${path}/retry`, {});
  await expect.poll(() => statusAt(shared, path.replace(/[^/]+$/, again.id))).toBe("completed");
  const ids = server.messages.map(({ messageId }) => messageId);
  expect([ids.length, new Set(ids).size, server.methods.includes("ListTasks")]).toEqual([
    2,
    1,
    false,
  ]);
});

test("a question of the last team of a chain is over when the first run is stopped", async () => {
  const at = async (id: string): Promise<object> =>
    inTurn(remote(`${await shared.origin}/a2a/teams/${id}`));
  await post(shared, "/v1/teams", { id: "third", component: inTurn(HUMAN) });
  await post(shared, "/v1/teams", { id: "second", component: await at("third") });
  await post(shared, "/v1/teams", { id: "first", component: await at("second") });
  const path = await start(shared, "first");
  await expect.poll(() => statusAt(shared, path)).toBe("waiting");
  await post(shared, `${path}/stop`, { mode: "now" });
  for (const team of ["second", "third"]) {
    await expect
      .poll(async () => {
        const [conversation] = await conversationsOf(shared, team);
        return (await runsOf(shared, conversation!.id)).map(({ status }) => status);
      })
      .toEqual(["cancelled"]);
  }
});
