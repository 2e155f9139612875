import * as z from "zod";
import {
  type AnyComponentDefinition,
  type ComponentDefinition,
  withoutInnerNulls,
} from "../../core/component/component.ts";
import { inConfig } from "../../core/component/refused-where-new.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { optionsOf, parseOptions } from "../../core/options/option-names.ts";
import type { ToolSchema } from "../../core/models/chat-completion-client.ts";
import type { RetryPolicy } from "../../core/steps/retry.ts";
import { retryPolicyOf } from "../../core/steps/retry-config.ts";
import type { StepPolicy } from "../../core/steps/step-attempt.ts";
import { fittingNameOf } from "../../core/tools/tool-name.ts";
import type { Tool, ToolRun } from "../../core/tools/tool.ts";
import { McpError } from "./answers/mcp-error.ts";
import {
  type McpServerConfig,
  mcpServerParamsSchema,
  type McpServerParams,
  type SseServerParams,
  sseServerParamsSchema,
  type StdioServerParams,
  stdioServerParamsSchema,
  type StreamableHttpServerParams,
  streamableHttpServerParamsSchema,
} from "./connection/server-params.ts";
import { McpSessions } from "./connection/sessions.ts";
import { callTool } from "./tool-call.ts";
import { fetchTools } from "./fetch-tools.ts";
import { type McpTool, mcpToolSchema, policyOf, schemaOf } from "./tool-list.ts";
import { checkServerParams, serverParamsMistakes } from "./connection/transport.ts";
import type { McpDependencies } from "./connection/dependencies.ts";
import { anything, aText, checkOptions, type OptionsSchema } from "../../core/options/options.ts";

/**
 * Lets adapters share one connection. Not a parameter, because their declarations must not lead to those of MCP's SDK.
 */
let sharing: (adapter: McpToolAdapter, sessions: McpSessions) => McpToolAdapter;

/** One tool of an MCP server, as its config describes it. */
export abstract class McpToolAdapter implements Tool {
  readonly definition: Tool["definition"];
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly policy: StepPolicy;
  readonly retry: RetryPolicy | undefined;
  readonly remote = true;
  readonly #params: McpServerConfig;
  readonly #tool: McpTool;
  #sessions: McpSessions;

  static {
    sharing = (adapter, sessions) => {
      adapter.#sessions = sessions;
      return adapter;
    };
  }

  constructor(
    className: string,
    params: McpServerConfig,
    tool: McpTool,
    dependencies: McpDependencies,
  ) {
    checkServerParams(params, dependencies);
    this.definition = definitionOf(className);
    const schema = schemaOf(tool);
    // The adapters of a server do not know each other, and names that were cut may be the same.
    const isCut = schema.name.length < tool.name.length;
    this.schema = isCut ? { ...schema, name: fittingNameOf(tool.name) } : schema;
    this.name = this.schema.name;
    this.description = this.schema.description ?? "";
    this.policy = policyOf(tool);
    this.retry = retryPolicyOf({ retry: params.retry });
    this.#params = params;
    this.#tool = tool;
    this.#sessions = new McpSessions(params, dependencies);
  }

  /** The content blocks of the result. @throws McpError with their JSON when the server reports an error */
  async run(
    args: JsonObject,
    { signal, idempotencyKey, session, trace, hops, run }: ToolRun,
  ): Promise<Json> {
    const connection = this.#sessions.of(run);
    const items = callTool(
      connection,
      undefined,
      { tool: this.#tool, args, rounds: [] },
      {
        signal,
        idempotencyKey,
        ...(trace && { trace }),
        ...(hops !== undefined && { hops }),
      },
      { signal, sandboxSession: session },
    );
    let next = await items.next();
    while (!next.done) next = await items.next();
    const outcome = next.value;
    if (!("answer" in outcome)) {
      throw new McpError(
        "mcp_refused",
        `The server asks something about the call of ${this.name}. Use an McpWorkbench with a host.`,
      );
    }
    const { content, isError } = outcome.answer;
    const text = connection.redact(JSON.stringify(content));
    if (isError === true) throw new McpError("mcp_refused", text);
    return JSON.parse(text) as Json;
  }

  valueAsText(value: Json): string {
    return JSON.stringify(value);
  }

  toConfig(): JsonObject {
    return {
      server_params: withoutInnerNulls(this.#params),
      tool: withoutInnerNulls(this.#tool),
    };
  }
}

function definitionOf(className: string): Tool["definition"] {
  return {
    provider: `autogen_ext.tools.mcp.${className}`,
    componentType: "tool",
    role: "tool",
    version: 1,
  };
}

/** The config of a tool's adapter: the parameters of its server, and the tool as the server lists it. */
export interface McpToolAdapterOptions<Params> {
  serverParams: Params;
  tool: McpTool;
}

const optionsSchema: OptionsSchema<McpToolAdapterOptions<unknown>> = z.object({
  serverParams: anything,
  tool: z.looseObject({ name: aText }),
});

/** A tool of a server that runs as a program (AutoGen `StdioMcpToolAdapter`). */
export class StdioMcpToolAdapter extends McpToolAdapter {
  /** @internal */
  static component(dependencies: McpDependencies): AnyComponentDefinition {
    return adapterDefinition("StdioMcpToolAdapter", stdioServerParamsSchema, dependencies);
  }

  constructor(
    options: McpToolAdapterOptions<StdioServerParams>,
    dependencies: McpDependencies = {},
  ) {
    const { serverParams, tool } = checkOptions<McpToolAdapterOptions<StdioServerParams>>(
      optionsSchema,
      options,
      "StdioMcpToolAdapter",
    );
    const params = parseOptions(
      stdioServerParamsSchema,
      serverParams,
      "StdioMcpToolAdapter",
      "serverParams",
    );
    super("StdioMcpToolAdapter", params, tool, dependencies);
  }
}

/** A tool of a server of the older HTTP transport (AutoGen `SseMcpToolAdapter`). */
export class SseMcpToolAdapter extends McpToolAdapter {
  /** @internal */
  static component(dependencies: McpDependencies): AnyComponentDefinition {
    return adapterDefinition("SseMcpToolAdapter", sseServerParamsSchema, dependencies);
  }

  constructor(options: McpToolAdapterOptions<SseServerParams>, dependencies: McpDependencies = {}) {
    const { serverParams, tool } = checkOptions<McpToolAdapterOptions<SseServerParams>>(
      optionsSchema,
      options,
      "SseMcpToolAdapter",
    );
    const params = parseOptions(
      sseServerParamsSchema,
      serverParams,
      "SseMcpToolAdapter",
      "serverParams",
    );
    super("SseMcpToolAdapter", params, tool, dependencies);
  }
}

/** A tool of a Streamable HTTP server (AutoGen `StreamableHttpMcpToolAdapter`). */
export class StreamableHttpMcpToolAdapter extends McpToolAdapter {
  /** @internal */
  static component(dependencies: McpDependencies): AnyComponentDefinition {
    return adapterDefinition(
      "StreamableHttpMcpToolAdapter",
      streamableHttpServerParamsSchema,
      dependencies,
    );
  }

  constructor(
    options: McpToolAdapterOptions<StreamableHttpServerParams>,
    dependencies: McpDependencies = {},
  ) {
    const { serverParams, tool } = checkOptions<McpToolAdapterOptions<StreamableHttpServerParams>>(
      optionsSchema,
      options,
      "StreamableHttpMcpToolAdapter",
    );
    const params = parseOptions(
      streamableHttpServerParamsSchema,
      serverParams,
      "StreamableHttpMcpToolAdapter",
      "serverParams",
    );
    super("StreamableHttpMcpToolAdapter", params, tool, dependencies);
  }
}

/**
 * Lists a server's tools and makes an adapter of each (AutoGen `mcp_server_tools`). They share a connection, which is
 * closed when it is idle.
 *
 * @throws ValueError for parameters that cannot be used; McpError when the request to the server fails
 */
export async function mcpServerTools(
  serverParams: McpServerParams,
  dependencies: McpDependencies = {},
  signal: AbortSignal = AbortSignal.timeout(60_000),
): Promise<Tool[]> {
  const params = parseOptions(
    mcpServerParamsSchema,
    serverParams,
    "mcpServerTools",
    "serverParams",
  );
  checkServerParams(params, dependencies);
  const sessions = new McpSessions(params, dependencies);
  const tools = await fetchTools(sessions.of(undefined), { signal });
  return tools.map((tool) => sharing(adapterFor(params, tool, dependencies), sessions));
}

function adapterFor(
  params: McpServerConfig,
  tool: McpTool,
  dependencies: McpDependencies,
): McpToolAdapter {
  switch (params.type) {
    case "StdioServerParams": {
      const serverParams = optionsOf(stdioServerParamsSchema, params);
      return new StdioMcpToolAdapter({ serverParams, tool }, dependencies);
    }
    case "SseServerParams": {
      const serverParams = optionsOf(sseServerParamsSchema, params);
      return new SseMcpToolAdapter({ serverParams, tool }, dependencies);
    }
    case "StreamableHttpServerParams": {
      const serverParams = optionsOf(streamableHttpServerParamsSchema, params);
      return new StreamableHttpMcpToolAdapter({ serverParams, tool }, dependencies);
    }
  }
}

/** The component definition of an adapter, with what its host provides. */
function adapterDefinition<Params extends McpServerConfig>(
  className: string,
  paramsSchema: z.ZodType<Params>,
  dependencies: McpDependencies,
): ComponentDefinition<{ server_params: Params; tool: McpTool }, Tool> {
  return {
    ...definitionOf(className),
    configSchema: z.object({ server_params: paramsSchema, tool: mcpToolSchema }),
    refusals: ({ server_params }) => inConfig(serverParamsMistakes(server_params)),
    fromConfig: ({ server_params, tool }) => adapterFor(server_params, tool, dependencies),
  };
}
