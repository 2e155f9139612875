import { describe, expect, test } from "vitest";
import {
  AzureOpenAIChatCompletionClient,
  Catalog,
  ComponentRegistry,
  coreComponents,
  openAIComponents,
} from "troupe";
import type { ComponentModel, JsonObject } from "troupe";
import { keyAddressOf } from "#components/models/key-address.ts";
import { RedactedSecrets } from "#secrets/redacted-secrets.ts";
import { jsonInit, testApp } from "../../support/http-app.ts";

const REDACTED = "**********";

/** The service with these settings. */
function serviceWith(settings: Record<string, string>) {
  const env = (name: string): string | undefined => settings[name];
  return testApp({
    components: new ComponentRegistry().register(
      ...coreComponents(new Catalog()),
      ...openAIComponents(),
    ),
    redactedSecrets: new RedactedSecrets(settings, (component) => keyAddressOf(component, { env })),
  });
}

/** An agent as AutoGen dumps it. */
function agent(config: JsonObject, client = "openai.OpenAIChatCompletionClient"): ComponentModel {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    version: 2,
    config: {
      name: "helper",
      description: "Helps.",
      model_client: {
        provider: `autogen_ext.models.${client}`,
        component_type: "model",
        version: 1,
        config: { model: "gpt-4o", ...config },
      },
      tools: [],
      model_client_stream: false,
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
    },
  };
}

const PATH = "component.config.model_client.config.api_key";

interface Answer {
  status: number;
  body: {
    notes?: { path: string; message: string }[];
    errors?: { path: string; message: string }[];
    component?: { config: { model_client: { config: JsonObject } } };
  };
}

async function ask(
  service: ReturnType<typeof serviceWith>,
  path: string,
  component: ComponentModel,
  method = "POST",
): Promise<Answer> {
  const response = await service.fetch(path, jsonInit({ component }, method));
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

describe("a key that AutoGen has redacted", () => {
  test("is replaced by the Worker's secret for the model's host, and a note says so", async () => {
    const service = serviceWith({ OPENAI_API_KEY: "sk-real" });
    const dump = agent({ api_key: REDACTED });
    const note = { path: PATH, message: 'was redacted and is replaced by "env:OPENAI_API_KEY"' };
    const validated = await ask(service, "/v1/components/validate", dump);
    expect(validated).toEqual({ status: 200, body: { valid: true, notes: [note] } });
    const created = await ask(service, "/v1/teams", dump);
    expect(created.status).toBe(201);
    expect(created.body.notes).toEqual([note]);
    expect(created.body.component?.config.model_client.config["api_key"]).toBe(
      "env:OPENAI_API_KEY",
    );
  });

  test.each<[string, Record<string, string>, JsonObject, string | undefined, RegExp]>([
    ["without the secret", {}, {}, undefined, /"env:OPENAI_API_KEY".*"api\.openai\.com"/],
    [
      "at a host that the secret may not be sent to",
      { OPENAI_API_KEY: "sk-real" },
      { base_url: "http://localhost:1234/v1" },
      undefined,
      /"localhost:1234".*any text/,
    ],
    [
      "of another maker",
      { OPENAI_API_KEY: "sk-real" },
      { model: "claude-sonnet-4-5" },
      undefined,
      /"env:ANTHROPIC_API_KEY".*"api\.anthropic\.com"/,
    ],
    [
      "of an Anthropic client",
      { OPENAI_API_KEY: "sk-real" },
      { base_url: "https://claude.example" },
      "anthropic.AnthropicChatCompletionClient",
      /"env:ANTHROPIC_API_KEY".*"claude\.example"/,
    ],
    [
      "of Azure",
      { OPENAI_API_KEY: "sk-real" },
      { azure_endpoint: "https://x.openai.azure.com", api_version: "2024-06-01" },
      "openai.AzureOpenAIChatCompletionClient",
      /"env:AZURE_OPENAI_API_KEY".*"x\.openai\.azure\.com"/,
    ],
    [
      "of Azure at an address that is a placeholder",
      { OPENAI_API_KEY: "sk-real" },
      { azure_endpoint: REDACTED, api_version: "2024-06-01" },
      "openai.AzureOpenAIChatCompletionClient",
      /"env:AZURE_OPENAI_API_KEY"/,
    ],
  ])(
    "is a note of validate and create, and refused in a replacement, with the same remedy %s",
    async (_, settings, config, client, text) => {
      const service = serviceWith(settings);
      const dump = agent({ api_key: REDACTED, ...config }, client);
      const validated = await ask(service, "/v1/components/validate", dump);
      expect(validated.status).toBe(200);
      expect(validated.body.notes).toContainEqual({
        path: PATH,
        message: expect.stringMatching(text),
      });
      const created = await ask(service, "/v1/teams", dump);
      expect(created.status).toBe(201);
      expect(created.body.notes).toEqual(validated.body.notes);
      expect(created.body.component?.config.model_client.config["api_key"]).toMatch(/^env:/);

      const { body } = await ask(service, "/v1/teams", agent({ api_key: "env:OPENAI_API_KEY" }));
      const id = (body as { id?: string }).id ?? "";
      const replaced = await ask(service, `/v1/teams/${id}/component`, dump, "PUT");
      expect(replaced.status).toBe(422);
      expect(replaced.body.errors?.length).toBeGreaterThan(0);
    },
  );

  test("is refused in a header, because nothing says which secret it was", async () => {
    const service = serviceWith({ OPENAI_API_KEY: "sk-real" });
    const dump = agent({
      api_key: "env:OPENAI_API_KEY",
      default_headers: { "x-key": REDACTED },
    });
    for (const path of ["/v1/components/validate", "/v1/teams"]) {
      const { status, body } = await ask(service, path, dump);
      expect(status).toBe(422);
      expect(body.errors?.[0]?.message).toMatch(/"env:NAME"/);
    }
  });

  test("a gateway's key is found by its host", async () => {
    const settings = { GROQ_API_KEY: "gsk", SECRET_HOSTS: '{"GROQ_API_KEY":["api.groq.com"]}' };
    const dump = agent({ api_key: REDACTED, base_url: "https://api.groq.com/openai/v1" });
    const { body } = await ask(serviceWith(settings), "/v1/components/validate", dump);
    expect(body.notes?.[0]?.message).toContain('"env:GROQ_API_KEY"');
  });

  test("that belongs to a new component of a team is replaced unless the team has stored one", async () => {
    const service = serviceWith({ OPENAI_API_KEY: "sk-real" });
    const dump = agent({ api_key: REDACTED });
    const { body } = await ask(service, "/v1/teams", agent({ api_key: "env:OPENAI_API_KEY" }));
    const id = (body as { id?: string }).id ?? "";
    const replaced = await ask(service, `/v1/teams/${id}/component`, dump, "PUT");
    expect(replaced.body.notes).toHaveLength(1);

    const secrets = new RedactedSecrets({});
    const json = dump as unknown as JsonObject;
    expect(secrets.resolve(json, json)).toEqual({
      component: json,
      notes: [],
      issues: [],
    });
    expect(secrets.resolve(json, {}).issues).toMatchObject([{ path: PATH }]);
  });
});

describe("an address that is a placeholder", () => {
  const ENDPOINT = "component.config.model_client.config.azure_endpoint";
  const azure = (endpoint: string): ComponentModel =>
    agent(
      { azure_endpoint: endpoint, api_version: "2024-06-01", api_key: "env:OPENAI_API_KEY" },
      "openai.AzureOpenAIChatCompletionClient",
    );

  test.each([
    "https://{your-custom-endpoint}.openai.azure.com/",
    "https://<resource>.openai.azure.com",
    "<your endpoint>",
    "YOUR_AZURE_ENDPOINT",
    REDACTED,
    "[REDACTED]",
  ])("is a note of validate and create: %s", async (endpoint) => {
    const service = serviceWith({ OPENAI_API_KEY: "sk-real" });
    for (const [path, status] of [
      ["/v1/components/validate", 200],
      ["/v1/teams", 201],
    ] as const) {
      const answer = await ask(service, path, azure(endpoint));
      expect(answer.status).toBe(status);
      expect(answer.body.notes).toContainEqual({
        path: ENDPOINT,
        message: `is a placeholder (${JSON.stringify(endpoint)}): replace it by the address of the model server, an https:// URL. Until then the model cannot be called`,
      });
    }
  });

  test("is refused where it comes in with a replacement, and stays where the team has it already", async () => {
    const service = serviceWith({ OPENAI_API_KEY: "sk-real" });
    const { body } = await ask(service, "/v1/teams", azure("https://x.openai.azure.com"));
    const path = `/v1/teams/${(body as { id?: string }).id ?? ""}/component`;
    const refused = await ask(service, path, azure("https://{x}.openai.azure.com"), "PUT");
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual([
      { path: ENDPOINT, message: expect.stringMatching(/is a placeholder/) },
    ]);
    const draft = await ask(service, "/v1/teams", azure("https://{x}.openai.azure.com"));
    const draftPath = `/v1/teams/${(draft.body as { id?: string }).id ?? ""}/component`;
    const kept = await ask(service, draftPath, azure("https://{x}.openai.azure.com"), "PUT");
    expect(kept.status).toBe(200);
  });

  test.each(["ftp://models.example", "models.example", "https://", "not an address"])(
    "is not any text that is not a URL: %s",
    async (endpoint) => {
      const service = serviceWith({ OPENAI_API_KEY: "sk-real" });
      const { status, body } = await ask(service, "/v1/teams", azure(endpoint));
      expect(status).toBe(422);
      expect(JSON.stringify(body.errors)).toContain("must be an http:// or https:// URL");
    },
  );

  test("fails when the model is called, before anything is sent", async () => {
    const sent: string[] = [];
    const client = new AzureOpenAIChatCompletionClient(
      {
        model: "gpt-4o",
        apiKey: "key",
        azureEndpoint: "https://{your-custom-endpoint}.openai.azure.com/",
        apiVersion: "2024-06-01",
      },
      {
        fetch: async (url) => {
          sent.push(url instanceof Request ? url.url : url.toString());
          return new Response();
        },
      },
    );
    const call = client.create([{ type: "UserMessage", source: "user", content: "Hello" }]);
    await expect(call).rejects.toMatchObject({
      code: "model_bad_request",
      retryable: false,
      message: expect.stringMatching(/^azure_endpoint of the model client is a placeholder/),
    });
    expect(sent).toEqual([]);
  });
});
