import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ComponentRegistry, openAIComponents } from "troupe";
import type { ChatCompletionClient, JsonObject, ModelDependencies } from "troupe";
import { secretResolver, settingOrReference } from "#secrets/secret-hosts.ts";
import { user } from "../support.ts";

const paths: string[] = [];
const keys: (string | undefined)[] = [];
const server = createServer(({ url = "", headers }, response) => {
  paths.push(url);
  keys.push(headers.authorization ?? String(headers["x-api-key"]));
  response.writeHead(400, { "content-type": "application/json" });
  response.end('{"error": {"message": "Not here."}}');
});
let settings: Record<string, string>;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  settings = {
    AI_GATEWAY_URL: `http://127.0.0.1:${port}/v1/account/desk/`,
    OPENAI_API_KEY: "of-openai",
    ANTHROPIC_API_KEY: "of-anthropic",
    GEMINI_API_KEY: "of-google",
    LLAMA_API_KEY: "of-llama",
    SECRET_HOSTS: JSON.stringify({
      ANTHROPIC_API_KEY: ["api.anthropic.com"],
      GEMINI_API_KEY: ["generativelanguage.googleapis.com"],
      LLAMA_API_KEY: ["api.llama.com"],
    }),
  };
});

afterAll(async () => {
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

function client(name: string, config: JsonObject): ChatCompletionClient {
  const dependencies: ModelDependencies = {
    env: settingOrReference(settings),
    secret: secretResolver(settings),
  };
  const definition = openAIComponents(dependencies).find((one) =>
    one.provider.endsWith(`.${name}`),
  );
  if (definition === undefined) throw new Error(`no ${name}`);
  const parsed = definition.configSchema.parse(config);
  return definition.fromConfig(parsed, new ComponentRegistry()) as ChatCompletionClient;
}

test.for([
  ["OpenAIChatCompletionClient", "gpt-4o", "/openai/chat/completions", "Bearer of-openai"],
  [
    "OpenAIChatCompletionClient",
    "gemini-2.5-flash",
    "/google-ai-studio/v1beta/openai/chat/completions",
    "Bearer of-google",
  ],
  ["AnthropicChatCompletionClient", "claude-opus-4-8", "/anthropic/v1/messages", "of-anthropic"],
] as const)("%s asks %s behind the gateway", async ([name, model, path, key]) => {
  await expect(client(name, { model }).create([user("Hello.")])).rejects.toThrow("Not here.");
  expect(paths.at(-1)).toBe(`/v1/account/desk${path}`);
  expect(keys.at(-1)).toBe(key);
});

test("a secret for another maker is not sent to the gateway", () => {
  const resolve = secretResolver(settings);
  const gateway = settings["AI_GATEWAY_URL"] ?? "";
  expect(resolve("env:ANTHROPIC_API_KEY", gateway)).toBe("of-anthropic");
  expect(() => resolve("env:LLAMA_API_KEY", gateway)).toThrow("may not be sent to");
});
