import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { problemOf } from "#api/http/endpoint/problem.ts";
import { remoteObject, tenantNamed } from "#sqlite/remote-methods.ts";

interface LaterVersion {
  addedLater(): Promise<void>;
}

test("a call to an object of an earlier version, which lacks the method, may be made again", async () => {
  const tenant = remoteObject<LaterVersion>(env.TENANT, tenantNamed("earlier"), []);
  const error: unknown = await tenant.addedLater().catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    message: expect.stringContaining("without the method addedLater"),
  });
  expect(problemOf(error)?.problem).toMatchObject({
    status: 503,
    code: "temporarily_unavailable",
    retry_after: 1,
  });
});
