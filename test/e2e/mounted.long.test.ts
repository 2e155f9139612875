import { relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { jsonInit } from "../support/http-app.ts";
import { ROOT } from "../support/npm-start.ts";
import { file, Workplace } from "../support/pages.ts";
import { TestWorker } from "../support/worker.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({ TROUPE_OPEN: "" }, { entry: "test/e2e/worker/mounted.ts" });
});

afterAll(() => worker[Symbol.asyncDispose]());

function as(user: string, path: string, body?: object): Promise<Response> {
  return worker.fetch(path, {
    headers: { cookie: `user=${user}`, "content-type": "application/json" },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
}

test("the service answers below its path only", async () => {
  expect(await (await worker.fetch("/")).text()).toBe("home");
  expect((await worker.fetch("/agents/healthz")).status).toBe(200);
  expect((await worker.fetch("/v1/teams")).status).toBe(404);
});

test("the site's own sessions are credentials, each user a tenant", async () => {
  expect((await worker.fetch("/agents/v1/whoami")).status).toBe(401);
  const created = await as("ann", "/agents/v1/teams", { template: "greeter", id: "one" });
  expect(created.status).toBe(201);
  expect(created.headers.get("location")).toBe("/agents/v1/teams/one");
  const who = await (await as("ann", "/agents/v1/whoami")).json();
  expect(who).toMatchObject({ tenant: "ann", name: "ann", kind: "identity" });
  expect((await as("bob", "/agents/v1/teams/one")).status).toBe(404);
  // Behind a router that has removed the path.
  expect((await as("ann", "/mounted/v1/teams/one")).status).toBe(200);
});

test("keys that a user has created work beside the sessions", async () => {
  const { key } = (await (await as("kim", "/agents/v1/keys", { name: "laptop" })).json()) as {
    key: string;
  };
  const client = new TroupeClient({ baseURL: `${await worker.origin}/agents`, token: key });
  expect(await client.whoami()).toMatchObject({ tenant: "kim", kind: "created" });
  const team = await client.teams.create({ template: "greeter" });
  const { messages } = await team.run("Greet me.").result();
  expect(messages.at(-1)).toMatchObject({ content: "Good morning." });
});

test("a route of the Worker runs a team without HTTP, and the user sees it", async () => {
  const { team, said } = (await (await worker.fetch("/greet/eve")).json()) as {
    team: string;
    said: object;
  };
  expect(said).toMatchObject({ source: "greeter", content: "Good morning." });
  expect(await (await as("eve", `/agents/v1/teams/${team}`)).json()).toMatchObject({ id: team });
});

test("limits in code apply", async () => {
  for (const id of ["a", "b"]) {
    expect((await as("max", "/agents/v1/teams", { template: "greeter", id })).status).toBe(201);
  }
  const third = await as("max", "/agents/v1/teams", { template: "greeter", id: "c" });
  expect(third.status).toBe(429);
  expect(await third.json()).toMatchObject({ code: "too_many_teams", value: 2 });
});

test("the page's site accepts sessions that it has signed, and no others", async () => {
  using place = new Workplace();
  place.write("session.ts", file("my-site/session.ts"));
  const entry = relative(ROOT, place.write("worker.ts", file("my-site/worker.ts")));
  const settings = { TROUPE_OPEN: "", SESSION_SECRET: "a secret of the site" };
  await using site = await TestWorker.start(settings, { entry });
  const signIn = (password: string): Promise<Response> =>
    site.fetch("/sign-in", jsonInit({ user: "ann", password }));
  expect((await signIn("wrong")).status).toBe(401);
  const header = (await signIn("open sesame")).headers.get("set-cookie") ?? "";
  expect(header).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Lax/);
  const [cookie = ""] = header.split(";");
  const whoami = async (sent: string): Promise<Response> =>
    site.fetch("/agents/v1/whoami", { headers: { cookie: sent } });
  expect(await (await whoami(cookie)).json()).toMatchObject({
    tenant: "acme",
    user: "ann",
    scopes: ["teams:read", "runs:read", "runs:write", "requests:write"],
  });
  const forged = [
    "user=ann",
    "session=ann",
    "session=",
    cookie.replace("ann", "bob"),
    cookie.replace(/=\d/, "=9"),
    `${cookie.slice(0, -6)}AAAA%3D`,
  ];
  for (const sent of forged) expect((await whoami(sent)).status, sent).toBe(401);
});
