import { describe, expect, test } from "vitest";
import type { ComponentModel, JsonObject } from "troupe";
import { secretResolver, settingOrReference, type Settings } from "#secrets/secret-hosts.ts";
import { REDACTED } from "#secrets/redacted-secrets.ts";
import { SealedSecrets } from "#secrets/sealed-secrets.ts";

const KEY = btoa("k".repeat(32));
const secrets = new SealedSecrets(KEY);

function client(config: JsonObject): ComponentModel {
  return {
    provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
    config: { model: "gpt-4o-mini", ...config },
  };
}

function agent(model_client: ComponentModel): ComponentModel {
  return { provider: "AssistantAgent", config: { name: "a", model_client } };
}

const everything = agent(
  client({
    api_key: "sk-plain",
    azure_ad_token: "token-plain",
    default_headers: { Authorization: "Bearer plain", "X-Team": "blue" },
    default_query: { "api-key": "query-plain" },
    nested: [{ client_secret: "nested-plain" }, { password: "word-plain" }],
    headers: { "x-any": "header-plain" },
    accessToken: "camel-plain",
    secret_key: "key-plain",
    server_params: { command: "serve", env: { SERVICE_LOGIN: "env-plain" } },
  }),
);

describe("the sealing of secrets", () => {
  test("hides every secret and gives it back", async () => {
    const sealed = await secrets.seal(everything, null);
    const text = JSON.stringify(sealed);
    for (const plain of ["plain", "blue"]) expect(text).not.toContain(plain);
    expect(text).toContain("gpt-4o-mini");
    expect(await secrets.open(sealed)).toEqual(everything);
  });

  test("hides the secrets of AutoGen's memories: a URL of Redis with a password, headers, keys inside", async () => {
    const memory = (config: JsonObject) => ({ provider: "autogen_ext.memory.any", config });
    const given = memory({
      redis_url: "redis://user:plain@redis.example:6379",
      headers: { "x-token": "plain" },
      api_key: "plain",
      embedding_function_config: { function_type: "openai", api_key: "plain" },
    });
    const sealed = await secrets.seal(given, null);
    expect(JSON.stringify(sealed)).not.toMatch(/plain|redis\.example/);
    expect(secrets.redact(sealed).config).toEqual({
      redis_url: REDACTED,
      headers: { "x-token": REDACTED },
      api_key: REDACTED,
      embedding_function_config: { function_type: "openai", api_key: REDACTED },
    });
    expect(await secrets.open(sealed)).toEqual(given);
    const harmless = memory({ redis_url: "redis://localhost:6379" });
    expect(await secrets.seal(harmless, null)).toEqual(harmless);
  });

  test("hides numbers if their texts are as good: in headers", async () => {
    const tool = {
      provider: "autogen_ext.tools.http.HttpTool",
      config: {
        name: "ask",
        port: 443,
        timeout: 5,
        headers: { "x-pin": 471_147, "x-debug": true },
      },
    };
    const sealed = await secrets.seal(tool, null);
    expect(JSON.stringify(sealed)).not.toContain("471147");
    expect(secrets.redact(sealed).config).toEqual({
      ...tool.config,
      headers: { "x-pin": REDACTED, "x-debug": true },
    });
    expect((await secrets.open(sealed)).config).toEqual({
      ...tool.config,
      headers: { "x-pin": "471147", "x-debug": true },
    });
  });

  test("never gives the same secret the same form twice", async () => {
    const [a, b] = [await secrets.seal(everything, null), await secrets.seal(everything, null)];
    expect(a).not.toEqual(b);
    expect(await secrets.open(b)).toEqual(everything);
  });

  test("leaves values alone that are not secrets", async () => {
    const harmless = agent(
      client({
        api_key: "env:OPENAI_API_KEY",
        default_headers: { Authorization: "Bearer env:OPENAI_API_KEY" },
        max_tokens: 5,
        token_limit: 7,
        monkey: "a key is only a part of it",
        tokens: "several",
        sort_key: "name",
        azure_ad_token: "",
        json_schema: { properties: { password: { type: "string" }, api_key: "text" } },
      }),
    );
    expect(await secrets.seal(harmless, null)).toEqual(harmless);
    expect(secrets.redact(harmless)).toEqual(harmless);
    expect(await new SealedSecrets(undefined).seal(harmless, null)).toEqual(harmless);
  });

  test("is not misled by a secret that looks sealed", async () => {
    const sly = client({ api_key: "sealed:1:AAAA" });
    expect(await secrets.open(await secrets.seal(sly, null))).toEqual(sly);
  });

  test("needs a key, and a good one", async () => {
    const plain = client({ api_key: "sk-plain" });
    for (const setting of [undefined, "", "short", btoa("k".repeat(31)), "§§§"]) {
      const seal = new SealedSecrets(setting).seal(plain, null);
      await expect(seal).rejects.toMatchObject({ code: "secrets_not_configured" });
      await expect(seal).rejects.toThrow("SECRETS_KEY");
    }
    await expect(new SealedSecrets("").seal(plain, null)).rejects.toMatchObject({
      issues: [{ path: "component.config.api_key" }],
    });
  });

  test("is reversed by its own key only", async () => {
    const sealed = await secrets.seal(client({ api_key: "sk-plain" }), null);
    const other = new SealedSecrets(btoa("o".repeat(32)));
    await expect(other.open(sealed)).rejects.toMatchObject({ code: "secrets_unreadable" });
    await expect(new SealedSecrets(undefined).open(sealed)).rejects.toMatchObject({
      code: "secrets_unreadable",
    });
    // A secret that was never sealed is not a secret of ours.
    await expect(secrets.open(client({ api_key: "sk-plain" }))).rejects.toMatchObject({
      code: "secrets_unreadable",
    });
  });
});

describe("the redaction of secrets", () => {
  test("shows a marker for each secret, sealed or not", async () => {
    const sealed = await secrets.seal(everything, null);
    expect(secrets.redact(sealed)).toEqual(secrets.redact(everything));
    expect(JSON.stringify(secrets.redact(sealed))).not.toMatch(/plain|sealed/);
    expect(secrets.redact(sealed)).toMatchObject({
      config: { name: "a", model_client: { config: { api_key: REDACTED, model: "gpt-4o-mini" } } },
    });
  });

  test("lets a component that was shown be sent back", async () => {
    const sealed = await secrets.seal(everything, null);
    const shown = secrets.redact(sealed);
    const again = await secrets.seal({ ...shown, label: "renamed" }, sealed);
    expect(await secrets.open(again)).toEqual({ ...everything, label: "renamed" });
  });

  test("accepts new secrets beside kept ones", async () => {
    const sealed = await secrets.seal(client({ api_key: "old", azure_ad_token: "kept" }), null);
    const next = client({ api_key: "new", azure_ad_token: REDACTED });
    expect(await secrets.open(await secrets.seal(next, sealed))).toEqual(
      client({ api_key: "new", azure_ad_token: "kept" }),
    );
  });

  test.for([
    ["another address", client({ api_key: REDACTED, base_url: "https://evil.example/v1" })],
    ["another port", client({ api_key: REDACTED, base_url: "https://api.example:444/v1" })],
    ["no encryption", client({ api_key: REDACTED, base_url: "http://api.example/v1" })],
    ["no address any more", client({ api_key: REDACTED })],
    [
      "a host beside the address",
      client({ api_key: REDACTED, base_url: "https://api.example/v1", host: "evil.example" }),
    ],
    [
      "another provider",
      { ...client({ api_key: REDACTED, base_url: "https://api.example/v1" }), provider: "Other" },
    ],
    [
      "another place",
      client({ default_headers: { a: REDACTED }, base_url: "https://api.example/v1" }),
    ],
  ] as const)("keeps no secret for %s", async ([, next]) => {
    const sealed = await secrets.seal(
      client({ api_key: "sk-plain", base_url: "https://api.example/v1" }),
      null,
    );
    await expect(secrets.seal(next, sealed)).rejects.toMatchObject({
      code: "component_value",
      issues: [{ path: expect.stringContaining("component.config.") }],
    });
  });

  test("stands for nothing in a new team", async () => {
    await expect(secrets.seal(client({ api_key: REDACTED }), null)).rejects.toMatchObject({
      issues: [{ path: "component.config.api_key" }],
    });
  });
});

describe("references to secrets of the Worker", () => {
  const resolve = (settings: Settings, reference: string, url: string): string =>
    secretResolver(settings)(reference, url);
  const settings = {
    OPENAI_API_KEY: "sk-1",
    OPENAI_BASE_URL: "http://127.0.0.1:9000/v1",
    OTHER_KEY: "other",
    SECRETS_KEY: KEY,
  };

  test("are sent to OpenAI and to OPENAI_BASE_URL", () => {
    expect(resolve(settings, "env:OPENAI_API_KEY", "https://api.openai.com/v1")).toBe("sk-1");
    expect(resolve(settings, "env:OPENAI_API_KEY", "http://127.0.0.1:9000/v1")).toBe("sk-1");
  });

  test.for([
    "https://evil.example/v1",
    "https://api.openai.com.evil.example/v1",
    "https://api.openai.com:444/v1",
    "http://127.0.0.1:9001/v1",
    "https://evil.example/?https://api.openai.com",
    "https://api.openai.com@evil.example/",
    "",
  ])("are not sent to %s", (url) => {
    expect(() => resolve(settings, "env:OPENAI_API_KEY", url)).toThrow(/SECRET_HOSTS/);
  });

  test("are sent nowhere unless SECRET_HOSTS names them", () => {
    for (const name of ["OTHER_KEY", "SECRETS_KEY", "TROUPE_OPEN", "constructor"]) {
      expect(() => resolve(settings, `env:${name}`, "https://api.openai.com/")).toThrow(
        /SECRET_HOSTS/,
      );
    }
    const listed = { ...settings, SECRET_HOSTS: '{"OTHER_KEY": ["models.example"]}' };
    expect(resolve(listed, "env:OTHER_KEY", "https://models.example/v1")).toBe("other");
    expect(resolve(listed, "env:OPENAI_API_KEY", "https://api.openai.com/v1")).toBe("sk-1");
    const narrowed = { ...settings, SECRET_HOSTS: '{"OPENAI_API_KEY": []}' };
    expect(() => resolve(narrowed, "env:OPENAI_API_KEY", "https://api.openai.com/v1")).toThrow(
      /SECRET_HOSTS/,
    );
  });

  test("report a secret that is not set, and nothing of its value", () => {
    expect(() => resolve({}, "env:OPENAI_API_KEY", "https://api.openai.com/")).toThrow(
      expect.objectContaining({ code: "secret_not_set", retryable: false }),
    );
    expect(() => resolve(settings, "env:OPENAI_API_KEY", "https://evil.example/")).not.toThrow(
      "sk-1",
    );
  });

  test.for(["[]", "{", '{"A": "b"}', '{"A": [1]}', "null", "7"])(
    "are refused with the setting %s",
    (SECRET_HOSTS) => {
      expect(() => secretResolver({ SECRET_HOSTS })).toThrow("SECRET_HOSTS");
    },
  );

  test("replace secrets that clients fall back on", () => {
    const look = settingOrReference(settings);
    expect(look("OPENAI_API_KEY")).toBe("env:OPENAI_API_KEY");
    expect(look("OPENAI_BASE_URL")).toBe("http://127.0.0.1:9000/v1");
    expect(look("GEMINI_API_KEY")).toBeUndefined();
    expect(look("SECRETS_KEY")).toBe("env:SECRETS_KEY");
  });
});
