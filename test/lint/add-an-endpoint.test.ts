import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TroupeClient } from "troupe/client";
import type { Principal } from "#api/auth/principal.ts";
import type { Scope } from "#contract/constants.ts";
import { testApp } from "../support/http-app.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** The lines that the diff of the page adds, by file. */
function added(): Map<string, string> {
  const [, diff = ""] =
    /```diff\n([^]*?)```/.exec(read("docs/contributing/add-an-endpoint.md")) ?? [];
  const files = diff.split(/^--- a\/.*\n/m).slice(1);
  return new Map(
    files.map((text) => {
      const [, file = ""] = /^\+\+\+ b\/(.*)$/m.exec(text) ?? [];
      const lines = text.split("\n").filter((line) => /^\+(?!\+\+ b\/)/.test(line));
      return [file, lines.map((line) => `${line.slice(1)}\n`).join("")];
    }),
  );
}

function client(scopes: readonly Scope[]): TroupeClient {
  const principal: Principal = {
    id: "key",
    tenant: "acme",
    scopes,
    kind: "static",
    name: null,
    expires_at: null,
  };
  const app = testApp({ authenticate: async () => principal });
  return new TroupeClient({
    baseURL: "http://localhost:8787",
    fetch: async (request) => app.fetch(new URL(request.url).pathname, request),
  });
}

test("the diff of the page is what the source has of its operation, and is in three files", () => {
  const diff = added();
  expect(diff.size).toBe(3);
  for (const file of globSync("src/**/*.{ts,tsx}", { cwd: root })) {
    const text = read(file);
    const own = diff.get(file) ?? "";
    expect(text, file).toContain(own);
    expect(text.replace(own, ""), file).not.toMatch(/\bpauseRun\b|runs\/:run\/pause/);
  }
});

test("OpenAPI, scope, problem, client and fake follow from the row of the operation", async () => {
  const document = (await (await testApp().fetch("/v1/openapi.json")).json()) as {
    paths: Record<string, Record<string, object>>;
  };
  expect(document.paths["/v1/teams/{team}/runs/{run}/pause"]?.["post"]).toMatchObject({
    operationId: "pauseRun",
    description: "Scope: runs:write.",
    responses: { 202: {}, 404: {}, 409: {} },
  });
  const allowed = client(["teams:write", "runs:write", "runs:read"]);
  const team = await allowed.teams.create({ template: "sample" });
  const run = await team.start("Go.");
  expect(await team.pause(run.id)).toMatchObject({ id: run.id, status: "running" });
  await expect(team.pause("other")).rejects.toMatchObject({ status: 404, code: "run_not_found" });
  await expect(allowed.team("none").pause(run.id)).rejects.toMatchObject({
    code: "team_not_found",
  });
  await expect(client(["runs:read"]).team(team.id).pause(run.id)).rejects.toMatchObject({
    status: 403,
    code: "missing_scope",
  });
});
