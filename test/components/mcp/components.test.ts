import { describe, expect, test } from "vitest";
import {
  ComponentRegistry,
  coreComponents,
  Catalog,
  dumpComponent,
  McpSessionHost,
  McpWorkbench,
  mcpComponents,
} from "troupe";
import type { ComponentModel, JsonObject, McpDependencies } from "troupe";
import { issuesOf } from "./support/issues.ts";

const sandbox = { url: "http://127.0.0.1:1" };

function registry(dependencies: McpDependencies = { sandbox }): ComponentRegistry {
  return new ComponentRegistry({}).register(
    ...coreComponents(new Catalog()),
    ...mcpComponents(dependencies),
  );
}

function component(name: string, type: string, config: JsonObject): ComponentModel {
  return {
    provider: `autogen_ext.tools.mcp.${name}`,
    component_type: type,
    version: 1,
    component_version: 1,
    config,
  };
}

// As AutoGen 0.7.5 dumps them.
const STDIO = {
  command: "uvx",
  args: ["mcp-server-fetch"],
  env: { TOKEN: "env:FETCH_TOKEN" },
  encoding: "utf-8",
  encoding_error_handler: "strict",
  type: "StdioServerParams",
  read_timeout_seconds: 5,
};
const SSE = {
  type: "SseServerParams",
  url: "https://mcp.example.com/sse",
  headers: { Authorization: "Bearer env:MCP_TOKEN" },
  timeout: 5,
  sse_read_timeout: 300,
};
const HTTP = {
  type: "StreamableHttpServerParams",
  url: "https://mcp.example.com/mcp",
  timeout: 30,
  sse_read_timeout: 300,
  terminate_on_close: true,
};
const TOOL = {
  name: "fetch",
  description: "Fetches a page.",
  inputSchema: {
    type: "object",
    properties: { url: { type: "string" } },
    required: ["url"],
  },
  annotations: { title: "Fetch", readOnlyHint: true },
};
const MODEL = {
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  component_type: "replay_chat_completion_client",
  version: 1,
  component_version: 1,
  config: {
    chat_completions: ["In short."],
    model_info: {
      vision: false,
      function_calling: false,
      json_output: false,
      structured_output: false,
      family: "unknown",
    },
  },
};
const HOST = component("McpSessionHost", "mcp_session_host", {
  sampler: component("ChatCompletionClientSampler", "mcp_sampler", { client_config: MODEL }),
  elicitor: component("StdioElicitor", "mcp_elicitor", { timeout: 30 }),
  roots: component("StaticRootsProvider", "mcp_roots_provider", {
    roots: [{ uri: "file:///home", name: "Home" }],
  }),
});

const WORKBENCHES: [string, JsonObject][] = [
  ["stdio", { server_params: STDIO, tool_overrides: {} }],
  ["SSE", { server_params: SSE, tool_overrides: {} }],
  ["Streamable HTTP", { server_params: HTTP, tool_overrides: {} }],
  [
    "OAuth, a key of Troupe's",
    {
      server_params: {
        ...HTTP,
        oauth: {
          client_id: "clerk",
          client_secret: "env:CLERK_SECRET",
          issuer: "https://login.example.com",
        },
      },
      tool_overrides: {},
    },
  ],
  [
    "overrides and a host",
    {
      server_params: HTTP,
      tool_overrides: { fetch: { name: "get_page", description: "Gets a page." } },
      host: HOST,
    },
  ],
  [
    "a model client for the server's requests",
    { server_params: HTTP, tool_overrides: {}, model_client: MODEL },
  ],
  [
    "tools that read, a key of Troupe's",
    { server_params: HTTP, tool_overrides: {}, tools_for: ["resources", "prompts"] },
  ],
  [
    "approval",
    {
      server_params: HTTP,
      tool_overrides: { pay: { approval: "human" } },
      approval: "human",
      approval_timeout_seconds: 60,
    },
  ],
];

describe("AutoGen's JSON of a workbench is loaded and dumped equal:", () => {
  test.each(WORKBENCHES)("%s", (_, config) => {
    const model = component("McpWorkbench", "workbench", config);
    const workbench = registry().load<McpWorkbench>(model, "workbench");
    expect(workbench).toBeInstanceOf(McpWorkbench);
    expect(dumpComponent(workbench)).toEqual(model);
  });

  test("which includes the defaults of omitted fields", () => {
    const workbench = registry().load<McpWorkbench>(
      component("McpWorkbench", "workbench", {
        server_params: { type: "StdioServerParams", command: "server" },
      }),
      "workbench",
    );
    expect(workbench.toConfig()).toEqual({
      server_params: {
        type: "StdioServerParams",
        command: "server",
        args: [],
        encoding: "utf-8",
        encoding_error_handler: "strict",
        read_timeout_seconds: 5,
      },
      tool_overrides: {},
    });
  });
});

test("a model client beside a host that has one is refused, and beside another host it is accepted", () => {
  const load = (host: JsonObject) =>
    registry().load<McpWorkbench>(
      component("McpWorkbench", "workbench", { server_params: HTTP, host, model_client: MODEL }),
      "workbench",
    );
  expect(() => load(HOST)).toThrow(/model_client: would answer .* as host\.sampler does/);
  const other = component("McpSessionHost", "mcp_session_host", {});
  expect(load(other).toConfig()).toMatchObject({ host: other, model_client: MODEL });
});

test.each([
  ["StdioMcpToolAdapter", STDIO, "retry"],
  ["SseMcpToolAdapter", SSE, "retry"],
  ["StreamableHttpMcpToolAdapter", HTTP, "retry"],
])("a %s is loaded and dumped equal", (name, server_params, policy) => {
  const model = component(name, "tool", { server_params, tool: TOOL });
  const tool = registry().load<never>(model, "tool");
  expect(dumpComponent(tool)).toEqual(model);
  expect(tool).toMatchObject({ name: "fetch", description: "Fetches a page.", policy });
});

test("a host in code dumps a component that AutoGen loads", () => {
  const host = registry().load<McpSessionHost>(HOST, "mcp_session_host");
  expect(dumpComponent(host)).toEqual(HOST);
  expect(dumpComponent(new McpSessionHost({})).config).toEqual({});
});

describe("component JSON is refused", () => {
  test.each<[string, JsonObject, string, RegExp]>([
    ["another transport", { type: "WebSocketParams" }, "server_params.type", /StdioServerParams/],
    ["an address without scheme", { ...HTTP, url: "example.com" }, "server_params.url", /https:/],
    ["a file", { ...HTTP, url: "file:///etc/passwd" }, "server_params.url", /https:/],
    [
      "a password in the address",
      { ...HTTP, url: "https://a:b@c.d/" },
      "server_params.url",
      /user/,
    ],
    [
      "a header of the connection",
      { ...HTTP, headers: { Host: "other" } },
      "server_params.headers.Host",
      /connection/,
    ],
    [
      "an issuer that is not an address",
      { ...HTTP, oauth: { client_id: "a", client_secret: "b", issuer: "login" } },
      "server_params.oauth.issuer",
      /URL/,
    ],
    ["no time", { ...HTTP, timeout: 0 }, "server_params.timeout", /must be more than 0/],
    ["another encoding", { ...STDIO, encoding: "latin-1" }, "server_params.encoding", /utf-8/],
  ])("%s", (_, server_params, path, message) => {
    const model = component("McpWorkbench", "workbench", { server_params });
    const issues = issuesOf(() => registry().load(model, "workbench"));
    expect(issues.map((issue) => issue.path)).toContain(`component.config.${path}`);
    expect(JSON.stringify(issues)).toMatch(message);
  });

  test("if a program has no sandbox, with the remedy", () => {
    const model = component("McpWorkbench", "workbench", { server_params: STDIO });
    const [issue] = issuesOf(() => registry({}).load(model, "workbench"));
    expect(issue?.path).toBe("component.config.server_params.command");
    expect(issue?.message).toMatch(/SANDBOX_URL.*SANDBOX_MCP=1.*StreamableHttpServerParams/);
  });

  test("if two tools have one name", () => {
    const model = component("McpWorkbench", "workbench", {
      server_params: HTTP,
      tool_overrides: { a: { name: "c" }, b: { name: "c" } },
    });
    const [issue] = issuesOf(() => registry().load(model, "workbench"));
    expect(issue).toMatchObject({ path: "component.config.tool_overrides.b.name" });
  });
});

describe("a program whose sandbox starts no programs", () => {
  const workbench = component("McpWorkbench", "workbench", { server_params: STDIO });

  async function notesWith(health: object, model = workbench) {
    const fetch = async (url: string): Promise<Response> => {
      expect(url).toBe("http://127.0.0.1:1/healthz");
      return Response.json(health);
    };
    const components = registry({ sandbox: { ...sandbox, fetch } });
    const prepared = await components.prepare<ComponentModel>(model);
    return { prepared, notes: components.notes(prepared) };
  }

  test("gets a note when the component arrives", async () => {
    const { prepared, notes } = await notesWith({ status: "ok", programs: null });
    expect(notes).toEqual([
      {
        path: "component.config.server_params.command",
        message: expect.stringMatching(/starts none.*SANDBOX_MCP=1/) as string,
      },
    ]);
    // The note goes when the sandbox starts programs.
    const programs = { isolation: "process", walls: [] };
    expect((await notesWith({ status: "ok", programs }, prepared)).notes).toEqual([]);
  });

  test.each([[{ status: "ok", programs: { isolation: "process", walls: ["namespaces"] } }], [{}]])(
    "gets no note if the sandbox reports %o",
    async (health) => {
      expect(await notesWith(health)).toEqual({ prepared: workbench, notes: [] });
    },
  );
});
