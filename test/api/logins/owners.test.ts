// Whose login a run uses, and that loaded objects do not use one that has ended.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { LoginBrowser } from "../../components/mcp/support/login-browser.ts";
import { LoginServer } from "../../components/mcp/support/login-server.ts";
import type { Kind } from "../../components/mcp/support/test-server.ts";
import type { RunInfo } from "#contract/run.ts";
import { LoginStage } from "./support.ts";

const metadata = (issuer: string) => ({ revocation_endpoint: `${issuer}/revoke` });

let stage: LoginStage;
let own: LoginServer;
const warm: Partial<Record<Kind, LoginServer>> = {};
beforeAll(async () => {
  own = await LoginServer.start();
  warm.modern = await LoginServer.start({ metadata });
  warm.sessions = await LoginServer.start({ kind: "sessions", metadata });
  stage = await LoginStage.start([own, warm.modern, warm.sessions]);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  for (const server of [own, ...Object.values(warm)]) await server[Symbol.asyncDispose]();
});

/** Waits until a run has ended. */
function ended(team: string, { id }: RunInfo): Promise<RunInfo> {
  return vi.waitFor(
    async () => {
      const info = await stage.json<RunInfo>(`/v1/teams/${team}/runs/${id}`);
      expect(info.ended_at).not.toBeNull();
      return info;
    },
    { timeout: 30_000, interval: 25 },
  );
}

/** A person logs in at the page that a run shows. */
async function logIn(server: LoginServer, run: RunInfo, person: string): Promise<void> {
  server.person = person;
  const shown = await new LoginBrowser().logIn(run.requests[0]?.url ?? "");
  expect(await shown.text()).toContain("<h1>Connected to ");
}

test("a run uses the login of its user, and a run without a user that of the tenant", async () => {
  const server = own;
  await stage.newTeam("own-1", server.mcp);
  await stage.newTeam("own-2", server.mcp);
  const ofAnn = await stage.run("own-1", "ann");
  expect(ofAnn.requests).toMatchObject([{ login: { user: "ann" }, url: expect.any(String) }]);
  await logIn(server, ofAnn, "ann at work");
  expect(await ended("own-1", ofAnn)).toMatchObject({ status: "completed" });
  expect(await stage.run("own-2", "ann")).toMatchObject({ status: "completed" });
  expect(server.seen).toEqual(["ann at work"]);

  for (const user of ["bob", undefined]) {
    const asking = await stage.run("own-1", user);
    expect(asking).toMatchObject({
      status: "waiting",
      requests: [{ login: { user: user ?? null } }],
    });
    await logIn(server, asking, user ?? "the office");
    expect(await ended("own-1", asking)).toMatchObject({ status: "completed" });
  }
  expect(server.seen.slice(1)).toEqual(["bob", "the office"]);
  // In the same object, one after the other.
  for (const user of ["ann", undefined, "bob"]) await stage.run("own-1", user);
  expect(server.seen.slice(3)).toEqual(["ann at work", "the office", "bob"]);

  const listed = await stage.connections();
  const here = listed.filter((one) => one.server === server.mcp.url);
  expect(here.map(({ user }) => user)).toEqual([null, "ann", "bob"]);
  expect(await stage.connections("acme", "?user=bob")).toMatchObject([{ user: "bob" }]);
  expect(await stage.connections("globex")).toEqual([]);
});

test.each(["modern", "sessions"] as const)(
  "a login that is deleted ends in loaded objects, and the next one counts at once: %s",
  async (kind) => {
    const server = warm[kind];
    if (server === undefined) throw new TypeError("no such server");
    const team = `warm-${kind}`;
    await stage.newTeam(team, server.mcp);
    await new LoginBrowser().logIn((await stage.begin(server.mcp)).authorization_url);
    expect(await stage.run(team)).toMatchObject({ status: "completed" });
    const [first] = server.tokens;
    const { sessions } = server.mcp;
    // Another person logs in.
    server.person = "another";
    await new LoginBrowser().logIn((await stage.begin(server.mcp)).authorization_url);
    const before = server.mcp.headers.length;
    expect(await stage.run(team)).toMatchObject({ status: "completed" });
    expect(
      server.mcp.headers.slice(before).map(({ authorization }) => authorization),
    ).not.toContain(`Bearer ${first}`);
    expect(server.seen.at(-1)).toBe("another");
    if (kind === "sessions") expect(server.mcp.sessions).toBe(sessions + 1);
    // The login is deleted.
    const connections = await stage.connections();
    const { id = "" } = connections.find((one) => one.server === server.mcp.url) ?? {};
    expect(await stage.forget(id, "globex")).toBe(404);
    expect(await stage.forget(id)).toBe(204);
    expect(server.revoked).toEqual([server.tokens[1]]);
    const since = server.mcp.headers.length;
    const asking = await stage.run(team);
    expect(asking).toMatchObject({ status: "waiting" });
    for (const { authorization } of server.mcp.headers.slice(since)) {
      expect(authorization).toBeUndefined();
    }
    await stage.stop(team, asking);
  },
);
