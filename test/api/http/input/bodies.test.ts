import { describe, expect, test } from "vitest";
import { closed } from "#api/auth/local.ts";
import { DEFAULT_LIMITS } from "#api/http/endpoint/limits.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";

/** A body that says whether it was taken to its end. */
function watched(text: string, pieces = 1): { init: RequestInit; taken: () => boolean } {
  let left = pieces;
  let taken = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left-- > 0) {
        controller.enqueue(new TextEncoder().encode(text));
        return;
      }
      taken = true;
      controller.close();
    },
  });
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    duplex: "half",
  } as RequestInit;
  return { init, taken: () => taken };
}

describe("the body of a refused request is read to its end, because its connection is reused", () => {
  test.each([
    ["an unknown address", "/nowhere", 404],
    ["an invalid id", "/v1/teams/a%20b/runs", 404],
    ["a wrong query", "/v1/teams/x/runs?wait=-1", 422],
    ["a method that is not possible", "/v1/templates", 405],
  ])("%s", async (_, path, status) => {
    const { init, taken } = watched("{}");
    expect((await testApp().fetch(path, init)).status).toBe(status);
    expect(taken()).toBe(true);
  });

  test.each(["/v1/teams", "/nowhere", "/v1/templates"])(
    "if no keys are configured: %s",
    async (path) => {
      const { init, taken } = watched("{}");
      expect((await testApp({ authenticate: closed }).fetch(path, init)).status).toBe(503);
      expect(taken()).toBe(true);
    },
  );

  test.each(["/v1/teams", "/nowhere", "/v1/templates"])(
    "if the Origin is foreign: %s",
    async (path) => {
      const { init, taken } = watched("{}");
      const headers = new Headers(init.headers);
      headers.set("origin", "https://evil.example");
      expect((await testApp().fetch(path, { ...init, headers })).status).toBe(403);
      expect(taken()).toBe(true);
    },
  );

  test("if it exceeds the limit", async () => {
    const limits = { ...DEFAULT_LIMITS, max_body_bytes: 10 };
    const { init, taken } = watched("x".repeat(8), 5);
    expect((await testApp({ limits }).fetch("/v1/teams", init)).status).toBe(413);
    expect(taken()).toBe(true);
  });

  test("unless it does not end", async () => {
    const { init, taken } = watched("x".repeat(1_000_000), Number.POSITIVE_INFINITY);
    expect((await testApp().fetch("/v1/teams", init)).status).toBe(413);
    expect(taken()).toBe(false);
  });
});

test("a compressed body is refused with a problem of its own", async () => {
  const init = jsonInit({ template: "sample" }, "POST", { "content-encoding": "gzip" });
  const response = await testApp().fetch("/v1/teams", init);
  expect(response.status).toBe(415);
  expect(((await response.json()) as { detail: string }).detail).toContain("gzip");
});

test("an error in JSON is reported without quoting the JSON", async () => {
  const response = await testApp().fetch("/v1/teams", {
    ...jsonInit(null),
    body: '{"api_key": sk-secret}',
  });
  expect(response.status).toBe(400);
  const { detail } = (await response.json()) as { detail: string };
  expect(detail).toContain("Unexpected token");
  expect(detail).not.toContain("secret");
  expect(detail).not.toContain("api_key");
});

test("unknown fields are named one by one", async () => {
  const response = await testApp().fetch(
    "/v1/teams",
    jsonInit({ template: "sample", colour: 1, size: 2 }),
  );
  expect(response.status).toBe(422);
  const message = "is not a known field; use component, template, id, label, metadata, user, tool";
  expect(((await response.json()) as { errors: unknown }).errors).toEqual([
    { path: "colour", message },
    { path: "size", message },
  ]);
});
