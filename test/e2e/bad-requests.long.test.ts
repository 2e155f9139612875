import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problemSchema } from "#contract/problem.ts";
import { BAD_REQUESTS } from "../support/bad-requests/bad-requests.ts";
import { toInit } from "../support/bad-requests/row.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

let worker: TestWorker;
let run: string;

beforeAll(async () => {
  worker = await TestWorker.start();
  const team = { id: "team", template: "human_in_the_loop" };
  expect((await worker.fetch("/v1/teams", jsonInit(team))).status).toBe(201);
  const task = { task: "A day in Lisbon, please." };
  const started = await worker.fetch("/v1/teams/team/runs?wait=1", jsonInit(task));
  const { id, status } = (await started.json()) as { id: string; status: string };
  // Waits for the human, so it is there as long as the requests come.
  expect(status).toBe("waiting");
  run = id;
});

afterAll(() => worker[Symbol.asyncDispose]());

describe("the Worker refuses with a problem document", () => {
  test.for(BAD_REQUESTS.map((row) => [row.name, row] as const))("%s", async ([, row]) => {
    const response = await worker.fetch(row.path.replace("RUN", run), toInit(row));
    const problem = problemSchema.loose().parse(await response.json());
    expect({ status: response.status, code: problem.code }).toEqual({
      status: row.status,
      code: row.code,
    });
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const paths = problem.errors?.map(({ path }) => path) ?? [];
    expect(paths).toEqual(expect.arrayContaining(row.errors ?? []));
    if (row.status === 422) expect(paths.length > 0 && !paths.includes("")).toBe(true);
  });
});

test("a run that waits is unchanged after the refusals", async () => {
  const response = await worker.fetch(`/v1/teams/team/runs/${run}`);
  expect(await response.json()).toMatchObject({ status: "waiting", turns: 1 });
});
