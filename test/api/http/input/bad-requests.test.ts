import { describe, expect, test } from "vitest";
import { problemSchema } from "#contract/problem.ts";
import { BAD_REQUESTS } from "../../../support/bad-requests/bad-requests.ts";
import { toInit } from "../../../support/bad-requests/row.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";

const app = testApp();
await app.fetch("/v1/teams", jsonInit({ id: "team", component: SAMPLE_COMPONENT }));
const started = await app.fetch("/v1/teams/team/runs", jsonInit({ task: "go" }));
const run = ((await started.json()) as { id: string }).id;

describe("a bad request is refused with a problem document", () => {
  test.for(BAD_REQUESTS.map((row) => [row.name, row] as const))("%s", async ([, row]) => {
    const response = await app.fetch(row.path.replace("RUN", run), toInit(row));
    const problem = problemSchema.strict().parse(await response.json());
    expect({ status: response.status, code: problem.code }).toEqual({
      status: row.status,
      code: row.code,
    });
    expect(problem.status).toBe(row.status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const paths = problem.errors?.map(({ path }) => path) ?? [];
    expect(paths).toEqual(expect.arrayContaining(row.errors ?? []));
    if (row.status === 422) expect(paths.length > 0 && !paths.includes("")).toBe(true);
    for (const [name, value] of Object.entries(row.answers ?? {})) {
      expect(response.headers.get(name)).toBe(value);
    }
    expect(app.logged).toEqual([]);
  });
});
