import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";

const KEY = "acme-secret";
const OPERATOR = "operator-secret";
const ISSUER = "https://id.example.com";
const AUDIENCE = "https://troupe.example.com";
const MISMATCH = { status: 403, code: "user_mismatch" };

const issuer = await generateKeyPair("ES256");
let worker: TestWorker;
let team: string;
let teams = 0;

beforeAll(async () => {
  const jwks = { keys: [{ ...(await exportJWK(issuer.publicKey)), alg: "ES256" }] };
  worker = await TestWorker.start(
    {
      TROUPE_OPEN: "",
      SECRETS_KEY: btoa("k".repeat(32)),
      API_KEYS: JSON.stringify([{ hash: await sha256Hex(KEY), tenant: "acme", scopes: SCOPES }]),
      OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      JWT_JWKS_URL: `${ISSUER}/jwks`,
      JWT_TENANT_CLAIM: "org",
    },
    {
      outgoing: ({ url }) =>
        url === `${ISSUER}/jwks` ? Response.json(jwks) : new Response(null, { status: 404 }),
    },
  );
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  team = `team-${++teams}`;
  await ask(KEY, "/v1/teams", { id: team, component: SAMPLE_COMPONENT });
});

/** The status of a request and the members of its answer. */
async function ask(credential: string, path: string, body?: unknown, method = "POST") {
  const headers = { authorization: `Bearer ${credential}`, "troupe-tenant": "acme" };
  const init = body === undefined ? { headers } : jsonInit(body, method, headers);
  const response = await worker.fetch(path, init);
  const members = (await response.json()) as Record<string, unknown>;
  return { ...members, http: response.status };
}

/** Starts a run, and gives its user. */
async function userOfRun(credential: string, user?: string) {
  const body = { task: "Hello.", on_conflict: "queue", ...(user !== undefined && { user }) };
  return ask(credential, `/v1/teams/${team}/runs`, body);
}

function identity(sub?: string): Promise<string> {
  const token = new SignJWT({
    ...(sub !== undefined && { sub }),
    org: "acme",
    scope: SCOPES.join(" "),
  });
  return token
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime("5 minutes")
    .sign(issuer.privateKey);
}

async function tokenFor(credential: string, user?: string) {
  const scopes = ["runs:read", "runs:write"];
  return ask(credential, `/v1/teams/${team}/tokens`, {
    scopes,
    expires_in: 60,
    ...(user !== undefined && { user }),
  }) as Promise<{ token: string; user: string | null; http: number }>;
}

describe("the user of a run", () => {
  test("is named by static, created and operator keys, or the run has no user", async () => {
    const { key } = (await ask(KEY, "/v1/keys", { name: "created" })) as unknown as { key: string };
    for (const credential of [KEY, key, OPERATOR]) {
      expect(await userOfRun(credential, "ada@example.com")).toMatchObject({
        http: 202,
        user: "ada@example.com",
      });
      expect(await userOfRun(credential)).not.toHaveProperty("user");
    }
  });

  test("is the subject of an identity token, which cannot name another one", async () => {
    const token = await identity("ada");
    expect(await userOfRun(token)).toMatchObject({ http: 202, user: "ada" });
    expect(await userOfRun(token, "ada")).toMatchObject({ http: 202, user: "ada" });
    expect(await userOfRun(token, "bob")).toMatchObject(MISMATCH);
    const nameless = await identity();
    expect(await userOfRun(nameless)).not.toHaveProperty("user");
    expect(await userOfRun(nameless, "ada")).toMatchObject(MISMATCH);
    expect(await ask(token, "/v1/whoami")).toMatchObject({ user: "ada" });
  });

  test("is the one for whom a team token was created, which cannot name another one", async () => {
    const { token, user } = await tokenFor(KEY, "ada");
    expect(user).toBe("ada");
    expect(await userOfRun(token)).toMatchObject({ http: 202, user: "ada" });
    expect(await userOfRun(token, "bob")).toMatchObject(MISMATCH);
    const forNobody = await tokenFor(KEY);
    expect(forNobody.user).toBeNull();
    expect(await userOfRun(forNobody.token)).not.toHaveProperty("user");
    expect(await userOfRun(forNobody.token, "ada")).toMatchObject(MISMATCH);
  });

  test("is that of the identity token that made the team token", async () => {
    const ada = await identity("ada");
    expect(await tokenFor(ada)).toMatchObject({ http: 201, user: "ada" });
    expect(await tokenFor(ada, "bob")).toMatchObject(MISMATCH);
  });

  test("is kept by a schedule, which runs for the user who changed it last", async () => {
    const [ada, bob] = [await identity("ada"), await identity("bob")];
    const path = `/v1/teams/${team}/schedules`;
    const schedule = { id: "daily", cron: "0 8 * * *", task: "Hello." };
    expect(await ask(ada, path, { ...schedule, user: "bob" })).toMatchObject(MISMATCH);
    expect(await ask(ada, path, schedule)).toMatchObject({ http: 201, user: "ada" });
    const change = { task: "What do you know?" };
    expect(await ask(bob, `${path}/daily`, change, "PATCH")).toMatchObject({ user: "bob" });
    expect(await ask(KEY, `${path}/daily`, change, "PATCH")).toMatchObject({ user: "bob" });
    expect(await ask(bob, `${path}/daily`, { user: "ada" }, "PATCH")).toMatchObject(MISMATCH);
    const nameless = await ask(await identity(), `${path}/daily`, change, "PATCH");
    expect(nameless).not.toHaveProperty("user");
  });

  test("hides its task from callers who cannot name the user", async () => {
    const human = {
      provider: "autogen_agentchat.agents.UserProxyAgent",
      component_type: "agent",
      config: { name: "human" },
    };
    team = `human-${team}`;
    await ask(KEY, "/v1/teams", { id: team, component: human });
    const [ada, bob, none] = [await identity("ada"), await tokenFor(KEY, "bob"), await identity()];
    await userOfRun(KEY);
    const queued = (await userOfRun(ada)) as { id?: string };
    const path = `/v1/teams/${team}/runs/${queued.id}`;
    const change = { task: "What do you know of me?" };
    for (const credential of [bob.token, none]) {
      expect(await ask(credential, path, change, "PATCH")).toMatchObject(MISMATCH);
    }
    for (const credential of [ada, KEY]) {
      expect(await ask(credential, path, change, "PATCH")).toMatchObject({
        http: 200,
        user: "ada",
      });
    }
  });

  test("is OpenAI's user, or its safety_identifier", async () => {
    const request = (fields: object) => ({
      model: `team:${team}`,
      messages: [{ role: "user", content: "Hello." }],
      ...fields,
    });
    const path = "/openai/v1/chat/completions";
    const last = async () =>
      ((await ask(KEY, `/v1/teams/${team}/runs`)) as unknown as { runs: { user?: string }[] })
        .runs[0]?.user;
    expect(await ask(KEY, path, request({ user: "ada" }))).toMatchObject({ http: 200 });
    expect(await last()).toBe("ada");
    await ask(KEY, path, request({ safety_identifier: "bob" }));
    expect(await last()).toBe("bob");
    await ask(KEY, path, request({ user: "" }));
    expect(await last()).toBeUndefined();
    const refused = await ask(await identity("ada"), path, request({ user: "bob" }));
    expect(refused).toMatchObject({ http: 403, error: { code: "user_mismatch" } });
  });

  test("must be a text of 1 to 200 characters without control characters", async () => {
    for (const user of ["", "u".repeat(201), "a\nb", "\ud800"]) {
      expect(await userOfRun(KEY, user)).toMatchObject({ http: 422, errors: [{ path: "user" }] });
    }
  });
});
