import { describe, expect, test } from "vitest";
import { EgressError } from "#outgoing/egress.ts";
import { guardedFetch } from "#outgoing/outgoing-fetch.ts";
import { checkWebhookUrl, webhookRules, webhookSender } from "#outgoing/webhooks.ts";

type Settings = Parameters<typeof webhookRules>[0];

function refusal(url: string, settings: Settings): string | undefined {
  try {
    checkWebhookUrl(url, webhookRules(settings));
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(EgressError);
    return (error as EgressError).message;
  }
}

const PUBLIC = "https://hooks.example.com/in";

describe("a webhook of a deployed Worker", () => {
  test("may go to any public host unless a setting names hosts", () => {
    expect(refusal(PUBLIC, {})).toBeUndefined();
    expect(refusal(PUBLIC, { WEBHOOK_HOSTS: "*", ALLOWED_EGRESS: "a.com" })).toBeUndefined();
    for (const settings of [{ ALLOWED_EGRESS: "a.com" }, { WEBHOOK_HOSTS: "a.com" }]) {
      expect(refusal("https://a.com/in", settings)).toBeUndefined();
      expect(refusal(PUBLIC, settings)).toContain("WEBHOOK_HOSTS");
    }
    const both = { ALLOWED_EGRESS: "a.com", WEBHOOK_HOSTS: "*.example.com" };
    expect([refusal("https://a.com/", both), refusal(PUBLIC, both)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test.each([
    "127.0.0.1",
    "localhost",
    "10.0.0.1",
    "[::1]",
    "169.254.169.254",
    "0x7f.1",
    "db.internal",
  ])("may not go to %s unless ALLOWED_EGRESS names host and port", (host) => {
    for (const WEBHOOK_HOSTS of ["", "*", host]) {
      const message = refusal(`https://${host}/`, { WEBHOOK_HOSTS });
      expect(message).toContain("private or local address");
    }
    const { hostname } = new URL(`https://${host}/`);
    const named = { ALLOWED_EGRESS: `${hostname}:443, http://${hostname}:9000` };
    const never = host === "169.254.169.254" ? expect.stringContaining("never") : undefined;
    expect(refusal(`https://${host}/`, named)).toEqual(never);
    expect(refusal(`http://${host}:9000/`, named)).toEqual(never);
    expect(refusal(`http://${host}:9001/`, named)).toContain("https:// only");
  });

  test("uses https only, also to a host that is allowed over http", () => {
    const settings = { ALLOWED_EGRESS: "http://plain.example.com" };
    expect(refusal("http://plain.example.com/", settings)).toContain("https:// only");
    expect(refusal("http://hooks.example.com/", {})).toContain("https:// only");
  });
});

test("a webhook may go to the developer's machine over http", () => {
  expect(refusal("http://127.0.0.1:8080/", { TROUPE_OPEN: "1" })).toBeUndefined();
  expect(refusal("http://10.0.0.1/", { TROUPE_OPEN: "1" })).toContain("private address");
});

describe("an attempt", () => {
  const rules = webhookRules({});
  const request = { url: PUBLIC, headers: { "webhook-id": "msg_1" }, body: "{}" };

  test("that goes to a name of a private address fails", async () => {
    const proxied: typeof fetch = () =>
      Promise.reject(new EgressError("hooks.example.com", "it resolves to 169.254.169.254"));
    const send = webhookSender(
      rules,
      guardedFetch(rules, fetch, undefined, () => proxied),
    );
    expect(await send(request)).toMatchObject({
      status: null,
      error: "it resolves to 169.254.169.254",
    });
  });

  test("that goes to a host which is no longer allowed is not made", async () => {
    const never: typeof fetch = () => Promise.reject(new TypeError("it was asked"));
    const stricter = webhookRules({ WEBHOOK_HOSTS: "a.com" });
    const { error } = await webhookSender(stricter, never)(request);
    expect(error).toContain("WEBHOOK_HOSTS");
  });

  test("reports the wait that a busy receiver asks for, and the start of its answer", async () => {
    const busy: typeof fetch = () =>
      Promise.resolve(new Response("later", { status: 503, headers: { "retry-after": "120" } }));
    expect(await webhookSender(rules, busy)(request)).toMatchObject({
      status: 503,
      response: "later",
      retryAfter: 120_000,
      error: null,
    });
  });
});
