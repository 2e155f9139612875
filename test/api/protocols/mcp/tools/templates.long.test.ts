import { afterAll, beforeAll, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed } from "../../support/access.ts";
import { newTeam } from "../../support/teams.ts";
import { CLIENTS, connect, type TestClient, type ToolResult } from "../support/clients.ts";
import { initialize, lastOf, post, request } from "../support/messages.ts";
import { ask } from "../support/tasks.ts";

/** Bytes of the list of a tenant with 50 teams, and of one with as many tools as have names of their own. */
const MANY = 20_000;
const FEW = 65_000;

let worker: TestWorker;

beforeAll(async () => {
  const settings = await deployed({ MCP_TEMPLATES: "writer_critic, human_in_the_loop" });
  const { API_KEYS } = settings;
  const keys = JSON.parse(API_KEYS ?? "") as object[];
  for (const key of ["anna", "ben"]) {
    const scopes = SCOPES.slice(0, 5).filter((scope) => scope !== "teams:write");
    keys.push({ hash: await sha256Hex(key), tenant: "shop", scopes, name: key });
  }
  worker = await TestWorker.start({ ...settings, API_KEYS: JSON.stringify(keys) });
});

afterAll(() => worker[Symbol.asyncDispose]());

async function client(name: (typeof CLIENTS)[number], key: string): Promise<TestClient> {
  return connect(name, { url: new URL("/mcp", await worker.origin), headers: bearer(key) });
}

/** A call of a client without sessions. */
function call(name: string, given: object, key: string) {
  return ask(
    worker,
    "tools/call",
    { name, arguments: given },
    { headers: bearer(key), capabilities: {} },
  );
}

test.each(CLIENTS)("a client of %s without any team gets an answer of a template", async (name) => {
  await using connected = await client(name, "anna");
  const { tools } = await connected.client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual([
    "list_teams",
    "get_run",
    "answer_request",
    "stop_run",
    "run_human_in_the_loop",
    "run_writer_critic",
  ]);
  expect(tools.at(-1)?.description).toContain("A writer and a critic take turns");
  const first = await connected.call({ name: "run_writer_critic", arguments: { task: "Ships." } });
  expect(first).not.toHaveProperty("isError");
  const { conversation, team_id, status } = first.structuredContent!;
  expect(status).toBe("completed");
  const again = { task: "Fog.", ...(name === "2026-07-28" && { conversation }) };
  const second = await connected.call({ name: "run_writer_critic", arguments: again });
  expect(second.structuredContent).toMatchObject({ team_id, conversation, status: "completed" });
  const hint = first.content.at(-1)?.text ?? "";
  expect(hint.includes(conversation!)).toBe(name === "2026-07-28");
});

test("a conversation is a team of the caller's tenant that no list of tools has", async () => {
  const { result } = await call("run_writer_critic", { task: "Ships." }, "globex");
  const { team_id } = result!.structuredContent!;
  const team = await worker.fetch(`/v1/teams/${team_id}`, { headers: bearer("globex") });
  expect(await team.json()).toMatchObject({
    label: "writer_critic",
    metadata: { mcp: { template: "writer_critic" } },
    expires_in: 2_592_000,
    user: null,
  });
  const foreign = await worker.fetch(`/v1/teams/${team_id}`, { headers: bearer("acme") });
  expect(foreign.status).toBe(404);
  const listed = await ask(worker, "tools/list", {}, { headers: bearer("globex") });
  expect(JSON.stringify(listed)).not.toContain(team_id);
});

test("each caller has conversations of its own, whatever another calls them", async () => {
  const given = { task: "Ships.", conversation: "tuesday" };
  const [mine, again, other] = [
    await call("run_writer_critic", given, "anna"),
    await call("run_template", { template: "writer_critic", ...given }, "anna"),
    await call("run_writer_critic", given, "ben"),
  ].map(({ result }) => result!.structuredContent!);
  expect(again).toMatchObject({ team_id: mine!.team_id, conversation: "tuesday" });
  expect(other!.team_id).not.toBe(mine!.team_id);
  const place = { team_id: mine!.team_id, run_id: mine!.run_id };
  for (const [name, arguments_] of [
    ["get_run", place],
    ["stop_run", place],
    ["answer_request", { ...place, request_id: "none", content: "x" }],
    ["run_team", { team: place.team_id, task: "Show me." }],
  ] as const) {
    const { result } = await call(name, arguments_, "ben");
    expect([name, (result as unknown as ToolResult).isError]).toEqual([name, true]);
    expect(result?._meta?.["troupe/problem"]).toMatchObject({ code: "team_not_found" });
  }
  const uri = `troupe://teams/${place.team_id}/thread`;
  const sent = { headers: bearer("ben") };
  const read = async (key: string) =>
    lastOf(await post(worker, request(1, "resources/read", { uri }), { headers: bearer(key) }));
  expect((await read("ben")).error?.message).toContain("not found");
  const taskId = `${place.team_id}/${place.run_id}`;
  expect((await ask(worker, "tasks/get", { taskId }, sent)).error?.message).toContain("no task");
  expect((await read("anna")).error).toBeUndefined();
});

test("a session of another caller with the same id is another conversation", async () => {
  const session = await initialize(worker, {}, { headers: bearer("anna") });
  const teams = [];
  for (const key of ["anna", "anna", "ben"]) {
    const headers = { ...bearer(key), "mcp-session-id": session };
    const id = teams.length + 1;
    const tool = { name: "run_writer_critic", arguments: { task: "Ships." } };
    const { result } = await lastOf(
      await post(worker, request(id, "tools/call", tool), { headers }),
    );
    teams.push((result!.structuredContent as unknown as { team_id: string }).team_id);
  }
  expect(teams[1]).toBe(teams[0]);
  expect(teams[2]).not.toBe(teams[0]);
});

test("a call without a session that is made again while its run is active finds it, and its questions are answered", async () => {
  const given = { task: "Plan my day.", wait_seconds: 1 };
  const first = await call("run_human_in_the_loop", given, "anna");
  const second = await call("run_human_in_the_loop", given, "anna");
  const { team_id, run_id, requests, status, conversation } = first.result!.structuredContent!;
  expect(status).toBe("waiting");
  expect(second.result?.structuredContent).toMatchObject({ team_id, run_id, conversation });
  const answer = { team_id, run_id, request_id: requests[0]!.id, content: "APPROVE" };
  const answered = await call("answer_request", answer, "anna");
  expect(answered.result?.structuredContent).toMatchObject({ team_id, status: "completed" });
});

test("a client that shows forms answers the questions of a template", async () => {
  const url = new URL("/mcp", await worker.origin);
  const fill = () => ({ action: "accept" as const, content: { content: "APPROVE" } });
  for (const name of CLIENTS) {
    await using shown = await connect(name, { url, headers: bearer("ben"), fill });
    const tool = { name: "run_human_in_the_loop", arguments: { task: `Plan with ${name}.` } };
    const { structuredContent } = await shown.call(tool);
    expect([name, structuredContent?.status]).toEqual([name, "completed"]);
  }
});

test("a template that is not offered is not found, and mistakes name the argument", async () => {
  const absent = await call("run_librarian", { task: "Hello." }, "anna");
  expect(absent.error?.message).toContain('no tool "run_librarian"');
  const unknown = await call("run_template", { template: "librarian", task: "Hello." }, "anna");
  expect(JSON.stringify(unknown.result)).toContain(
    "template: must be one of writer_critic, human_in_the_loop",
  );
  const named = { task: "Hello.", conversation: "x".repeat(201) };
  const long = await call("run_writer_critic", named, "anna");
  expect(JSON.stringify(long.result)).toContain("conversation: ");
  const prompts = await ask(worker, "prompts/list", {}, { headers: bearer("anna") });
  expect(JSON.stringify(prompts.result)).not.toContain("librarian");
});

test("a credential without runs:write makes no conversation", async () => {
  const given = { name: "run_template", arguments: { template: "writer_critic", task: "Hello." } };
  const sent = { headers: bearer("runs:read") };
  expect((await ask(worker, "tools/call", given, sent)).status).toBe(403);
});

test("up to 20 teams and templates have a tool each; more have one for all, and the list stays small", async () => {
  const size = async (): Promise<{ names: string[]; bytes: number }> => {
    const { result } = await lastOf(
      await post(worker, request(1, "tools/list"), { headers: bearer("acme") }),
    );
    const bytes = new TextEncoder().encode(JSON.stringify(result)).length;
    return { names: result!.tools!.map(({ name }) => name), bytes };
  };
  const make = async (count: number): Promise<void> => {
    const id = `team-${String(count).padStart(2, "0")}`;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT }, bearer("acme"));
  };
  for (let count = 1; count <= 18; count++) await make(count);
  const few = await size();
  expect(few.names.slice(4)).toEqual([
    ...Array.from({ length: 18 }, (_, n) => `run_team-${String(n + 1).padStart(2, "0")}`),
    "run_human_in_the_loop",
    "run_writer_critic",
  ]);
  expect(few.bytes).toBeLessThan(FEW);
  for (let count = 19; count <= 50; count++) await make(count);
  const many = await size();
  expect(many.names.slice(4)).toEqual(["run_team", "run_template"]);
  expect(many.bytes).toBeLessThan(MANY);
  const listed = await call("list_teams", {}, "acme");
  const { teams, templates } = listed.result!.structuredContent as unknown as {
    teams: { id: string; description: string; tool: string }[];
    templates: { name: string; tool: string }[];
  };
  expect(teams).toHaveLength(50);
  expect(teams[0]).toMatchObject({ id: "team-50", tool: "run_team" });
  expect(teams[0]?.description).not.toBe("");
  expect(templates.map(({ name, tool }) => [name, tool])).toEqual([
    ["writer_critic", "run_template"],
    ["human_in_the_loop", "run_template"],
  ]);
  const run = await call("run_team", { team: "team-07", task: "Hello." }, "acme");
  expect(run.result?.structuredContent).toMatchObject({ team_id: "team-07", status: "completed" });
  // A client that has listed before there were too many.
  const earlier = await call("run_team-08", { task: "Hello." }, "acme");
  expect(earlier.result?.structuredContent).toMatchObject({ team_id: "team-08" });
  const nowhere = await call("run_team", { team: "nowhere", task: "Hello." }, "acme");
  expect(nowhere.result?._meta?.["troupe/problem"]).toMatchObject({ code: "team_not_found" });
});
