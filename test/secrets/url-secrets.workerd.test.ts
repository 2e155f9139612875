import { describe, expect, test } from "vitest";
import type { ComponentModel, JsonObject } from "troupe";
import { REDACTED } from "#secrets/redacted-secrets.ts";
import { SealedSecrets } from "#secrets/sealed-secrets.ts";
import { userInfoIssues } from "#secrets/url-secrets.ts";

const secrets = new SealedSecrets(btoa("k".repeat(32)));

function client(config: JsonObject): ComponentModel {
  return { provider: "OpenAIChatCompletionClient", config: { model: "gpt-4o-mini", ...config } };
}

/** Each config with the same as it is shown. */
const CASES: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    "values in the query of a URL",
    { base_url: "https://models.example/v1?key=plain&api-version=2024-02-01&flag&a=#top" },
    { base_url: `https://models.example/v1?key=${REDACTED}&api-version=2024-02-01&flag&a=#top` },
  ],
  [
    "values of the same name",
    { azure_endpoint: "https://models.example?k=plain-1&k=plain%202&k=plain-1" },
    { azure_endpoint: `https://models.example?k=${REDACTED}&k=${REDACTED}&k=${REDACTED}` },
  ],
  [
    "default_query, numbers included",
    { default_query: { sig: "plain", pin: 471_147, "api-version": "2024-02-01" } },
    { default_query: { sig: REDACTED, pin: REDACTED, "api-version": "2024-02-01" } },
  ],
  [
    "the fields below a key named parameters",
    { parameters: { api_key: "plain", options: [{ token: "plain" }], url: "https://x?a=plain" } },
    {
      parameters: {
        api_key: REDACTED,
        options: [{ token: REDACTED }],
        url: `https://x?a=${REDACTED}`,
      },
    },
  ],
  [
    "the fields beside the properties of a JSON Schema",
    { parameters: { type: "object", properties: { token: { type: "string" } }, api_key: "plain" } },
    {
      parameters: { type: "object", properties: { token: { type: "string" } }, api_key: REDACTED },
    },
  ],
];

describe.each(CASES)("%s", (_, config, shown) => {
  test("are sealed, shown redacted and opened again", async () => {
    const sealed = await secrets.seal(client(config), null);
    expect(JSON.stringify(sealed)).not.toMatch(/plain|471147/);
    expect(secrets.redact(sealed)).toEqual(client(shown));
    const opened = await secrets.open(sealed);
    expect(JSON.stringify(opened)).toBe(
      JSON.stringify(client(config)).replace("471147", '"471147"'),
    );
  });

  test("can be sent back as they were shown", async () => {
    const sealed = await secrets.seal(client(config), null);
    const again = await secrets.seal(client({ ...shown, seed: 7 }), sealed);
    expect(JSON.stringify(again)).not.toMatch(/plain|471147|\*/);
    expect(await secrets.open(again)).toEqual(
      await secrets.open(await secrets.seal(client({ ...config, seed: 7 }), null)),
    );
  });

  test("that an earlier version stored as plain text are read, shown redacted and sealed by the next change", async () => {
    const old = client(config);
    expect(JSON.stringify(await secrets.open(old))).toContain("plain");
    expect(secrets.redact(old)).toEqual(client(shown));
    const changed = await secrets.seal(client({ ...shown, seed: 7 }), old);
    expect(JSON.stringify(changed)).not.toMatch(/plain|471147/);
    expect(JSON.stringify(await secrets.open(changed))).toContain("plain");
  });

  test("are refused without a key", async () => {
    await expect(new SealedSecrets(undefined).seal(client(config), null)).rejects.toMatchObject({
      code: "secrets_not_configured",
    });
  });
});

test("a value in the query is not sent to another host", async () => {
  const sealed = await secrets.seal(client({ base_url: "https://models.example?key=plain" }), null);
  const next = client({ base_url: `https://evil.example?key=${REDACTED}` });
  await expect(secrets.seal(next, sealed)).rejects.toMatchObject({
    issues: [{ path: "component.config.base_url?key" }],
  });
});

test.for<JsonObject>([
  { base_url: "https://models.example/v1?api-version=2024-02-01#top" },
  { base_url: "https://models.example/v1?key=env:MODEL_KEY" },
  { host: "models.example:8080" },
  { description: "See https://models.example/?page=2 for more." },
  { parameters: { type: "object", properties: { api_key: { type: "string", default: "x" } } } },
  { parameters: { properties: { password: "text" } } },
  { parameters: { $ref: "#/$defs/a", $defs: { token: { const: "x" } } } },
])("a URL without a secret is unchanged: %j", async (config) => {
  const component = client(config);
  expect(await new SealedSecrets(undefined).seal(component, null)).toEqual(component);
});

test("a user name or password in a URL is shown redacted, and named wherever it is", async () => {
  const base_url = "https://user:plain@models.example/v1";
  const team = { config: { participants: [client({ base_url }), client({ hosts: [base_url] })] } };
  expect(JSON.stringify(secrets.redact(team as never))).not.toMatch(/user:/);
  const message = expect.stringMatching(/remove the part before "@".*header/) as string;
  expect(userInfoIssues(team, "component")).toEqual([
    { path: "component.config.participants[0].config.base_url", message },
    { path: "component.config.participants[1].config.hosts[0]", message },
  ]);
});
