import { sha256Hex } from "#core/hash.ts";
import { SCOPES } from "#contract/constants.ts";
import type { RunInfo } from "#contract/run.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toText } from "#core/messages/views.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

const KEY = "key-of-the-staff";

interface Asked {
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string } }[];
}

let worker: TestWorker;
/** What the model was asked. */
const asked: string[] = [];

/** A model that looks orders up and the handbook, says what it was given, and learns one fact of each customer. */
function answerOf({ messages, tools = [] }: Asked): object {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  const names = tools.map(({ function: { name } }) => name);
  if (names.length === 0) return { content: '{"facts": ["The customer likes green tea."]}' };
  if (results.length > 0) return { content: results.join(" ") };
  const call = (name: string, given: object) => ({
    id: name,
    type: "function",
    function: { name, arguments: JSON.stringify(given) },
  });
  const search = names.find((name) => name !== "my_orders") ?? "";
  return {
    content: null,
    tool_calls: [call("my_orders", {}), call(search, { query: "returns" })],
  };
}

beforeAll(async () => {
  worker = await TestWorker.start(
    {
      TROUPE_OPEN: "",
      SESSION_SECRET: "a secret of the site",
      OPENAI_API_KEY: "sk-test",
      API_KEYS: JSON.stringify([{ hash: await sha256Hex(KEY), tenant: "shop", scopes: SCOPES }]),
    },
    {
      entry: "examples/desk/worker.ts",
      outgoing: async (request) => {
        const body = await request.text();
        asked.push(body);
        const message = {
          role: "assistant",
          refusal: null,
          ...answerOf(JSON.parse(body) as Asked),
        };
        const finish_reason = "tool_calls" in message ? "tool_calls" : "stop";
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
        const choices = [{ index: 0, finish_reason, logprobs: null, message }];
        const about = { id: "c", object: "chat.completion", created: 1, model: "gpt-5-mini" };
        return Response.json({ ...about, choices, usage });
      },
    },
  );
});

afterAll(() => worker[Symbol.asyncDispose]());

async function sessionOf(user: string): Promise<string> {
  const response = await worker.fetch("/sign-in", jsonInit({ user }));
  expect(response.status).toBe(204);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

test("each customer has own conversations, orders and memories, and all share the handbook", async () => {
  const staff = { authorization: `Bearer ${KEY}` };
  const document = { mime_type: "text/markdown", content: "# Returns\n\nReturns take 14 days." };
  const path = "/agents/v1/collections/handbook/documents/returns";
  expect((await worker.fetch(path, jsonInit(document, "PUT", staff))).status).toBe(202);

  const [ann, bob] = [await sessionOf("ann"), await sessionOf("bob")];
  const begin = async (cookie: string): Promise<string> => {
    const response = await worker.fetch("/conversations", jsonInit({}, "POST", { cookie }));
    expect(response.status).toBe(201);
    return ((await response.json()) as { id: string }).id;
  };
  const ask = async (cookie: string, team: string, task: string): Promise<string> => {
    const response = await worker.fetch(
      `/agents/v1/teams/${team}/runs?wait=60`,
      jsonInit({ task }, "POST", { cookie }),
    );
    const { error, result } = (await response.json()) as RunInfo;
    expect(error).toBeNull();
    const last = result?.messages.at(-1);
    return last === undefined ? "" : toText(last);
  };
  const read = async <T>(cookie: string, where: string): Promise<T> =>
    (await (await worker.fetch(where, { headers: { cookie } })).json()) as T;

  const [hers, his] = [await begin(ann), await begin(bob)];
  const said = [await ask(ann, hers, "Orders?"), await ask(bob, his, "Orders?")];
  expect(said).toEqual([
    expect.stringMatching(/teapot[^]*Returns take 14 days/),
    expect.stringMatching(/kettle[^]*Returns take 14 days/),
  ]);
  expect(said[0]).not.toContain("kettle");

  // What was learned of her in one conversation is recalled in the next, and not with him.
  const recalls = async (cookie: string): Promise<boolean> => {
    const before = asked.length;
    await ask(cookie, await begin(cookie), "Which tea does the customer like?");
    return asked[before]?.includes("likes green tea") === true;
  };
  const memories = "/agents/v1/memories?scope=user";
  await expect
    .poll(async () => (await read<{ memories: object[] }>(ann, memories)).memories.length)
    .toBe(1);
  expect(await recalls(ann)).toBe(true);
  const cyd = await sessionOf("cyd");
  expect(await recalls(cyd)).toBe(false);

  const { teams } = await read<{ teams: { id: string; user: string }[] }>(ann, "/agents/v1/teams");
  expect(teams).toHaveLength(2);
  expect(teams.every(({ user }) => user === "ann")).toBe(true);
  for (const where of [`/agents/v1/teams/${hers}/messages`, `/agents/v1/teams/${hers}`]) {
    expect((await worker.fetch(where, { headers: { cookie: bob } })).status).toBe(404);
  }
  expect((await worker.fetch("/conversations", { method: "POST" })).status).toBe(401);
  const forged = { cookie: ann.replace("ann", "bob") };
  expect((await worker.fetch("/conversations", jsonInit({}, "POST", forged))).status).toBe(401);
});
