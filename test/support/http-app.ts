import { Catalog, ComponentRegistry, coreComponents } from "troupe";
import { type AppOptions, createApp } from "#api/http/app.ts";
import { ModelPrices } from "#contract/usage/model-prices.ts";
import { localOnly } from "#api/auth/local.ts";
import { RedactedSecrets } from "#secrets/redacted-secrets.ts";
import { allowedOrigins } from "#api/http/access/cors.ts";
import { DEFAULT_LIMITS } from "#api/http/endpoint/limits.ts";
import { SAMPLE_COMPONENT } from "./sample-component.ts";
import { FakeGateway } from "./fake-gateway.ts";

/** The app over a gateway in memory. */
export function testApp(options: Partial<AppOptions> = {}): {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  gateway: FakeGateway;
  logged: string[];
} {
  const gateway = new FakeGateway();
  const logged: string[] = [];
  const app = createApp({
    gateway,
    tenants: undefined,
    memories: undefined,
    teamTokens: undefined,
    keySigner: undefined,
    origins: allowedOrigins(undefined),
    requestsPerSecond: 1_000,
    files: undefined,
    fetch: () => Promise.reject(new Error("nothing is fetched in this test")),
    documents: undefined,
    components: new ComponentRegistry({
      depth: DEFAULT_LIMITS.max_component_depth,
      components: DEFAULT_LIMITS.max_components,
    }).register(...coreComponents(new Catalog())),
    models: async () => [],
    redactedSecrets: new RedactedSecrets({}),
    health: async () => ({ code: "off" }),
    templates: async () => [
      {
        name: "sample",
        description: "Two who repeat themselves.",
        component: SAMPLE_COMPONENT,
      },
    ],
    checkWebhookUrl: () => undefined,
    notifications: { telegramApi: "https://api.telegram.org", sendsEmail: false },
    answerLinks: undefined,
    baseUrl: ({ url }) => new URL(url).origin,
    emailDomain: undefined,
    limits: DEFAULT_LIMITS,
    prices: ModelPrices.parse(undefined),
    currency: null,
    hasSkill: () => false,
    authenticate: localOnly(new Set(), async () => undefined),
    resources: { issuer: undefined, baseUrl: ({ url }) => new URL(url).origin },
    version: "0.0.0",
    log: (line) => logged.push(line),
    ...options,
  });
  return {
    fetch: async (path, init) =>
      app.fetch(new Request(new URL(path, "http://localhost:8787"), init)),
    gateway,
    logged,
  };
}

/** An init with a JSON body. */
export function jsonInit(
  body: unknown,
  method = "POST",
  headers: Record<string, string> = {},
): RequestInit {
  return {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}
