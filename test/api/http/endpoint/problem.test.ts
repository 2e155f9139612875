import { expect, test } from "vitest";
import { mediaTypeOfPath } from "#api/http/endpoint/media-types.ts";
import { problemResponse } from "#api/http/endpoint/problem.ts";

test("a response of 422 always names a place", async () => {
  const problem = {
    status: 422,
    code: "invalid_request",
    detail: "The body is not JSON.",
  } as const;
  expect(await problemResponse(problem).json()).toMatchObject({
    errors: [{ path: "body", message: "The body is not JSON." }],
  });
  const errors = [
    { path: "", message: "is empty" },
    { path: "body.task", message: "is required" },
  ];
  expect(await problemResponse({ ...problem, errors }).json()).toMatchObject({
    errors: [{ path: "body", message: "is empty" }, errors[1]],
  });
});

test("a limit that was reached has its headers, with whole seconds until it is lifted", () => {
  const extra = { limit: "runs_per_minute", value: 5, window: 60 };
  const problem = { status: 429, code: "too_many_runs", detail: "Wait.", retry_after: 2.1, extra };
  const { headers } = problemResponse(problem);
  expect(headers.get("retry-after")).toBe("3");
  expect(headers.get("ratelimit-policy")).toBe('"runs_per_minute";q=5;w=60');
  expect(headers.get("ratelimit")).toBe('"runs_per_minute";r=0;t=2.1');
});

test("a request that must not be repeated has a header for clients that retry", () => {
  const problem = { status: 409, code: "conflict", detail: "No.", repeatable: false } as const;
  expect(problemResponse(problem).headers.get("x-should-retry")).toBe("false");
  const { repeatable, ...other } = problem;
  expect(repeatable).toBe(false);
  expect(problemResponse(other).headers.has("x-should-retry")).toBe(false);
});

test.for<[string, string]>([
  ["notes/A.JPEG", "image/jpeg"],
  ["a.flac", "audio/flac"],
  ["a.b/picture.png", "image/png"],
  ["Makefile", "application/octet-stream"],
])("the media type of %s is %s", ([path, type]) => {
  expect(mediaTypeOfPath(path)).toBe(type);
});
