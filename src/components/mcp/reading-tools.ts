import type { Client } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../core/json.ts";
import type { CallResult } from "./call-result.ts";
import type { McpTool } from "./tool-list.ts";

/** The parts of a server that tools can read. */
export type ReadingKind = "resources" | "prompts";

/** Makes the request of a tool. Its arguments are the model's. */
type Reader = (client: Client, args: JsonObject, options: ReadOptions) => Promise<CallResult>;

interface ReadOptions {
  signal: AbortSignal;
  timeout: number;
  /** A sentence about the unusable entries of a method's list. */
  leftOut: (method: string) => string | undefined;
}

function tool(name: string, description: string, properties: JsonObject = {}): McpTool {
  const required = Object.keys(properties).filter((key) => key !== "arguments");
  return {
    name,
    description,
    inputSchema: { type: "object", properties, required },
    annotations: { readOnlyHint: true },
  };
}

const asText = (answer: object, leftOut?: string): CallResult => ({
  content: [JSON.stringify(answer), ...(leftOut === undefined ? [] : [leftOut])].map((text) => ({
    type: "text",
    text,
  })),
});

const RESOURCES: ReadonlyMap<McpTool, Reader> = new Map<McpTool, Reader>([
  [
    tool("list_resources", "Lists the resources of the server."),
    async (client, _, options) => {
      const { resources } = await client.listResources(undefined, options);
      return asText({ resources }, options.leftOut("resources/list"));
    },
  ],
  [
    tool("list_resource_templates", "Lists templates for addresses of the server's resources."),
    async (client, _, options) => {
      const { resourceTemplates } = await client.listResourceTemplates(undefined, options);
      return asText({ resourceTemplates }, options.leftOut("resources/templates/list"));
    },
  ],
  [
    tool("read_resource", "Reads a resource of the server.", { uri: { type: "string" } }),
    async (client, { uri }, options) => {
      const { contents } = await client.readResource({ uri: uri as string }, options);
      return { content: contents.map((resource) => ({ type: "resource", resource })) };
    },
  ],
]);

const PROMPTS: ReadonlyMap<McpTool, Reader> = new Map<McpTool, Reader>([
  [
    tool("list_prompts", "Lists the prompts of the server and their arguments."),
    async (client, _, options) => {
      const { prompts } = await client.listPrompts(undefined, options);
      return asText({ prompts }, options.leftOut("prompts/list"));
    },
  ],
  [
    tool("get_prompt", "Gets a prompt of the server with its arguments filled in.", {
      name: { type: "string" },
      arguments: { type: "object", additionalProperties: { type: "string" } },
    }),
    async (client, { name, arguments: rawArguments = {} }, options) => {
      const params = {
        name: name as string,
        arguments: rawArguments as { [name: string]: string },
      };
      const { messages } = await client.getPrompt(params, options);
      return asText({ messages });
    },
  ],
]);

/** The reading tools, by the name that the model calls; the server does not list them. */
export const READERS: ReadonlyMap<McpTool, Reader> = new Map([...RESOURCES, ...PROMPTS]);

export function readingTools(kinds: readonly ReadingKind[]): McpTool[] {
  return [
    ...(kinds.includes("resources") ? RESOURCES.keys() : []),
    ...(kinds.includes("prompts") ? PROMPTS.keys() : []),
  ];
}
