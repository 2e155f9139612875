import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NotedTeam } from "#contract/team.ts";
import type { VersionWithComponent } from "#contract/team/version.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";

const WRITER = "writer-secret";
let worker: TestWorker;

beforeAll(async () => {
  const hash = await sha256Hex(WRITER);
  const scopes = ["teams:read", "teams:write"];
  worker = await TestWorker.start({
    TROUPE_OPEN: "0",
    API_KEYS: JSON.stringify([{ hash, tenant: "acme", name: "release robot", scopes }]),
    SECRETS_KEY: btoa("k".repeat(32)),
    ALLOWED_EGRESS: "models.example",
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

function helper(system_message: string, key: string, host = "models.example"): object {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "helper",
      system_message,
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: { model: "gpt-4o", api_key: key, base_url: `https://${host}/v1` },
      },
    },
  };
}

async function ask(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  const all = { authorization: `Bearer ${WRITER}`, ...headers };
  return worker.fetch(
    path,
    body === undefined ? { method, headers: all } : jsonInit(body, method, all),
  );
}

async function created(id: string): Promise<string> {
  await ask("POST", "/v1/teams", { id, component: helper("Write.", "sk-first") });
  const path = `/v1/teams/${id}`;
  await ask("PUT", `${path}/component`, { component: helper("Rhyme.", "sk-second") });
  return path;
}

describe("versions over HTTP", () => {
  test("are listed with the name of the key, and shown without secrets", async () => {
    const path = await created("listed");
    const list = await ask("GET", `${path}/versions?limit=1`);
    expect(await list.json()).toEqual({
      versions: [
        {
          component_version: 2,
          created_at: expect.any(String),
          by: "release robot",
          label: null,
          note: null,
          current: true,
        },
      ],
      next_cursor: "2",
    });
    const shown = (await (await ask("GET", `${path}/versions/1`)).json()) as VersionWithComponent;
    expect(shown).toMatchObject({
      component_version: 1,
      by: "release robot",
      current: false,
      component: {
        config: { system_message: "Write.", model_client: { config: { api_key: "**********" } } },
      },
    });
  });

  test("are restored as a new component, with its tag", async () => {
    const path = await created("restored");
    const stale = await ask("POST", `${path}/versions/1/restore`, {}, { "if-match": '"1"' });
    expect(stale.status).toBe(412);
    const answer = await ask("POST", `${path}/versions/1/restore`, {}, { "if-match": '"2"' });
    expect([answer.status, answer.headers.get("etag")]).toEqual([200, '"3"']);
    expect((await answer.json()) as NotedTeam).toMatchObject({
      component_version: 3,
      component: { config: { system_message: "Write." } },
      notes: [],
    });
  });

  test("take a label and a note, and say what is wrong with others", async () => {
    const path = await created("labelled");
    const label = await ask("PUT", `${path}/versions/1`, { label: " stable ", note: "Tried." });
    expect([label.status, await label.json()]).toMatchObject([200, { label: "stable" }]);
    for (const [body, error] of [
      [
        { label: " " },
        { path: "label", message: "must have 1 to 100 characters; null removes the label" },
      ],
      [{ label: "x".repeat(101) }, { path: "label" }],
      [
        { note: "x".repeat(2_001) },
        { path: "note", message: "must have at most 2,000 characters" },
      ],
      [{ name: "stable" }, { path: "name" }],
    ] as const) {
      const refused = await ask("PUT", `${path}/versions/1`, body);
      expect([refused.status, await refused.json()]).toMatchObject([422, { errors: [error] }]);
    }
    const missing = await ask("PUT", `${path}/versions/7`, { label: "stable" });
    expect([missing.status, await missing.json()]).toMatchObject([
      404,
      { code: "version_not_found" },
    ]);
  });

  test("are gone with the team", async () => {
    const path = await created("deleted");
    await ask("DELETE", path);
    expect((await ask("GET", `${path}/versions`)).status).toBe(404);
    await ask("POST", "/v1/teams", { id: "deleted", component: helper("Again.", "sk-third") });
    expect(await (await ask("GET", `${path}/versions`)).json()).toMatchObject({
      versions: [{ component_version: 1, current: true }],
      next_cursor: null,
    });
  });
});
