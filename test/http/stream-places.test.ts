import { afterAll, beforeAll, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/sha256.ts";
import { jsonInit } from "../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";

const BUSY = "busy-secret";
const QUIET = "quiet-secret";

let worker: TestWorker;

beforeAll(async () => {
  const keys = [BUSY, QUIET].map(async (key) => ({
    hash: await sha256Hex(key),
    tenant: "acme",
    scopes: SCOPES,
    name: key,
  }));
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    API_KEYS: JSON.stringify(await Promise.all(keys)),
    TENANT_STREAMS_PER_TEAM: "6",
    TENANT_STREAMS_PER_CREDENTIAL: "4",
  });
  const bearer = { authorization: `Bearer ${BUSY}` };
  const component = SAMPLE_COMPONENT;
  const made = await worker.fetch("/v1/teams", jsonInit({ id: "team", component }, "POST", bearer));
  expect(made.status).toBe(201);
});
afterAll(() => worker[Symbol.asyncDispose]());

const open = (key: string, path: string, signal?: AbortSignal): Promise<Response> =>
  worker.fetch(path, { headers: { authorization: `Bearer ${key}` }, ...(signal && { signal }) });

test.for(["/v1/teams/team/events", "/v1/events"])(
  "%s: who opens and drops streams shuts out nobody, and goes on itself",
  async (path) => {
    for (let round = 0; round < 30; round++) {
      const left = new AbortController();
      expect((await open(BUSY, path, left.signal)).status).toBe(200);
      left.abort();
    }
    const quiet = [await open(QUIET, path), await open(QUIET, path)];
    expect(quiet.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of quiet) await body?.cancel();
  },
);
