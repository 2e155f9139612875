import { describe, expect, test } from "vitest";
import type { HttpToolOptions, JsonObject } from "troupe";
import { guardedFetch } from "#outgoing/outgoing-fetch.ts";
import { HttpTool } from "troupe";
import { runContext } from "#core/turn/run-context.ts";

const rules = { allowed: ["api.example.com", "*.blob.example"], open: false };

/** Asks with a tool whose requests are guarded and, if they may leave, answered by `server`. */
async function ask(
  config: Partial<HttpToolOptions>,
  args: JsonObject,
  server: (request: Request) => Response | Promise<Response>,
  signal = new AbortController().signal,
) {
  const tool = new HttpTool(
    {
      name: "ask",
      scheme: "https",
      host: "api.example.com",
      port: 443,
      jsonSchema: { type: "object", properties: { q: { type: "string" } } },
      ...config,
    },
    { fetch: guardedFetch(rules, async (input, init) => server(new Request(input, init))) },
  );
  return tool.run(args, {
    signal,
    idempotencyKey: "key",
    callId: undefined,
    env: {},
    run: runContext({ id: "run" }),
  });
}

describe("a tool in a Worker", () => {
  test("reaches an allowed host", async () => {
    const seen: unknown[] = [];
    const answer = await ask({ returnType: "json" }, { q: "hi" }, async (request) => {
      seen.push(request.url, request.headers.get("idempotency-key"), await request.json());
      return Response.json({ ok: true });
    });
    expect(answer).toEqual({ ok: true });
    expect(seen).toEqual(["https://api.example.com/", "key", { q: "hi" }]);
  });

  test.each([
    ["another host", { host: "evil.example" }, "ALLOWED_EGRESS"],
    ["a private address", { host: "169.254.169.254" }, "private"],
    ["an address without encryption", { scheme: "http", port: 80 }, "ALLOWED_EGRESS"],
    ["another port", { port: 8443 }, "ALLOWED_EGRESS"],
  ] as const)(
    "does not reach %s, and the model reads the reason",
    async (_what, config, message) => {
      let asked = false;
      const denied = ask(config, {}, () => {
        asked = true;
        return new Response();
      });
      await expect(denied).rejects.toMatchObject({
        code: "egress_denied",
        retryable: false,
        message: expect.stringContaining(message),
      });
      expect(asked).toBe(false);
    },
  );

  test("does not follow a redirect", async () => {
    const redirected = ask({}, {}, () => Response.redirect("https://evil.example/", 307));
    await expect(redirected).rejects.toThrow(/redirects to evil\.example/);
  });

  test("cuts a long answer and does not read the rest", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(100_000).fill(97)),
      cancel: () => {
        cancelled = true;
      },
    });
    const answer = await ask({}, {}, () => new Response(body));
    expect(answer).toMatch(/^a{900000}\n\[Cut/);
    expect(cancelled).toBe(true);
  });

  /** Both stay silent: one before it answers, one in the middle of its answer. */
  const servers: [string, (request: Request) => Promise<Response>][] = [
    ["never answers", ({ signal }) => aborted(signal)],
    ["never ends its answer", async () => new Response(new ReadableStream())],
  ];

  test.each(servers)(
    "does not wait for a server that %s when its run is cancelled",
    async (_, server) => {
      const controller = new AbortController();
      const asked = ask({}, {}, server, controller.signal);
      await Promise.resolve();
      controller.abort(new Error("cancelled"));
      await expect(asked).rejects.toThrow("cancelled");
    },
  );

  test.each(servers)("has a timeout for a server that %s", async (_, server) => {
    const asked = ask({ timeout: 0.02 }, {}, server);
    await expect(asked).rejects.toMatchObject({ code: "http_timeout" });
  });
});

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}
