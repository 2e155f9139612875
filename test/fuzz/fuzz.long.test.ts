import { expect, test } from "vitest";
import { problemResponse } from "#api/http/endpoint/problem.ts";
import { faultOf } from "./check.ts";
import { fuzz } from "./fuzz.ts";

test("no request is answered with an internal error, or with an error that explains nothing", async () => {
  const { requests, statuses, failure } = await fuzz({ seed: 1, milliseconds: 15_000 });
  expect(failure).toBeUndefined();
  expect(requests).toBeGreaterThan(200);
  // Requests of all kinds came through, not only refused ones.
  for (const status of [200, 201, 400, 404, 415, 422])
    expect(statuses.get(status)).toBeGreaterThan(0);
});

test("bad answers are recognised", async () => {
  const statuses = new Set([200, 400, 422, 500]);
  const fault = (status: number, contentType: string, body: unknown): string | undefined =>
    faultOf(
      { statuses, foreign: new Map([[400, "application/json"]]) },
      { status, contentType, body: JSON.stringify(body) },
    );
  const document = async (status: number): Promise<object> =>
    (await problemResponse({ status, code: "x", detail: "It is wrong." }).json()) as object;
  const problem = "application/problem+json";
  expect(fault(200, "application/json", {})).toBeUndefined();
  expect(fault(422, problem, await document(422))).toBeUndefined();
  expect(fault(500, problem, await document(500))).toBe("status 500");
  expect(fault(409, problem, await document(409))).toContain("does not name");
  expect(fault(422, "text/html", await document(422))).toBe("an error as text/html");
  expect(
    fault(400, "application/json", {
      jsonrpc: "2.0",
      error: { code: -32_700, message: "It is not JSON." },
    }),
  ).toBeUndefined();
  expect(fault(400, problem, await document(400))).toBe(`an error as ${problem}`);
  expect(fault(400, "application/json", { error: "It is wrong." })).toContain(
    "no protocol's shape",
  );
  expect(fault(422, problem, {})).toContain("not a problem document");
  expect(fault(422, problem, await document(500))).toContain("another status");
  expect(fault(422, problem, { ...(await document(422)), errors: [] })).toContain("no place");
  expect(
    fault(422, problem, { ...(await document(422)), errors: [{ path: "", message: "a" }] }),
  ).toContain("empty place");
});
