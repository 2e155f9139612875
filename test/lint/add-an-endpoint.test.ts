import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TroupeClient } from "troupe/client";
import type { Principal } from "#api/auth/principal.ts";
import type { Scope } from "#contract/constants.ts";
import { testApp } from "../support/http-app.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** What the diffs of the page add: the parts of each file that are added in one place. */
function diffs(): Map<string, string[]>[] {
  const page = read("docs/contributing/add-an-endpoint.md");
  return Array.from(page.matchAll(/```diff\n([^]*?)```/g), ([, diff = ""]) => {
    const files = diff.split(/^--- a\/.*\n/m).slice(1);
    return new Map(
      files.map((text) => {
        const [head = "", ...parts] = text.split(/^@@.*\n/m);
        const [, file = ""] = /^\+\+\+ b\/(.*)$/m.exec(head) ?? [];
        return [file, parts.map((part) => part.replaceAll(/^\+/gm, ""))];
      }),
    );
  });
}

/** Compares a diff of the page with the source, where no other file may know of the operation but `work`. */
function expectOnlyIn(diff: Map<string, string[]> | undefined, names: RegExp, work?: string): void {
  for (const file of globSync("src/**/*.{ts,tsx}", { cwd: root })) {
    if (file === work) continue;
    let text = read(file);
    for (const part of diff?.get(file) ?? []) {
      expect(text, file).toContain(part);
      text = text.replace(part, "");
    }
    expect(text, file).not.toMatch(names);
  }
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

test("the first diff of the page equals the source of its operation, and is in three files", () => {
  const [diff] = diffs();
  expect(diff?.size).toBe(3);
  expectOnlyIn(diff, /\bpauseRun\b|runs\/:run\/pause/);
});

test("an operation with an answer of its own is in five files besides the one that makes the answer", () => {
  const [, diff] = diffs();
  expect(diff?.size).toBe(5);
  const names = /\bRunTrace\b|\brunTrace(Schema)?\b|runs\/:run\/trace/;
  expectOnlyIn(diff, names, "src/team/object/handlers/trace-of-run.ts");
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
