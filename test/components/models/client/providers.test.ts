import { describe, expect, test } from "vitest";
import {
  AzureOpenAIChatCompletionClient,
  ComponentRegistry,
  ModelError,
  OpenAIChatCompletionClient,
  dumpComponent,
  openAIComponents,
} from "troupe";
import type {
  ChatCompletionClient,
  JsonObject,
  ModelDependencies,
  OutgoingDependencies,
} from "troupe";
import { secretResolver, settingOrReference } from "#secrets/secret-hosts.ts";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { aiBinding, customInfo, user } from "../support.ts";

const OPENAI = "autogen_ext.models.openai.OpenAIChatCompletionClient";
const AZURE = "autogen_ext.models.openai.AzureOpenAIChatCompletionClient";
const ANTHROPIC = "autogen_ext.models.anthropic.AnthropicChatCompletionClient";
const WORKERS_AI = "troupe.models.WorkersAIChatCompletionClient";
const OLLAMA = "autogen_ext.models.ollama.OllamaChatCompletionClient";

/** `customInfo` in component JSON. */
const CUSTOM_INFO = {
  vision: false,
  function_calling: true,
  json_output: false,
  structured_output: false,
  family: "unknown",
};

/** A model of each catalogue but OpenAI's. */
const KNOWN_MODELS: { readonly [provider: string]: string } = {
  [OLLAMA]: "qwen3:8b",
  [ANTHROPIC]: "claude-opus-4-8",
  [WORKERS_AI]: "@cf/zai-org/glm-4.7-flash",
};

function load(
  provider: string,
  config: JsonObject,
  dependencies: ModelDependencies = {},
): ChatCompletionClient {
  const definition = openAIComponents(dependencies).find((one) => one.provider === provider);
  if (definition === undefined) throw new Error(`no ${provider}`);
  const parsed = definition.configSchema.parse(config);
  return definition.fromConfig(parsed, new ComponentRegistry()) as ChatCompletionClient;
}

/** An environment with these settings only. */
const envOf = (settings: Record<string, string>): OutgoingDependencies => ({
  env: (name) => settings[name],
});

describe("the config of a client", () => {
  test.each<[string, JsonObject]>([
    [
      OPENAI,
      {
        model: "gpt-4o-mini",
        api_key: "env:MY_KEY",
        base_url: "https://models.example/v1",
        temperature: 0.2,
        model_info: CUSTOM_INFO,
      },
    ],
    [
      AZURE,
      {
        model: "gpt-4o",
        azure_endpoint: "https://x.openai.azure.com/",
        azure_deployment: "d",
        api_version: "2024-06-01",
        azure_ad_token: "env:TOKEN",
      },
    ],
    [
      OLLAMA,
      {
        model: "llama3.2",
        host: "http://gpu:11434",
        follow_redirects: true,
        options: { num_ctx: 4096 },
        keep_alive: -1,
      },
    ],
    [
      ANTHROPIC,
      {
        model: "claude-sonnet-4-5",
        api_key: "env:CLAUDE_KEY",
        base_url: "https://claude.example",
        max_tokens: 1000,
        top_k: 5,
        stop_sequences: ["END"],
        metadata: { user_id: "u" },
        thinking: { type: "enabled", budget_tokens: 2048 },
        response_format: { type: "text" },
        max_retries: 3,
        tools: [{ name: "x" }],
        tool_choice: "any",
        cache_control: { type: "ephemeral" },
      },
    ],
    [
      WORKERS_AI,
      { model: "@cf/openai/gpt-oss-120b", temperature: 0.1, response_format: { type: "text" } },
    ],
  ])("that is %s is dumped as it was loaded, secrets and all", (provider, config) => {
    const client = load(
      provider,
      { ...config, timeout: null },
      { ...envOf({}), ai: aiBinding("") },
    );
    expect(dumpComponent(client)).toEqual({
      provider,
      component_type: "model",
      version: 1,
      component_version: 1,
      config,
    });
  });

  describe("an azure_ad_token_provider", () => {
    const config = {
      model: "gpt-4o",
      azure_endpoint: "https://x.openai.azure.com/",
      api_version: "2024-06-01",
      azure_ad_token_provider: {
        provider: "autogen_ext.auth.azure.AzureTokenProvider",
        component_type: "token_provider",
        config: { provider_kind: "DefaultAzureCredential", scopes: ["x/.default"] },
      },
    };
    const registryOf = (env: Record<string, string>) =>
      new ComponentRegistry().register(...openAIComponents(envOf(env)));

    test("is refused with the alternative if there is no other credential", () => {
      expect(registryOf({}).validate({ provider: AZURE, config })).toEqual([
        {
          path: "component.config.azure_ad_token_provider.provider",
          message: expect.stringMatching(/AzureTokenProvider.*api_key or an azure_ad_token/),
        },
      ]);
    });

    test.each<[JsonObject, Record<string, string>]>([
      [{ api_key: "env:KEY" }, {}],
      [{ azure_ad_token: "env:TOKEN" }, {}],
      [{}, { AZURE_OPENAI_API_KEY: "key" }],
    ])("is noted beside %j and %j", (credential, env) => {
      const registry = registryOf(env);
      const model = { provider: AZURE, config: { ...config, ...credential } };
      expect(registry.validate(model)).toEqual([]);
      expect(registry.notes(model)).toEqual([
        {
          path: "component.config.azure_ad_token_provider",
          message: expect.stringMatching(/no effect.*api_key or azure_ad_token/),
        },
      ]);
      expect(dumpComponent(registry.load(model)).config).toEqual(model.config);
    });
  });

  test.each(["not a url", "//models.example/v1", "ftp://models.example", "models.example/v1"])(
    "that has the URL %s is invalid",
    (address) => {
      expect(() => load(OPENAI, { model: "gpt-4o", base_url: address })).toThrow(/http/);
      expect(() =>
        load(AZURE, { model: "gpt-4o", azure_endpoint: address, api_version: "2024-06-01" }),
      ).toThrow(/http/);
    },
  );

  test("may have a model_info that replaces the catalogue's", () => {
    expect(load(OPENAI, { model: "gpt-4o", model_info: CUSTOM_INFO }).modelInfo).toEqual(
      customInfo,
    );
    const { family: _, ...model_capabilities } = CUSTOM_INFO;
    expect(load(OPENAI, { model: "my-model", model_capabilities }).modelInfo).toEqual(customInfo);
    expect(() => load(OPENAI, { model: "m", model_capabilities, model_info: CUSTOM_INFO })).toThrow(
      "model_capabilities",
    );
  });

  test.each([
    [OPENAI, {}],
    [AZURE, { azure_endpoint: "https://x.openai.azure.com", api_version: "2024-06-01" }],
    [OLLAMA, {}],
    [ANTHROPIC, {}],
    [WORKERS_AI, {}],
  ])(
    "that is %s with an unknown model loads, and a note states the assumptions",
    (provider, config) => {
      const unknown = { ...config, model: "my-model" };
      expect(load(provider, unknown, { ai: aiBinding("") }).modelInfo).toEqual({
        vision: false,
        functionCalling: true,
        jsonOutput: true,
        family: "unknown",
        structuredOutput: false,
        multipleSystemMessages: false,
      });
      const registry = new ComponentRegistry().register(...openAIComponents());
      expect(registry.notes({ provider, config: unknown }, "component")).toEqual([
        {
          path: "component.config.model",
          message: expect.stringMatching(/'my-model'.*function_calling.*model_info/) as string,
        },
      ]);
      for (const known of [
        { ...unknown, model_info: CUSTOM_INFO },
        { ...config, model: KNOWN_MODELS[provider] ?? "gpt-5.4" },
      ]) {
        expect(registry.notes({ provider, config: known }, "component")).toEqual([]);
      }
    },
  );

  test("that has an invalid field is refused by its name", () => {
    const bad = { model: "gpt-4o", temperature: "hot" } as unknown as { model: string };
    expect(() => new OpenAIChatCompletionClient(bad)).toThrow(/temperature/);
    expect(() => new OpenAIChatCompletionClient({ model: "" })).toThrow(/model/);
  });
});

describe("the keys and addresses of a client", () => {
  test("come from the environment if the config has none", async () => {
    await using fake = await startFakeOpenAI({ apiKey: "from-env" });
    const env = { OPENAI_API_KEY: "from-env", OPENAI_BASE_URL: fake.url, OPENAI_ORG_ID: "org-9" };
    await load(OPENAI, { model: "gpt-4o" }, envOf(env)).create([user("Hi")]);
    expect(fake.requests[0]?.headers).toMatchObject({ "openai-organization": "org-9" });
  });

  test("cause an error of the call with the remedy if a key is missing", async () => {
    const client = load(OPENAI, { model: "gpt-4o" }, envOf({}));
    const error: unknown = await client.create([user("Hi")]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ kind: "auth", retryable: false });
    expect((error as Error).message).toMatch(/no api_key.*OPENAI_API_KEY is not set/);
    const named = load(OPENAI, { model: "gpt-4o", api_key: "env:GONE" }, envOf({}));
    await expect(named.create([user("Hi")])).rejects.toThrow("'GONE'");
  });

  test("may be any text for a local server without a key, and no setting is to blame", async () => {
    const settings = { OPENAI_API_KEY: "sk-real", TROUPE_OPEN: "1" };
    const client = load(
      OPENAI,
      { model: "gpt-4o", base_url: "http://localhost:1234/v1" },
      { env: settingOrReference(settings), secret: secretResolver(settings) },
    );
    const error: unknown = await client.create([user("Hi")]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "auth", retryable: false });
    expect((error as Error).message).toMatch(/"localhost:1234".*any text will do/);
    expect((error as Error).message).not.toContain("SECRET_HOSTS");
  });

  test("include ANTHROPIC_API_KEY for Anthropic's client, and its absence is named", async () => {
    await using fake = await startFakeOpenAI({ apiKey: "from-env" });
    const config = { model: "claude-sonnet-4-5", base_url: fake.origin };
    const client = load(ANTHROPIC, config, envOf({ ANTHROPIC_API_KEY: "from-env" }));
    expect(await client.create([user("Hi")])).toMatchObject({ finish_reason: "stop" });
    await expect(load(ANTHROPIC, config, envOf({})).create([user("Hi")])).rejects.toMatchObject({
      kind: "auth",
      message: expect.stringMatching(/no api_key.*ANTHROPIC_API_KEY is not set/) as string,
    });
  });

  test("may be references, which are looked up with the URL that they go to, also in headers", async () => {
    await using fake = await startFakeOpenAI({ apiKey: "opened-KEY" });
    const asked: string[][] = [];
    const secret = (ref: string, url: string): string => {
      asked.push([ref, url]);
      return `opened-${ref.slice(4)}`;
    };
    const config = {
      model: "gpt-4o",
      base_url: fake.url,
      api_key: "env:KEY",
      default_headers: { "x-token": "Bearer env:OTHER", "x-plain": "as it is" },
    };
    await load(OPENAI, config, { secret }).create([user("Hi")]);
    expect(asked).toEqual([
      ["env:KEY", fake.url],
      ["env:OTHER", fake.url],
    ]);
    expect(fake.requests[0]?.headers).toMatchObject({
      authorization: "Bearer opened-KEY",
      "x-token": "Bearer opened-OTHER",
      "x-plain": "as it is",
    });
  });

  test("keep refusals of the host unchanged", async () => {
    const refusal = new ModelError("auth", "not for this host");
    const secret = (): string => {
      throw refusal;
    };
    const client = load(OPENAI, { model: "gpt-4o", api_key: "env:KEY" }, { secret });
    await expect(client.create([user("Hi")])).rejects.toBe(refusal);
    const closed = load(
      OPENAI,
      { model: "gpt-4o", api_key: "k" },
      { fetch: () => Promise.reject(refusal) },
    );
    await expect(closed.create([user("Hi")])).rejects.toBe(refusal);
  });

  test.each([
    ["gemini-2.0-flash", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/"],
    ["claude-3-5-haiku", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1/chat/"],
    ["Llama-3.3-8B-Instruct", "LLAMA_API_KEY", "https://api.llama.com/compat/v1/chat/"],
    ["gpt-4o", "OPENAI_API_KEY", "https://api.openai.com/v1/chat/completions"],
  ])("send %s to its maker with %s", async (model, name, address) => {
    const calls: { url: string; key: string | null }[] = [];
    const fetch: NonNullable<OutgoingDependencies["fetch"]> = async (input, init) => {
      const key = new Headers(init?.headers).get("authorization");
      calls.push({ url: new Request(input).url, key });
      return Response.json({ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] });
    };
    const client = load(OPENAI, { model }, { ...envOf({ [name]: "maker-key" }), fetch });
    expect((await client.create([user("Hi")])).content).toBe("Hi");
    expect(calls).toHaveLength(1);
    expect(calls[0]?.url.startsWith(address)).toBe(true);
    expect(calls[0]?.key).toBe("Bearer maker-key");
  });
});

describe("a client of Azure", () => {
  test("calls a deployment and version with its own key header", async () => {
    await using fake = await startFakeOpenAI({ apiKey: "azure-key" });
    const config = {
      model: "gpt-4o",
      azureEndpoint: `${fake.origin}/`,
      azureDeployment: "my deployment",
      apiVersion: "2024-06-01",
      apiKey: "azure-key",
    };
    const client = new AzureOpenAIChatCompletionClient(config);
    const whole = await client.create([user("Hi")]);
    expect(whole.finish_reason).toBe("stop");
    const path = "/openai/deployments/my%20deployment/chat/completions?api-version=2024-06-01";
    expect(fake.requests[0]).toMatchObject({ path, headers: { "api-key": "azure-key" } });
    expect(fake.requests[0]?.headers).not.toHaveProperty("authorization");
    const stream = client.createStream([user("Hi")]);
    let text = "";
    for await (const piece of stream) text += piece;
    expect(text).toBe(whole.content);
  });

  test("may use a token, for the model's own deployment", async () => {
    await using fake = await startFakeOpenAI({ apiKey: "entra-token" });
    const config = {
      model: "gpt-4o",
      azureEndpoint: fake.origin,
      apiVersion: "2024-06-01",
      azureAdToken: "env:TOKEN",
    };
    const client = new AzureOpenAIChatCompletionClient(config, envOf({ TOKEN: "entra-token" }));
    await client.create([user("Hi")]);
    expect(fake.requests[0]).toMatchObject({
      path: "/openai/deployments/gpt-4o/chat/completions?api-version=2024-06-01",
      headers: { authorization: "Bearer entra-token" },
    });
    expect(fake.requests[0]?.headers).not.toHaveProperty("api-key");
  });
});
