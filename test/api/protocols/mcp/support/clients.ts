import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { RunOutput } from "#api/protocols/mcp/run/output.ts";

/** What a test calls a client by: the revision that it speaks, and for the older one both generations of the SDK. */
export const CLIENTS = ["2026-07-28", "2025-11-25", "2025-11-25, SDK 1"] as const;
export type ClientName = (typeof CLIENTS)[number];

export interface Form {
  message: string;
  requestedSchema: { properties: object };
}

/** What a human does with a form. */
export type Filled = {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | boolean>;
};

export interface ClientOptions {
  url: URL;
  headers?: Record<string, string>;
  /** Left out, the client can show none. */
  fill?: (form: Form) => Filled | Promise<Filled>;
}

interface CallOptions {
  onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
  signal?: AbortSignal;
  /** Milliseconds. */
  timeout?: number;
}

interface ToolCall {
  name: string;
  arguments?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

export interface ToolResult {
  content: { type: string; text?: string }[];
  structuredContent?: RunOutput;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** A client as the tests use it, whichever SDK it is of. */
export interface TestClient extends AsyncDisposable {
  /** The version that the connection speaks. */
  readonly version: string | undefined;
  readonly client: Pick<
    Client,
    | "listTools"
    | "listResources"
    | "listResourceTemplates"
    | "readResource"
    | "listPrompts"
    | "getPrompt"
    | "complete"
  >;
  call(call: ToolCall, options?: CallOptions): Promise<ToolResult>;
}

/** An unmodified client of an official SDK, connected. */
export async function connect(name: ClientName, options: ClientOptions): Promise<TestClient> {
  return name === "2025-11-25, SDK 1" ? connectOld(options) : connectNew(name, options);
}

async function connectNew(
  name: ClientName,
  { url, headers = {}, fill }: ClientOptions,
): Promise<TestClient> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: fill === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: name === "2026-07-28" ? "auto" : "legacy" },
    },
  );
  if (fill !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => fill(params as Form));
  }
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return {
    version: client.getNegotiatedProtocolVersion(),
    client,
    call: async (call, given) => (await client.callTool(call, given)) as ToolResult,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function connectOld({ url, headers = {}, fill }: ClientOptions): Promise<TestClient> {
  const client = new OldClient(
    { name: "test", version: "1" },
    { capabilities: fill === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (fill !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => fill(params as Form));
  }
  const transport = new OldTransport(url, { requestInit: { headers } });
  await client.connect(transport);
  return {
    version: transport.protocolVersion,
    client: client as unknown as TestClient["client"],
    call: async (call, given) => (await client.callTool(call, undefined, given)) as ToolResult,
    [Symbol.asyncDispose]: () => client.close(),
  };
}
