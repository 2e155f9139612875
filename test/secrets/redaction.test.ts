import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Redaction } from "#secrets/redaction.ts";
import { casesOf } from "../support/samples.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** How servers and programs repeat what they were sent. */
const REPEATED: Record<string, (secret: string) => string> = {
  plain: (secret) => secret,
  "in JSON": (secret) => JSON.stringify({ secret }),
  "in JSON in JSON": (secret) => JSON.stringify({ text: JSON.stringify({ secret }) }),
  "as PHP writes JSON": (secret) => JSON.stringify(secret).replaceAll("/", "\\/"),
  "as Go writes JSON": (secret) =>
    JSON.stringify(secret).replaceAll(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
  "as Python writes JSON": (secret) =>
    JSON.stringify(secret).replaceAll(
      /[\u0080-\uffff]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  "in a path": encodeURIComponent,
  "in a path, small letters": (secret) =>
    encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
  "in a form": (secret) => new URLSearchParams({ secret }).toString(),
  "in HTML": (secret) =>
    `<p>${secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;")}</p>`,
  "in base64": base64,
  "in base64url": (secret) => Buffer.from(secret).toString("base64url"),
  "in base64, after one": (secret) => base64(`x${secret}`),
  "in base64, after two": (secret) => base64(`xy${secret}z`),
  "in base64, after a name": (secret) => base64(`user:${secret}`),
  "in hex": (secret) => Buffer.from(secret).toString("hex"),
};

/** Made of printable characters, those that encodings change among them. */
const secret = fc.string({
  unit: fc.constantFrom(...Array.from("abcXYZ0189+/=&<>\"'\\%_-.~ !*()ü€")),
  minLength: 9,
  maxLength: 40,
});

describe("a secret is removed", () => {
  test.for(Object.entries(REPEATED))("if it occurs in this form: %s", ([, repeat]) => {
    fc.assert(
      fc.property(secret, (value) => {
        const text = repeat(value);
        const redacted = new Redaction({ headers: { "x-any": value } }).redact(`it is ${text}.`);
        expect(redacted).toContain("[redacted]");
        expect(redacted).not.toContain(text);
      }),
      { numRuns: casesOf(200), seed: 23 },
    );
  });

  test("if it occurs in any place that counts as one", () => {
    const redaction = new Redaction({
      api_key: "key-one",
      default_headers: { "x-team": "header-two" },
      default_query: { tenant: "query-three" },
      server_params: {
        url: "https://mcp.example/x?token=url%20four&v=1",
        env: { LOGIN: "env-five" },
        oauth: { client_secret: "oauth-six" },
      },
    });
    const said =
      "key-one header-two query-three url%20four url four env-five oauth-six mcp.example";
    expect(redaction.redact(said)).toBe(`${"[redacted] ".repeat(7)}mcp.example`);
  });

  test.for([
    ["Bearer abcdef", "you sent abcdef", "you sent [redacted]"],
    [`Basic ${base64("anna:s3cret")}`, "anna:s3cret", "[redacted]"],
    [`Basic ${base64("anna:s3cret")}`, "the password s3cret", "the password [redacted]"],
    ["abc", "abc is too short", "abc is too short"],
  ] as const)("if it comes from %s, in: %s", ([value, text, expected]) => {
    expect(new Redaction({ headers: { authorization: value } }).redact(text)).toBe(expected);
  });
});
