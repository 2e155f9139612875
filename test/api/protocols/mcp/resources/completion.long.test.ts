import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonInit } from "../../../../support/http-app.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { HUMAN, inTurn, newTeam } from "../../support/teams.ts";
import { CLIENTS, connect } from "../support/clients.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start(
    { SANDBOX_URL: "https://sandbox.example.com" },
    {
      outgoing: () =>
        Response.json({
          files: ["in/a.csv", "out/b.csv", "out/c.csv"].map((path) => ({
            path,
            size: 1,
            modified_at: "2026-01-02T03:04:05.000Z",
          })),
          next_cursor: null,
        }),
    },
  );
  const component = inTurn(HUMAN);
  await newTeam(worker, { id: "desk", label: "Good news", component });
  await newTeam(worker, { id: "news", label: "Weather", component });
  await newTeam(worker, { id: "other", label: "Something else", component });
  const file = { data: btoa("a,b"), name: "rents.csv", media_type: "text/csv" };
  const task = ["One.", "Two."].map((text) => ({
    type: "MultiModalMessage",
    source: "user",
    content: [text, file],
  }));
  const said = await worker.fetch("/v1/teams/desk/runs?wait=30", jsonInit({ task }));
  if (!said.ok) throw new Error(await said.text());
});

afterAll(() => worker[Symbol.asyncDispose]());

const PART = "troupe://teams/{team}/messages/{seq}/parts/{part}";
const FILE = "troupe://teams/{team}/files/{+path}";
const THREAD = "troupe://teams/{team}/thread{?before}";

test.each(CLIENTS)("a client of %s completes arguments of templates and prompts", async (name) => {
  await using client = await connect(name, { url: new URL("/mcp", await worker.origin) });
  const complete = async (uri: string, argument: string, value: string, given = {}) => {
    const ref = { type: "ref/resource" as const, uri };
    const { completion } = await client.client.complete({
      ref,
      argument: { name: argument, value },
      context: { arguments: given },
    });
    return completion.values;
  };
  // Teams whose label or id begins with the text come before those that have it elsewhere.
  expect(await complete(THREAD, "team", "news")).toEqual(["news", "desk"]);
  expect((await complete(THREAD, "team", "")).toSorted()).toEqual(["desk", "news", "other"]);
  expect(await complete(THREAD, "team", "nobody")).toEqual([]);
  const desk = { team: "desk" };
  const [newest, before, ...none] = await complete(PART, "seq", "", desk);
  expect(none).toEqual([]);
  expect(Number(newest)).toBeGreaterThan(Number(before));
  expect(await complete(PART, "part", "", { ...desk, seq: newest! })).toEqual(["0", "1"]);
  expect(await complete(PART, "part", "1", { ...desk, seq: newest! })).toEqual(["1"]);
  expect(await complete(PART, "part", "", desk)).toEqual([]);
  expect(await complete(THREAD, "before", "", desk)).toContain(newest);
  expect(await complete(THREAD, "before", "", { team: "nobody" })).toEqual([]);
  expect(await complete(FILE, "path", "out/", desk)).toEqual(["out/b.csv", "out/c.csv"]);

  await expect(complete("troupe://nothing/{x}", "x", "")).rejects.toThrow("ref.uri must be one of");
  await expect(complete(THREAD, "other", "")).rejects.toThrow("argument.name must be one of team");

  const { prompts } = await client.client.listPrompts();
  const ofPrompt = async (prompt: string, argument: string, value: string) => {
    const ref = { type: "ref/prompt" as const, name: prompt };
    return (await client.client.complete({ ref, argument: { name: argument, value } })).completion;
  };
  const template = prompts[0]!.name;
  const [task = ""] = (await ofPrompt(template, "task", "")).values;
  expect(task).not.toBe("");
  expect((await ofPrompt(template, "task", task.slice(0, 5))).values).toEqual([task]);
  expect((await ofPrompt(template, "task", `${task}?`)).values).toEqual([]);
  await expect(ofPrompt("nothing", "task", "")).rejects.toThrow("ref.name must be");
  await expect(ofPrompt(template, "other", "")).rejects.toThrow("argument.name must be");
});

test("the address of one team has its own id in the templates, and no prompts", async () => {
  const url = new URL("/mcp/teams/desk", await worker.origin);
  await using client = await connect("2026-07-28", { url });
  const uri = "troupe://teams/desk/files/{+path}";
  const ref = { type: "ref/resource" as const, uri };
  const { completion } = await client.client.complete({
    ref,
    argument: { name: "path", value: "in" },
  });
  expect(completion).toMatchObject({ values: ["in/a.csv"], hasMore: false });
  const prompt = client.client.complete({
    ref: { type: "ref/prompt", name: "research" },
    argument: { name: "task", value: "" },
  });
  await expect(prompt).rejects.toThrow("ref.name must be");
});
