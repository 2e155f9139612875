import { describe, expect, test } from "vitest";
import {
  a2aComponents,
  type Component,
  ComponentRegistry,
  dumpComponent,
  httpToolComponents,
  type JsonObject,
  mcpComponents,
  sandboxComponents,
} from "troupe";

const sandbox = { url: "http://127.0.0.1:8788" };
const registry = new ComponentRegistry().register(
  ...a2aComponents(),
  ...httpToolComponents(),
  ...mcpComponents({ sandbox }),
  ...sandboxComponents(sandbox),
);

const SERVER = { type: "StreamableHttpServerParams", url: "https://mcp.example.com/mcp" };
const tool = { name: "say", inputSchema: { type: "object" } };

/** Components with their policy for a server that is away. */
const COMPONENTS: Record<string, (retry: object | undefined) => object> = {
  "troupe.code_executors.SandboxCodeExecutor": (retry) => ({ retry }),
  "autogen_ext.code_executors.docker.DockerCommandLineCodeExecutor": (retry) => ({ retry }),
  "autogen_ext.tools.mcp.McpWorkbench": (retry) => ({ server_params: { ...SERVER, retry } }),
  "autogen_ext.tools.mcp.StreamableHttpMcpToolAdapter": (retry) => ({
    server_params: { ...SERVER, retry },
    tool,
  }),
  "autogen_ext.tools.mcp.StdioMcpToolAdapter": (retry) => ({
    server_params: { type: "StdioServerParams", command: "npx", retry },
    tool,
  }),
  "troupe.agents.A2AAgent": (retry) => ({ name: "remote", url: "https://a.example.com/", retry }),
  "autogen_ext.tools.http.HttpTool": (retry) => ({
    name: "say",
    host: "api.example.com",
    json_schema: { type: "object", properties: {} },
    retry,
  }),
};

const load = (provider: string, config: object): Component =>
  registry.load({ provider, config: JSON.parse(JSON.stringify(config)) as JsonObject });

/** The policy in a dumped config, wherever it is. */
function dumpedRetry(component: Component): unknown {
  const { config } = dumpComponent(component);
  const { server_params: params } = config;
  return ((params ?? config) as JsonObject)["retry"];
}

describe.each(Object.entries(COMPONENTS))("%s", (provider, config) => {
  test.each([{ for_seconds: 3600, attempts: 100 }, { for_seconds: 0 }, { attempts: 1 }])(
    "keeps its retry policy %j, also in a dump that is loaded again",
    (retry) => {
      const loaded = load(provider, config(retry));
      expect(dumpedRetry(loaded)).toEqual(retry);
      expect(dumpedRetry(registry.load(dumpComponent(loaded)))).toEqual(retry);
    },
  );

  test("has none in a dump without one", () => {
    expect(dumpedRetry(load(provider, config(undefined)))).toBeUndefined();
  });

  test.each([{ for_seconds: -1 }, { for_seconds: 604_801 }, { attempts: 0 }, { attempts: 1.5 }])(
    "is refused with %j, by the name of the field",
    (retry) => {
      const [field = ""] = Object.keys(retry);
      expect(() => load(provider, config(retry))).toThrow(`retry.${field}`);
    },
  );
});
