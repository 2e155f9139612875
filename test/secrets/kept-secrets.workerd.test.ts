import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  a2aComponents,
  Catalog,
  type ComponentModel,
  ComponentRegistry,
  coreComponents,
  httpToolComponents,
  type Json,
  type JsonObject,
  mcpComponents,
  openAIComponents,
} from "troupe";
import { keyAddressOf } from "#components/models/key-address.ts";
import { REDACTED } from "#secrets/redacted-secrets.ts";
import { SealedSecrets } from "#secrets/sealed-secrets.ts";
import { casesOf } from "../support/samples.ts";

const registry = new ComponentRegistry().register(
  ...coreComponents(new Catalog()),
  ...openAIComponents(),
  ...httpToolComponents(),
  ...mcpComponents({}),
  ...a2aComponents(),
);
const secrets = new SealedSecrets(btoa("k".repeat(32)), {
  loadedPaths: async (component) => registry.loadedPaths(component),
  keyUrl: (component) => keyAddressOf(component, {})?.url,
});

const SECRET = "plain-secret";

const component = (provider: string, config: JsonObject): ComponentModel => ({ provider, config });
const workbench = (server_params: JsonObject): ComponentModel =>
  component("autogen_ext.tools.mcp.McpWorkbench", { server_params, tool_overrides: {} });

/** Components with secrets in all the places that ours have. */
const OWNERS: Record<string, ComponentModel> = {
  "an OpenAI client": component("autogen_ext.models.openai.OpenAIChatCompletionClient", {
    model: "gpt-4o",
    api_key: SECRET,
    base_url: "https://models.example/v1",
    organization: "acme",
    default_headers: { "x-tenant": SECRET },
    temperature: 0.5,
  }),
  "an Azure client": component("autogen_ext.models.openai.AzureOpenAIChatCompletionClient", {
    model: "gpt-4o",
    api_key: SECRET,
    azure_endpoint: "https://x.openai.azure.com",
    azure_deployment: "main",
    api_version: "2024-06-01",
  }),
  "an Ollama client": component("autogen_ext.models.ollama.OllamaChatCompletionClient", {
    model: "llama3.2",
    host: "https://models.example",
    headers: { "x-key": SECRET },
  }),
  "an HTTP tool": component("autogen_ext.tools.http.HttpTool", {
    name: "ask",
    description: "Asks.",
    scheme: "https",
    host: "api.example",
    port: 443,
    path: "/v1/ask",
    method: "POST",
    headers: { "x-key": SECRET, accept: "text/plain" },
    json_schema: { type: "object", properties: {} },
  }),
  "a program": workbench({
    type: "StdioServerParams",
    command: "serve",
    args: ["--fast"],
    env: { SERVICE_LOGIN: SECRET, NODE_OPTIONS: SECRET },
    cwd: "servers",
  }),
  "an MCP server": workbench({
    type: "StreamableHttpServerParams",
    url: `https://mcp.example/acme?key=${SECRET}&v=1`,
    headers: { "x-key": SECRET },
    oauth: {
      client_id: "troupe",
      client_secret: SECRET,
      issuer: "https://login.example/acme",
      scope: "tools",
    },
    timeout: 5,
  }),
  "an A2A agent": component("troupe.agents.A2AAgent", {
    name: "remote",
    description: "Elsewhere.",
    url: "https://agents.example/acme",
    headers: { "x-key": SECRET },
  }),
};

/** What may be changed beside a secret, in these components; also `model`, where that does not change the server. */
const HARMLESS =
  /^(label|description|config\.(model|name|description|temperature|json_schema|tool_overrides|timeout|server_params\.timeout)(\.|$))/;

/** A place in JSON. */
type Keys = (string | number)[];

function placesIn(value: Json, keys: Keys = []): Keys[] {
  if (typeof value !== "object" || value === null) return [keys];
  const entries: [string | number, Json][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return [keys, ...entries.flatMap(([key, item]) => placesIn(item, [...keys, key]))];
}

function at(value: Json, keys: Keys): Json | undefined {
  let found: Json | undefined = value;
  for (const key of keys) found = (found as Record<string | number, Json> | undefined)?.[key];
  return found;
}

/** A copy with another value at a place; without it where the value is undefined. */
function changed(json: JsonObject, keys: Keys, value: Json | undefined): JsonObject {
  const copy = structuredClone(json);
  const last = keys.at(-1)!;
  const around = at(copy, keys.slice(0, -1)) as Record<string | number, Json>;
  if (value !== undefined) around[last] = value;
  else if (Array.isArray(around)) around.splice(Number(last), 1);
  else delete around[last];
  return copy;
}

/** Makes something else of a value: an attacker's server or program, a decoy, nothing at all. */
const MUTATIONS: Record<string, (value: Json) => Json | undefined> = {
  elsewhere: (value) => (typeof value === "string" ? "https://evil.example/" : undefined),
  longer: (value) => (typeof value === "string" ? `${value}x` : undefined),
  number: (value) => (typeof value === "number" ? value + 1 : undefined),
  removed: () => undefined,
  emptied: (value) => (Array.isArray(value) ? [] : typeof value === "object" ? {} : undefined),
  added: (value) =>
    Array.isArray(value)
      ? [...value, "more"]
      : typeof value === "object" && value !== null
        ? { ...value, LD_PRELOAD: "./evil.so" }
        : undefined,
  decoy: (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? {
          ...value,
          provider: "autogen_ext.tools.mcp.McpWorkbench",
          config: structuredClone(value),
          url: "https://evil.example/",
          command: "evil",
        }
      : undefined,
};

/** In an agent, so that the secret belongs to a component inside another. */
function inAgent(inner: JsonObject): ComponentModel {
  const { provider } = inner as { provider: string };
  const client = component("autogen_ext.models.openai.OpenAIChatCompletionClient", {
    model: "gpt-4o",
  });
  const agent = (config: JsonObject): ComponentModel =>
    component("autogen_agentchat.agents.AssistantAgent", {
      name: "helper",
      model_client: client,
      ...config,
    });
  if (provider.includes("A2A")) return inner as unknown as ComponentModel;
  if (provider.includes(".models.")) return agent({ model_client: inner });
  return agent(provider.includes("Workbench") ? { workbench: [inner] } : { tools: [inner] });
}

function ownerIn(agent: JsonObject): { keys: Keys; owner: JsonObject } {
  const keys = [["config", "workbench", 0], ["config", "tools", 0], ["config", "model_client"], []];
  const found = keys.find((place) => JSON.stringify(at(agent, place))?.includes(REDACTED)) ?? [];
  return { keys: found, owner: at(agent, found) as JsonObject };
}

const names = Object.keys(OWNERS);

describe("a kept secret", () => {
  test("is refused beside any change that is not known to be harmless", async () => {
    const sealed = new Map<string, ComponentModel>();
    for (const name of names) {
      sealed.set(name, await secrets.seal(inAgent(OWNERS[name] as unknown as JsonObject), null));
    }
    const accepted: string[] = [];
    const refused: string[] = [];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.constantFrom(...Object.keys(MUTATIONS)),
        fc.nat(),
        async (name, mutation, which) => {
          const stored = sealed.get(name)!;
          const shown = secrets.redact(stored) as unknown as JsonObject;
          const { keys, owner } = ownerIn(shown);
          const places = placesIn(owner).filter((place) => place.length > 0);
          const place = places[which % places.length]!;
          const before = at(owner, place)!;
          const after = MUTATIONS[mutation]!(before);
          fc.pre(after !== undefined || mutation === "removed");
          const last = String(place.at(-1));
          // A secret that is named as one may be given again, or taken away.
          fc.pre(!/^(api_key|client_secret)$/.test(last));
          const next = changed(shown, [...keys, ...place], after);
          // Without a marker no secret is kept.
          fc.pre(/["=]\*{10}["&]/.test(JSON.stringify(next)));
          const what = `${name}: ${place.join(".")} ${mutation}`;
          const result = await secrets.seal(next as unknown as ComponentModel, stored).then(
            () => accepted,
            () => refused,
          );
          result.push(what);
          if (!HARMLESS.test(place.join("."))) expect(result, what).toBe(refused);
        },
      ),
      { numRuns: casesOf(2_000), seed: 23 },
    );
    // Both happened: neither is everything refused, nor is nothing changed.
    expect(accepted.length).toBeGreaterThan(casesOf(20));
    expect(refused.length).toBeGreaterThan(casesOf(500));
  });

  const stored = (owner: JsonObject) => secrets.seal(inAgent(owner), null);

  test.for<[string, string, Keys, Json]>([
    ["the model of a maker", "an OpenAI client", ["config", "model"], "gpt-4o-mini"],
    ["how a model answers", "an OpenAI client", ["config", "temperature"], 1],
    ["how long an answer may take", "an MCP server", ["config", "server_params", "timeout"], 60],
    ["a model of the same server", "an Ollama client", ["config", "model"], "qwen3"],
    ["the description of a tool", "an HTTP tool", ["config", "description"], "Asks again."],
    [
      "a new secret beside it",
      "an MCP server",
      ["config", "server_params", "oauth", "client_secret"],
      "new",
    ],
  ])("remains with %s changed", async ([, name, place, value]) => {
    const before = await stored(OWNERS[name] as unknown as JsonObject);
    const shown = secrets.redact(before) as unknown as JsonObject;
    const next = changed(shown, [...ownerIn(shown).keys, ...place], value);
    const opened = await secrets.open(
      await secrets.seal(next as unknown as ComponentModel, before),
    );
    expect(JSON.stringify(opened)).toContain(SECRET);
    expect(at(opened as unknown as JsonObject, [...ownerIn(shown).keys, ...place])).toBe(value);
  });

  test("does not go to another maker by the name of the model", async () => {
    const { base_url: _, ...config } = OWNERS["an OpenAI client"]!.config;
    const owner = { ...OWNERS["an OpenAI client"]!, config } as unknown as JsonObject;
    const before = await stored(owner);
    const shown = secrets.redact(before) as unknown as JsonObject;
    const with_ = (model: string) =>
      secrets.seal(
        changed(
          shown,
          ["config", "model_client", "config", "model"],
          model,
        ) as unknown as ComponentModel,
        before,
      );
    await expect(with_("gpt-4o-mini")).resolves.toBeDefined();
    await expect(with_("claude-sonnet-4-5")).rejects.toMatchObject({
      issues: [{ message: expect.stringContaining("config.model ") }, {}],
    });
  });

  test("is not found at a place whose path only reads the same", async () => {
    const tool = OWNERS["an HTTP tool"] as unknown as JsonObject;
    const before = await stored(tool);
    const shown = secrets.redact(before) as unknown as JsonObject;
    const evil = changed(shown, ["config", "tools", 0, "config", "host"], "evil.example");
    const next = changed(
      changed(evil, ["config", "tools", 0, "config", "headers", "x-key"], "fresh"),
      ["config", "tools[0]"],
      at(shown, ["config", "tools", 0]),
    );
    await expect(secrets.seal(next as unknown as ComponentModel, before)).rejects.toMatchObject({
      code: "component_value",
    });
  });
});

describe("a secret of an agent", () => {
  const at_ = (name: string, host: string, api_key = REDACTED): ComponentModel =>
    component("autogen_agentchat.agents.AssistantAgent", {
      name,
      model_client: component("autogen_ext.models.openai.OpenAIChatCompletionClient", {
        model: "gpt-4o",
        api_key,
        base_url: `https://${host}.example/v1`,
      }),
    });
  const teamOf = (...participants: ComponentModel[]): ComponentModel =>
    component("autogen_agentchat.teams.RoundRobinGroupChat", {
      participants: participants,
    });
  const plain = component("autogen_agentchat.agents.UserProxyAgent", { name: "human" });
  const stored = teamOf(
    plain,
    at_("a", "one", "key-a"),
    at_("b", "one", "key-b"),
    at_("c", "two", "key-c"),
  );

  /** The keys by agent after the change. */
  async function keysAfter(given: ComponentModel): Promise<Record<string, string | undefined>> {
    const opened = await secrets.open(await secrets.seal(given, await secrets.seal(stored, null)));
    const { participants } = opened.config as unknown as { participants: ComponentModel[] };
    const entries = participants.map(({ config }) => {
      const { name, model_client: client } = config as {
        name: string;
        model_client?: { config: { api_key: string } };
      };
      return [name, client?.config.api_key] as const;
    });
    return Object.fromEntries(entries);
  }

  test.for<[string, ComponentModel, Record<string, string>]>([
    [
      "is moved",
      teamOf(at_("c", "two"), at_("b", "one"), plain, at_("a", "one")),
      { a: "key-a", b: "key-b", c: "key-c" },
    ],
    [
      "comes after one that was removed",
      teamOf(at_("b", "one"), at_("c", "two")),
      { b: "key-b", c: "key-c" },
    ],
    [
      "has another name",
      teamOf(plain, at_("a", "one"), at_("z", "one"), at_("c", "two")),
      { a: "key-a", z: "key-b", c: "key-c" },
    ],
    [
      "has another name and another place",
      teamOf(at_("z", "one"), plain, at_("a", "one"), at_("c", "two")),
      { a: "key-a", z: "key-b", c: "key-c" },
    ],
    [
      "is the name of another one now",
      teamOf(plain, at_("b", "one"), at_("a", "one"), at_("c", "two")),
      { a: "key-a", b: "key-b", c: "key-c" },
    ],
    // As it was found before there were names: the servers did not change.
    [
      "got the name of one with another server",
      teamOf(plain, at_("c", "one"), at_("b", "one"), at_("a", "two")),
      { c: "key-a", b: "key-b", a: "key-c" },
    ],
  ])("is kept when it %s", async ([, given, keys]) => {
    expect(await keysAfter(given)).toMatchObject(keys);
  });

  test.for<[string, ComponentModel, string]>([
    [
      "a name is taken over",
      teamOf(plain, at_("a", "evil")),
      "participants[1].config.model_client.config.base_url",
    ],
    [
      "servers are swapped",
      teamOf(plain, at_("a", "two"), at_("b", "one"), at_("c", "one")),
      "participants[1].config.model_client.config.base_url",
    ],
    [
      "names and places are swapped",
      teamOf(at_("b", "two"), at_("c", "evil"), plain),
      "participants[0].config.model_client.config.base_url",
    ],
    [
      "an agent is moved and changed",
      teamOf(at_("c", "evil"), plain),
      "participants[0].config.model_client.config.base_url",
    ],
    [
      "a new agent comes first",
      teamOf(at_("z", "one"), plain, at_("a", "one"), at_("b", "one"), at_("c", "two")),
      "participants[0].config.model_client.config.api_key",
    ],
  ])("is not sent elsewhere when %s", async ([, given, place]) => {
    const refused = await keysAfter(given).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "component_value" });
    expect(JSON.stringify((refused as { issues: unknown }).issues)).toContain(place);
  });

  test("is sent to no other server, however agents are named and placed", async () => {
    const before = await secrets.seal(stored, null);
    const server = { "key-a": "one", "key-b": "one", "key-c": "two" };
    const one = fc.record({
      name: fc.constantFrom("a", "b", "c", "d", "human"),
      host: fc.constantFrom("one", "two", "evil"),
    });
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 5 }), async (agents) => {
        const given = teamOf(...agents.map(({ name, host }) => at_(name, host)));
        const sealed = await secrets.seal(given, before).catch(() => undefined);
        if (sealed === undefined) return;
        const { participants } = (await secrets.open(sealed)).config as unknown as {
          participants: {
            config: { model_client: { config: { api_key: keyof typeof server } } };
          }[];
        };
        for (const [index, { config }] of participants.entries()) {
          kept += 1;
          expect(server[config.model_client.config.api_key]).toBe(agents[index]?.host);
        }
      }),
      { numRuns: casesOf(500), seed: 28 },
    );
    expect(kept).toBeGreaterThan(casesOf(20));
  });

  test("is found in a workbench, which has no name, if others before it are gone", async () => {
    const bench = (host: string, key: string): ComponentModel =>
      workbench({
        type: "StreamableHttpServerParams",
        url: `https://${host}.example/mcp`,
        headers: { "x-key": key },
      });
    const helper = (...benches: ComponentModel[]): ComponentModel =>
      component("autogen_agentchat.agents.AssistantAgent", {
        name: "helper",
        model_client: component("autogen_ext.models.openai.OpenAIChatCompletionClient", {
          model: "gpt-4o",
        }),
        workbench: benches,
      });
    const before = await secrets.seal(helper(bench("one", "key-1"), bench("two", "key-2")), null);
    const after = await secrets.open(await secrets.seal(helper(bench("two", REDACTED)), before));
    expect(after).toEqual(helper(bench("two", "key-2")));
    const evil = secrets.seal(helper(bench("evil", REDACTED), bench("one", REDACTED)), before);
    await expect(evil).rejects.toMatchObject({ code: "component_value" });
  });
});
