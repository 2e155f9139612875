import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { TasksOfTeam } from "#contract/team/board.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

let worker: TestWorker;
let openai: FakeOpenAI;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      {
        name: "calculate",
        match: { role: "user" },
        reply: { tool_calls: [{ name: "calculator", arguments: { expression: "6 * 7" } }] },
      },
      { name: "say", match: { role: "tool" }, reply: { content: "It is 42." } },
    ],
  });
  worker = await TestWorker.start({
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: openai.url,
    OPENAI_MODEL: "my-model",
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai.close();
});

async function start(template: string, task: string): Promise<RunInfo> {
  await worker.fetch("/v1/teams", jsonInit({ id: template, template }));
  const path = `/v1/teams/${template}/runs?wait=60`;
  return (await (await worker.fetch(path, jsonInit({ task }))).json()) as RunInfo;
}

async function texts(run: RunInfo): Promise<[string, unknown][]> {
  const response = await worker.fetch(`/v1/teams/${run.team_id}/runs/${run.id}`);
  const { result } = (await response.json()) as RunInfo;
  return (result?.messages ?? []).map((message) => [
    message.source,
    "content" in message ? message.content : null,
  ]);
}

/** Who said what, without the events in between. */
async function speakers(run: RunInfo): Promise<string[]> {
  expect(run).toMatchObject({ status: "completed", error: null });
  const said = await texts(run);
  return said.filter(([, content]) => typeof content === "string").map(([source]) => source);
}

describe.concurrent("the template", () => {
  test("review_loop sends the draft back until it is approved, twice in a row", async () => {
    for (const task of ["Announce version 2.", "Once more."]) {
      expect(await speakers(await start("review_loop", task))).toEqual([
        "user",
        "writer",
        "reviewer",
        "writer",
        "reviewer",
        "writer",
        "reviewer",
        "grammar",
        "facts",
        "editor",
      ]);
    }
  });

  test("taskforce plans tasks on its board, which three workers claim and finish, twice in a row", async () => {
    for (const count of [3, 6]) {
      const run = await start("taskforce", "An evening for 40 guests.");
      const [planner, ...workers] = (await speakers(run)).slice(1);
      expect([planner, workers.toSorted()]).toEqual([
        "planner",
        ["caterer", "herald", "venue_scout"],
      ]);
      const board = await worker.fetch("/v1/teams/taskforce/tasks");
      const { tasks } = (await board.json()) as TasksOfTeam;
      expect(tasks.map(({ state }) => state)).toEqual(Array(count).fill("done"));
      expect(tasks.slice(-3).map(({ owner }) => owner)).toEqual([
        "venue_scout",
        "caterer",
        "herald",
      ]);
    }
  });

  test("support_swarm hands the customer over and back", async () => {
    const run = await start("support_swarm", "My lamp is broken.");
    expect(await speakers(run)).toEqual([
      "user",
      "desk",
      "desk",
      "orders",
      "orders",
      "orders",
      "refunds",
      "refunds",
      "refunds",
      "desk",
    ]);
    expect((await texts(run)).at(-1)?.[1]).toContain("49.90 euros");
  });

  test("magentic_research makes another plan when it is stuck", async () => {
    const run = await start("magentic_research", "Train or plane?");
    const orchestrator = "MagenticOneOrchestrator";
    expect(await speakers(run)).toEqual([
      "user",
      orchestrator,
      orchestrator,
      "researcher",
      orchestrator,
      "analyst",
      orchestrator,
      orchestrator,
      "analyst",
      orchestrator,
    ]);
    expect((await texts(run)).at(-1)?.[1]).toContain("Take the night train");
  });

  test("editorial_team ends with the editor's text", async () => {
    expect(await speakers(await start("editorial_team", "Write."))).toEqual([
      "user",
      "writer",
      "critic",
      "writer",
      "critic",
      "editor",
    ]);
  });

  test("approval_desk waits for an approval, and reports the decision", async () => {
    const waiting = await start("approval_desk", "Refund A7.");
    const [request] = waiting.requests;
    expect(request).toMatchObject({
      source: "clerk",
      tool_call: { name: "refund_order", parameters: { type: "object" } },
    });
    const path = `/v1/teams/approval_desk/runs/${waiting.id}`;
    const args = { order: "A7", amount: 49.9, currency: "EUR", reason: "It arrived broken." };
    const answer = jsonInit({ approved: true, arguments: args });
    expect((await worker.fetch(`${path}/requests/${request?.id}`, answer)).status).toBe(200);
    expect(await (await worker.fetch(`${path}/events`)).text()).toContain('"type":"TaskResult"');
    expect(JSON.stringify(await texts(waiting))).toContain("49.90 EUR for order A7");
  });

  test("writer_critic runs without a model", async () => {
    const run = await start("writer_critic", "Write about a lighthouse.");
    expect(run).toMatchObject({ status: "completed", error: null });
    expect((await texts(run)).map(([source]) => source)).toEqual([
      "user",
      "writer",
      "critic",
      "writer",
      "critic",
      "writer",
      "critic",
    ]);
  });

  test("human_in_the_loop waits for the human until it is approved", async () => {
    const waiting = await start("human_in_the_loop", "A day in Lisbon.");
    expect(waiting).toMatchObject({ status: "waiting", requests: [{ source: "human" }] });
    const path = `/v1/teams/human_in_the_loop/runs/${waiting.id}`;
    const answer = jsonInit({ content: "Yes. APPROVE" });
    const answered = await worker.fetch(`${path}/requests/${waiting.requests[0]?.id}`, answer);
    expect(answered.status).toBe(200);
    // The stream ends with the run.
    expect(await (await worker.fetch(`${path}/events`)).text()).toContain('"type":"TaskResult"');
    expect(await texts(waiting)).toEqual(expect.arrayContaining([["human", "Yes. APPROVE"]]));
  });

  test("tools_assistant calls its tool, at the server that was configured", async () => {
    const run = await start("tools_assistant", "What is six times seven?");
    expect(run).toMatchObject({ status: "completed", error: null });
    const said = await texts(run);
    expect(said.at(-1)).toEqual(["assistant", "It is 42."]);
    expect(said).toContainEqual(["assistant", [expect.objectContaining({ content: "42" })]]);
    expect(openai.requests.at(-1)).toMatchObject({
      body: { model: "my-model" },
      headers: { authorization: "Bearer sk-test" },
    });
  });
});

test("every template describes itself and has a task to try it with", async () => {
  const { templates } = (await (await worker.fetch("/v1/templates")).json()) as {
    templates: { name: string; description: string; task?: string }[];
  };
  expect(templates.map(({ name }) => name)).toEqual([
    "code_runner",
    "writer_critic",
    "review_loop",
    "support_swarm",
    "magentic_research",
    "editorial_team",
    "taskforce",
    "approval_desk",
    "human_in_the_loop",
    "coding_pair",
    "librarian",
    "tools_assistant",
  ]);
  for (const { description, task } of templates) {
    expect(description.length).toBeGreaterThan(40);
    expect(task).toMatch(/\S/);
  }
});

test("the librarian answers from its documents, cites them, and reports that it compares words only", async () => {
  const made = await worker.fetch(
    "/v1/teams",
    jsonInit({ id: "librarian", template: "librarian" }),
  );
  expect(made.status).toBe(201);
  const task = "When is the library open on Sundays, and what does a lost card cost?";
  const run = await worker.fetch("/v1/teams/librarian/runs?wait=60", jsonInit({ task }));
  const { status, result } = (await run.json()) as {
    status: string;
    result: { messages: { content: string; metadata: { citations?: string } }[] };
  };
  expect(status).toBe("completed");
  const answer = result.messages.at(-1);
  expect(answer?.content).toContain("by their words only");
  const citations = JSON.parse(answer?.metadata.citations ?? "[]") as { heading: string }[];
  expect(citations).toMatchObject([
    { collection: "harbour-library", document: expect.any(String), chunk: expect.any(Number) },
    { collection: "harbour-library" },
  ]);
  expect(citations.map(({ heading }) => heading).toSorted()).toEqual([
    "Library cards > A lost card",
    "Opening hours > Sundays and holidays",
  ]);
});

test("a program may use the names of templates and of their tools, and its own win", async () => {
  await using own = await TestWorker.start({}, { entry: "test/e2e/worker/names-of-templates.ts" });
  const listed = await own.fetch("/v1/templates");
  expect(listed.status).toBe(200);
  const { templates } = (await listed.json()) as { templates: { name: string }[] };
  expect(templates.filter(({ name }) => name === "writer_critic")).toEqual([
    expect.objectContaining({ description: "The program's own team." }),
  ]);
  const created = await own.fetch("/v1/teams", jsonInit({ template: "tools_assistant" }));
  expect(created.status).toBe(201);
});
