import { expect, test } from "vitest";
import { ApiError, TroupeClient } from "troupe/client";
import { TestWorker } from "../../support/worker.ts";

test("a limit that waiting does not lift is an error at once, requested once", async () => {
  await using worker = await TestWorker.start({ TENANT_TEAMS: "1" });
  let requests = 0;
  const client = new TroupeClient({
    baseURL: await worker.origin,
    fetch: (request) => {
      requests++;
      return fetch(request);
    },
  });
  await client.teams.create({ template: "writer_critic" });
  requests = 0;
  const refused: unknown = await client.teams
    .create({ template: "writer_critic" })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ code: "too_many_teams", status: 429, repeatable: false });
  expect(String(refused)).toContain("Delete teams");
  expect(requests).toBe(1);
});

test("a wait of hours is left to the caller", async () => {
  let requests = 0;
  const client = new TroupeClient({
    baseURL: "http://troupe.example",
    fetch: async () => {
      requests++;
      const problem = { status: 429, code: "too_many_tokens", detail: "The tokens are used up." };
      return Response.json(problem, { status: 429, headers: { "retry-after": "3600" } });
    },
  });
  await expect(client.team("t").get()).rejects.toMatchObject({ retryAfter: 3_600_000 });
  expect(requests).toBe(1);
});
