import { expect, test } from "vitest";
import { toText } from "troupe";
import type { Message } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { AgentServer, textOf, type Work } from "../components/a2a/support/agent-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { agent } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";
import { conversationsOf, HUMAN, inTurn, runsOf } from "../api/protocols/support/teams.ts";
import { readUntil } from "../support/read-until.ts";

type Server = Pick<TestWorker, "fetch">;

/** Asks for a city and books it. */
const booking: Work = async (about) => {
  about.begin();
  if (about.earlier === undefined) return about.status("INPUT_REQUIRED", "Which city?");
  about.artifact(`${about.text} it is.`);
  about.status("COMPLETED");
};

const remote = (url: string) => ({
  provider: "troupe.agents.A2AAgent",
  component_type: "agent",
  config: { name: "remote", description: "An agent of another system.", url },
});

async function post<T>(worker: Server, path: string, body: object): Promise<T> {
  const response = await worker.fetch(path, jsonInit(body));
  expect(response.ok, await response.clone().text()).toBe(true);
  return (await response.json()) as T;
}

async function start(worker: Server, id: string, component: object): Promise<string> {
  await post(worker, "/v1/teams", { id, component });
  const { id: run } = await post<RunInfo>(worker, `/v1/teams/${id}/runs`, { task: "go" });
  return `/v1/teams/${id}/runs/${run}`;
}

/** The run once it has one of these statuses. */
async function until(worker: Server, path: string, statuses: string[]): Promise<RunInfo> {
  let run: RunInfo | undefined;
  await expect
    .poll(async () => {
      run = (await (await worker.fetch(path)).json()) as RunInfo;
      return run.status;
    })
    .toSatisfy((status: string) => [...statuses, "failed"].includes(status));
  expect(statuses, JSON.stringify(run?.error)).toContain(run!.status);
  return run!;
}

function texts(run: RunInfo): string[] {
  return (run.result?.messages ?? []).map(
    (message: Message) => `${message.source}: ${toText(message)}`,
  );
}

test("a team calls a team, whose question goes to the human of the first", async () => {
  await using worker = await TestWorker.start();
  await post(worker, "/v1/teams", { id: "inner", component: inTurn(HUMAN, agent("writer")) });
  const url = `${await worker.origin}/a2a/teams/inner`;
  const outer = inTurn(remote(url), agent("critic"));
  const path = await start(worker, "outer", outer);
  const { requests } = await until(worker, path, ["waiting"]);
  expect(requests).toMatchObject([{ kind: "input", source: "remote", prompt: "Which city?" }]);
  await post(worker, `${path}/requests/${requests[0]!.id}`, { content: "Lisbon" });
  const run = await until(worker, path, ["completed"]);
  expect(texts(run)).toEqual(["user: go", "remote: one", "critic: one"]);
  const [inner, ...more] = await conversationsOf(worker, "inner");
  expect(more).toEqual([]);
  const [asked, ...others] = await runsOf(worker, inner!.id);
  expect(others).toEqual([]);
  expect(run.result!.messages[1]!.metadata).toEqual({
    a2a_context_id: inner!.id,
    a2a_task_id: `${inner!.id}.${asked!.id}`,
  });
});

test("a run that is cancelled cancels the task of the remote team", async () => {
  await using worker = await TestWorker.start();
  const slow = agent("slow") as { config: { model_client: { config: object } } };
  Object.assign(slow.config.model_client.config, { chunk_delay_ms: 10_000 });
  Object.assign(slow.config, { model_client_stream: true });
  await post(worker, "/v1/teams", { id: "inner", component: inTurn(slow) });
  const path = await start(
    worker,
    "outer",
    inTurn(remote(`${await worker.origin}/a2a/teams/inner`)),
  );
  const inner = async () => {
    const [conversation] = await conversationsOf(worker, "inner");
    return conversation && (await runsOf(worker, conversation.id))[0]?.status;
  };
  await expect.poll(inner).toBe("running");
  const events = (await worker.fetch(`${path}/events`)).body!.getReader();
  await readUntil(events, /"step":"[^"]*follow"/);
  await events.cancel();
  await post(worker, `${path}/stop`, { mode: "now" });
  await expect.poll(inner).toBe("cancelled");
});

test("a retry of a run whose remote task has failed sends a new message", async () => {
  let failures = 1;
  await using server = await AgentServer.start(async (about) => {
    about.begin();
    if (failures-- > 0) return about.status("FAILED", "Out of paper.");
    about.artifact("Here it is.");
    about.status("COMPLETED");
  });
  await using worker = await TestWorker.start({}, { quietAbout: "" });
  const path = await start(worker, "retried", inTurn(remote(server.url)));
  await expect
    .poll(async () => ((await (await worker.fetch(path)).json()) as RunInfo).error)
    .toMatchObject({ type: "a2a_failed", agent: "remote", message: /Out of paper/ as never });
  const again = await post<RunInfo>(worker, `${path}/retry`, {});
  const run = await until(worker, path.replace(/[^/]+$/, again.id), ["completed"]);
  expect(texts(run).at(-1)).toBe("remote: Here it is.");
  expect(new Set(server.messages.map(({ messageId }) => messageId)).size).toBe(2);
});

test("a run follows its remote task after kill -9 of the Worker in mid-task, and sends nothing twice", async () => {
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  await using server = await AgentServer.start(async (about) => {
    about.begin();
    about.artifact("Half, ");
    await finished;
    about.artifact("and the rest.", { append: true });
    about.status("COMPLETED");
  });
  const followers = () => server.methods.filter((one) => one === "SubscribeToTask").length;
  await using worker = await KillableWorker.start();
  const path = await start(worker, "killed", inTurn(remote(server.url), agent("critic")));
  await expect.poll(followers).toBe(1);
  await worker.kill();
  await expect(worker.fetch("/healthz")).rejects.toThrow();
  await worker.restart();
  // No request loads the run: its alarm does.
  await expect.poll(followers).toBe(2);
  finish();
  const run = await until(worker, path, ["completed"]);
  expect(texts(run)).toEqual(["user: go", "remote: Half, and the rest.", "critic: one"]);
  expect(run.result!.messages[1]!.metadata).toMatchObject({
    a2a_task_id: server.messages[0]!.taskId,
  });
  expect(server.methods.filter((one) => one === "SendMessage")).toHaveLength(1);
  expect(server.cancelled).toEqual([]);
});

test("an answer goes to the same task after kill -9 while the remote agent asks", async () => {
  await using server = await AgentServer.start(booking);
  await using worker = await KillableWorker.start();
  const path = await start(worker, "asking", inTurn(remote(server.url)));
  const { requests } = await until(worker, path, ["waiting"]);
  await worker.kill();
  await worker.restart();
  await post(worker, `${path}/requests/${requests[0]!.id}`, { content: "Lisbon" });
  const run = await until(worker, path, ["completed"]);
  expect(texts(run).at(-1)).toBe("remote: Lisbon it is.");
  const [first, second, ...more] = server.messages;
  expect(more).toEqual([]);
  expect(second).toMatchObject({ taskId: first!.taskId, contextId: first!.contextId });
});

test("an answer that has arrived is not given twice after kill -9 on its way back: the task reports it", async () => {
  await using server = await AgentServer.start(booking);
  await using worker = await KillableWorker.start();
  const path = await start(worker, "answering", inTurn(remote(server.url)));
  const { requests } = await until(worker, path, ["waiting"]);
  // It is taken, and the response never comes.
  server.silent = true;
  await post(worker, `${path}/requests/${requests[0]!.id}`, { content: "Lisbon" });
  await expect.poll(() => server.messages.length).toBe(2);
  await worker.kill();
  server.silent = false;
  await worker.restart();
  const run = await until(worker, path, ["completed"]);
  expect(texts(run).at(-1)).toBe("remote: Lisbon it is.");
  expect(server.messages.map(textOf)).toEqual(["go", "Lisbon"]);
  expect(server.methods.filter((method) => method === "SendMessage")).toHaveLength(2);
});

test("a retry of a run whose answer was refused gives it again, as a new message", async () => {
  await using server = await AgentServer.start(booking);
  await using worker = await TestWorker.start({}, { quietAbout: "" });
  const path = await start(worker, "refused", inTurn(remote(server.url)));
  const { requests } = await until(worker, path, ["waiting"]);
  server.failing = [400];
  await post(worker, `${path}/requests/${requests[0]!.id}`, { content: "Lisbon" });
  const failed = await until(worker, path, ["failed"]);
  expect(failed.error).toMatchObject({ type: "a2a_refused", agent: "remote" });
  const again = await post<RunInfo>(worker, `${path}/retry`, {});
  const run = await until(worker, path.replace(/[^/]+$/, again.id), ["completed"]);
  expect(texts(run).at(-1)).toBe("remote: Lisbon it is.");
  expect(server.messages.map(textOf)).toEqual(["go", "Lisbon"]);
  const [refused] = server.refused as { params: { message: { messageId: string } } }[];
  expect(server.messages[1]!.messageId).not.toBe(refused!.params.message.messageId);
});
