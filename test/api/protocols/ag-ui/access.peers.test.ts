import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { speaker } from "../../../../console/test/support/components.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";
import { bearer, deployed, ORIGIN, teamToken } from "../support/access.ts";
import { HUMAN, inTurn, newTeam } from "../support/teams.ts";
import { agentOf, run, say } from "./support/agents.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start(await deployed());
  await newTeam(worker, { id: "desk", component: speaker(["Hello."]) }, bearer("acme"));
  await newTeam(worker, { id: "asks", component: inTurn(HUMAN) }, bearer("acme"));
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(() => {
  // The client says what it throws.
  vi.spyOn(console, "error").mockReturnValue();
});

afterEach(() => {
  vi.restoreAllMocks();
});

interface Refused {
  status: number;
  payload: { status: number; code: string; detail: string };
}

async function refused(team: string, key: string): Promise<Refused> {
  const agent = await agentOf(worker, team, { headers: bearer(key) });
  return say(agent, "Hello.").then(
    () => {
      throw new Error("it was not refused");
    },
    ({ status, payload }: Refused) => ({ status, payload }),
  );
}

test("the client's error has the problem's status, code and explanation", async () => {
  for (const [team, key, status, code] of [
    ["desk", "wrong", 401, "invalid_credentials"],
    ["desk", "runs:read", 403, "missing_scope"],
    ["desk", "globex", 404, "team_not_found"],
    ["nothing", "acme", 404, "team_not_found"],
  ] as const) {
    expect(await refused(team, key)).toMatchObject({
      status,
      payload: { status, code, detail: expect.any(String) },
    });
  }
});

test("a credential needs the scope runs:write", async () => {
  for (const scope of SCOPES) {
    const body = { threadId: "t", runId: "r", messages: [] };
    const response = await worker.fetch("/ag-ui/teams/desk", jsonInit(body, "POST", bearer(scope)));
    expect(response.status, scope).toBe(scope === "runs:write" ? 200 : 403);
    await response.text();
  }
});

test("a page with a team's token runs that team from its own origin", async () => {
  const token = await teamToken(worker, "desk", ["runs:write"]);
  const headers = { ...bearer(token), origin: ORIGIN };
  const agent = await agentOf(worker, "desk", { headers });
  await say(agent, "Hello.");
  expect(agent.messages.at(-1)).toMatchObject({ content: "Hello." });
  const other = await agentOf(worker, "asks", { headers });
  await expect(say(other, "Hello.")).rejects.toMatchObject({ payload: { code: "other_team" } });
});

test.each([
  ["no JSON", "{", 400, "malformed_json"],
  ["a list", "[]", 422, "invalid_request"],
  ["one without messages", '{"threadId":"t","runId":"r"}', 422, "invalid_request"],
  [
    "one with half a message",
    '{"threadId":"t","runId":"r","messages":[{"id":"1","role":"user"}]}',
    422,
    "invalid_request",
  ],
  [
    "one with a wrong option",
    '{"threadId":"t","runId":"r","messages":[],"forwardedProps":{"troupe":{"on_conflict":"never"}}}',
    422,
    "invalid_request",
  ],
  [
    "a large one",
    `{"threadId":"t","runId":"r","messages":[],"state":"${"x".repeat(1_000_000)}"}`,
    413,
    "body_too_large",
  ],
])("%s is refused", async (_, body, status, code) => {
  const headers = { "content-type": "application/json", ...bearer("acme") };
  const response = await worker.fetch("/ag-ui/teams/desk", { method: "POST", headers, body });
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toMatchObject({ status, code });
});

test("a busy team refuses another message, and an answer of a wrong form", async () => {
  const agent = await agentOf(worker, "asks", { headers: bearer("acme") });
  await say(agent, "Ask.");
  const [interrupt] = agent.pendingInterrupts;
  const other = await agentOf(worker, "asks", { headers: bearer("acme") });
  await expect(say(other, "Hello.")).rejects.toMatchObject({
    status: 409,
    payload: { code: "team_busy", run_id: expect.any(String) },
  });
  const resume = [{ interruptId: interrupt!.id, status: "resolved" as const, payload: 7 }];
  await expect(run(agent, { resume })).rejects.toMatchObject({
    status: 422,
    payload: { code: "invalid_answer" },
  });
});
