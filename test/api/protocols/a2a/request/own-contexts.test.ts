import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed, teamToken } from "../../support/access.ts";
import { conversationsOf, HUMAN, inTurn, newTeam, runsOf, writer } from "../../support/teams.ts";
import { clientOf, collect, message, send, sending } from "../support/client.ts";
import { post, request, sent } from "../support/rpc.ts";

// Clients that make up the contextId of their conversations.

const OWN = bearer("acme");
const CONTEXT = "ticket 4711/ä \ud800";

let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  worker = await TestWorker.start(await deployed());
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  id = `desk${++count}`;
  await newTeam(worker, { id, component: inTurn(HUMAN, replay()) }, OWN);
});

/** An agent that answers without a model's server. */
function replay(): object {
  return writer({
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: { chat_completions: ["One.", "Two.", "Three."] },
    },
  });
}

interface ShownTask {
  id: string;
  contextId: string;
  status: { message?: { contextId: string } };
  history?: { contextId: string }[];
}

async function call<T = { task: ShownTask }>(
  method: string,
  params: object,
  headers = OWN,
  agentId = id,
): Promise<T> {
  const { body } = await post(worker, agentId, request(method, params), headers);
  if (body.error !== undefined) throw new Error(body.error.message);
  return body.result as T;
}

test("a contextId of the client's own begins a conversation, and stays the contextId of every answer", async () => {
  const { task } = await call("SendMessage", sent("Ask.", { contextId: CONTEXT }));
  const [conversation] = await conversationsOf(worker, id, OWN);
  expect(task.id).toMatch(new RegExp(`^${conversation!.id}\\.`));
  expect(conversation!.id).toMatch(/^a2a-/);
  expect([task.contextId, task.status.message!.contextId]).toEqual([CONTEXT, CONTEXT]);
  for (const one of [
    await call<ShownTask>("GetTask", { id: task.id }),
    (await call("SendMessage", sent("Lisbon", { taskId: task.id, contextId: CONTEXT }))).task,
  ]) {
    expect(one).toMatchObject({ id: task.id, contextId: CONTEXT });
    expect(one.history!.map((said) => said.contextId)).toContain(CONTEXT);
    expect(JSON.stringify(one)).not.toContain(`"contextId":"${conversation!.id}"`);
  }
  // The next message continues it, with either id.
  for (const contextId of [CONTEXT, conversation!.id]) {
    const next = await call("SendMessage", sent("Ask.", { contextId }));
    expect(next.task).toMatchObject({ contextId: CONTEXT });
    const cancelled = await call<ShownTask>("CancelTask", { id: next.task.id });
    expect(cancelled.contextId).toBe(CONTEXT);
    const list = await call<{ tasks: ShownTask[] }>("ListTasks", { contextId });
    expect(list.tasks.at(-1)).toMatchObject({ id: task.id, contextId: CONTEXT });
  }
  expect(await runsOf(worker, conversation!.id, OWN)).toHaveLength(3);
  const all = await call<{ tasks: ShownTask[] }>("ListTasks", {});
  expect(all.tasks.map(({ contextId }) => contextId)).toEqual([CONTEXT, CONTEXT, CONTEXT]);
  expect(await conversationsOf(worker, id, OWN)).toHaveLength(1);
});

test("streams have the client's contextId in all events, also of an answer and of a subscription", async () => {
  const client = await clientOf(worker, id, OWN);
  const first = await collect(
    client.sendMessageStream(sending(message("Ask.", { contextId: "t" }))),
  );
  const task = first[0]!.value as { id: string };
  const [subscribed] = await Promise.all([
    collect(client.resubscribeTask({ tenant: "", id: task.id })),
    collect(client.sendMessageStream(sending(message("Lisbon", { taskId: task.id })))).then(
      (events) => first.push(...events),
    ),
  ]);
  for (const { $case, value } of [...first, ...subscribed]) {
    expect(value, $case).toMatchObject({ contextId: "t" });
  }
  expect(first.map(({ $case }) => $case)).toContain("artifactUpdate");
});

test("messages that arrive at once begin one conversation", async () => {
  const tasks = await Promise.all(
    ["One.", "Two.", "Three."].map(
      async (text) =>
        (
          await call("SendMessage", {
            ...sent(text, { contextId: "shared" }),
            configuration: { returnImmediately: true },
          })
        ).task,
    ),
  );
  expect(new Set(tasks.map((task) => task.id.split(".")[0])).size).toBe(1);
  expect(new Set(tasks.map((task) => task.id)).size).toBe(3);
  expect(await conversationsOf(worker, id, OWN)).toHaveLength(1);
});

test("the same contextId of another caller or to another agent is another conversation", async () => {
  const { task } = await call("SendMessage", sent("Ask.", { contextId: CONTEXT }));
  const token = bearer(await teamToken(worker, id, ["runs:read", "runs:write"]));
  await newTeam(worker, { id: `${id}-other`, component: inTurn(HUMAN) }, OWN);
  const [team] = task.id.split(".");
  for (const [headers, to] of [
    [token, id],
    [OWN, `${id}-other`],
  ] as const) {
    const listed = await call<{ tasks: object[] }>(
      "ListTasks",
      { contextId: CONTEXT },
      headers,
      to,
    );
    expect(listed.tasks).toEqual([]);
    // Neither does the id of the team lead to it.
    for (const contextId of [CONTEXT, team!]) {
      const other = await call("SendMessage", sent("Ask.", { contextId }), headers, to);
      expect(other.task.contextId).toBe(contextId);
      expect(other.task.id.split(".")[0]).not.toBe(team);
    }
    await expect(call("GetTask", { id: task.id }, headers, to)).rejects.toThrow("no task");
  }
  expect(await runsOf(worker, team!, OWN)).toHaveLength(1);
});

test("the agent's own team id keeps its meaning", async () => {
  const client = await clientOf(worker, id, OWN);
  const task = await send(client, message("Ask.", { contextId: id }));
  expect(task).toMatchObject({ contextId: id });
  expect((await runsOf(worker, id, OWN)).map((run) => run.id)).toEqual([task.id]);
});

test("a deleted conversation is not found, and its contextId begins another one", async () => {
  const { task } = await call("SendMessage", sent("Ask.", { contextId: "t" }));
  const [team] = task.id.split(".");
  await worker.fetch(`/v1/teams/${team}`, { method: "DELETE", headers: OWN });
  expect(await call("ListTasks", { contextId: "t" })).toMatchObject({ tasks: [] });
  await expect(call("GetTask", { id: task.id })).rejects.toThrow("no task");
  const next = await call("SendMessage", sent("Ask.", { contextId: "t" }));
  expect(next.task).toMatchObject({ contextId: "t" });
  expect(await runsOf(worker, team!, OWN)).toHaveLength(1);
});

test("a contextId has at most 256 characters", async () => {
  const longest = "x".repeat(256);
  const { task } = await call("SendMessage", sent("Ask.", { contextId: longest }));
  expect(task.contextId).toBe(longest);
  const { body } = await post(
    worker,
    id,
    request("SendMessage", sent("Ask.", { contextId: `${longest}x` })),
    OWN,
  );
  expect(body.error).toMatchObject({
    code: -32_602,
    message: expect.stringMatching(/message\.contextId.*256/),
  });
});
