import { expect, test } from "vitest";
import { SessionFiles } from "#components/sandbox/session-files.ts";
import { FakeSandbox, refused, type SandboxReply } from "../../../support/fake-sandbox.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";

const create = jsonInit({ id: "t", component: SAMPLE_COMPONENT });

test("a server without a sandbox has no files", async () => {
  const app = testApp();
  await app.fetch("/v1/teams", create);
  const response = await app.fetch("/v1/teams/t/files");
  expect(response.status).toBe(503);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toMatchObject({ code: "sandbox_not_configured" });
});

test.each<[string, SandboxReply, number, string]>([
  ["does not know the Worker", refused(401, { detail: "Wrong key." }), 502, "sandbox_unavailable"],
  ["is broken", refused(500), 502, "sandbox_unavailable"],
  ["is down", (response) => void response.destroy(), 502, "sandbox_unavailable"],
  [
    "redirects",
    (response) => void response.writeHead(302, { location: "/" }).end(),
    502,
    "sandbox_unavailable",
  ],
  ["has too many sessions", refused(429, {}, { "retry-after": "7" }), 503, "sandbox_busy"],
  ["does not say which conflict", refused(409), 409, "file_conflict"],
  ["has strange codes", refused(413, { code: "Too Large!" }), 413, "file_too_large"],
])("a sandbox that %s causes a problem of %3$s", async (_, reply, status, code) => {
  await using sandbox = await FakeSandbox.start();
  const app = testApp({
    files: async () => new SessionFiles({ url: sandbox.url, apiKey: "the-key" }),
  });
  await app.fetch("/v1/teams", create);
  sandbox.expect("PUT", reply);
  const response = await app.fetch("/v1/teams/t/files/dir/a%20b", { method: "PUT", body: "x" });
  expect([response.status, await response.json()]).toMatchObject([status, { code }]);
  if (code === "sandbox_busy") expect(response.headers.get("retry-after")).toBe("7");
  expect(sandbox.calls).toMatchObject([
    { path: "/v1/sessions/session/files/dir/a%20b", headers: { authorization: "Bearer the-key" } },
  ]);
});

test("a sandbox without pages lists all files at once", async () => {
  await using sandbox = await FakeSandbox.start();
  const app = testApp({ files: async () => new SessionFiles({ url: sandbox.url }) });
  await app.fetch("/v1/teams", create);
  const file = { path: "a.json", size: 1, modified_at: "2026-01-02T03:04:05.000Z" };
  sandbox.expect("GET", (response) => void response.end(JSON.stringify({ files: [file] })));
  expect(await (await app.fetch("/v1/teams/t/files?limit=10")).json()).toEqual({
    files: [{ ...file, media_type: "application/json" }],
    next_cursor: null,
  });
  sandbox.expect("GET", (response) => void response.end("{}"));
  expect((await app.fetch("/v1/teams/t/files")).status).toBe(502);
});
