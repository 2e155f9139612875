import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server as NewServer } from "@modelcontextprotocol/server";
import { Server as OldServer } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListPromptsRequestSchema,
  GetPromptRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import type { JsonObject } from "troupe";
import { requestBody } from "../../../support/request-body.ts";
import { TestTools } from "./test-tools.ts";

/** How a test server speaks: the protocol of 2026 without sessions, that of 2025 with sessions, or the older transport. */
export type Kind = "modern" | "sessions" | "sse";

/** What requests need. */
export interface Guard {
  issuer: string;
  /** The token that is accepted, unless `lacks` decides. */
  token?: string;
  /** What a token lacks for a method: it is not accepted, or has not these scopes; null for nothing. */
  lacks?: (token: string, method: string | undefined) => "token" | { scope: string } | null;
  /** The scopes that a request without a token has to get. */
  scope?: string;
}

const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };

const NOTE = { uri: "note://1", name: "one", mimeType: "text/plain" };
const NOTE_CONTENT = { contents: [{ uri: "note://1", mimeType: "text/plain", text: "a note" }] };
const PROMPT = { name: "greet", arguments: [{ name: "who", required: true }] };
const greeting = (who: unknown) => ({
  messages: [
    { role: "user" as const, content: { type: "text" as const, text: `Greet ${String(who)}.` } },
  ],
});

/** An MCP server on the official SDK, in this process. */
export class TestMcpServer implements AsyncDisposable {
  readonly tools = new TestTools();
  /** Headers of all requests. */
  readonly headers: IncomingMessage["headers"][] = [];
  /** Sessions that clients have ended. */
  ended = 0;
  /** Where clients get the token that requests need; undefined where they need none. */
  guard: Guard | undefined;
  readonly #http: HttpServer;
  readonly #sessions = new Map<string, StreamableHTTPServerTransport | SSEServerTransport>();
  readonly #kind: Kind;

  private constructor(kind: Kind) {
    this.#kind = kind;
    const modern = toNodeHandler(createMcpHandler(() => newServer(this.tools)));
    this.#http = createServer((request, response) => {
      this.headers.push(request.headers);
      if (this.#refused(request, response)) return;
      if (kind === "modern") return void modern(request, response);
      if (kind === "sse") return void this.#sse(request, response);
      return void this.#stateful(request, response);
    });
  }

  /** @param port 0: any free one */
  static async start(kind: Kind = "modern", port = 0): Promise<TestMcpServer> {
    const server = new TestMcpServer(kind);
    server.#http.listen(port, "127.0.0.1");
    await once(server.#http, "listening");
    return server;
  }

  get url(): string {
    const { port } = this.#http.address() as AddressInfo;
    return `http://127.0.0.1:${port}/${this.#kind === "sse" ? "sse" : "mcp"}`;
  }

  /** The parameters by which a client reaches it. */
  get params() {
    return this.#kind === "sse"
      ? ({ type: "SseServerParams", url: this.url } as const)
      : ({ type: "StreamableHttpServerParams", url: this.url } as const);
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Forgets all sessions, as a restarted server does. */
  forget(): void {
    this.#sessions.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close();
    this.#http.closeAllConnections();
    if (this.#http.listening) await once(this.#http, "close");
  }

  /** Answers as the specification of MCP's authorization says. */
  #refused(...[request, response]: Parameters<Handler>): boolean {
    if (this.guard === undefined) return false;
    const { origin } = new URL(this.url);
    const metadata = `${origin}/.well-known/oauth-protected-resource`;
    if (`${origin}${request.url}` === metadata) {
      const about = { resource: this.url, authorization_servers: [this.guard.issuer] };
      response.setHeader("content-type", "application/json").end(JSON.stringify(about));
      return true;
    }
    const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const lacks = this.guard.lacks ?? ((given) => (given === this.guard?.token ? null : "token"));
    const method = request.headers["mcp-method"]?.toString();
    const lacking = token === undefined ? "token" : lacks(token, method);
    if (lacking === null) return false;
    const [status, more] =
      lacking === "token"
        ? [401, `scope="${this.guard.scope ?? "tools"}"`]
        : [403, `error="insufficient_scope", scope="${lacking.scope}"`];
    const challenge = `Bearer resource_metadata="${metadata}", ${more}`;
    response.writeHead(status, { "www-authenticate": challenge }).end();
    return true;
  }

  async #stateful(...[request, response]: Parameters<Handler>): Promise<void> {
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") {
      const transport = this.#sessions.get(id);
      if (transport instanceof StreamableHTTPServerTransport) {
        if (request.method === "DELETE") this.ended++;
        return transport.handleRequest(request, response);
      }
      response.writeHead(404).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => {
        this.#sessions.set(session, transport);
      },
    });
    await oldServer(this.tools).connect(transport);
    await transport.handleRequest(request, response);
  }

  async #sse(...[request, response]: Parameters<Handler>): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://host");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      this.#sessions.set(transport.sessionId, transport);
      await oldServer(this.tools).connect(transport);
      return;
    }
    const transport = this.#sessions.get(searchParams.get("sessionId") ?? "");
    if (transport instanceof SSEServerTransport) {
      const body = await requestBody(request);
      return transport.handlePostMessage(request, response, JSON.parse(body ?? ""));
    }
    response.writeHead(404).end();
  }
}

type Handler = Parameters<typeof createServer>[1] & {};

/** A server of the SDK's first generation. */
function oldServer(tools: TestTools): OldServer {
  const server = new OldServer({ name: "test", version: "1" }, { capabilities: CAPABILITIES });
  server.setRequestHandler(ListToolsRequestSchema, () => tools.listed());
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [NOTE] }));
  server.setRequestHandler(ReadResourceRequestSchema, () => NOTE_CONTENT);
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [PROMPT] }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) =>
    greeting(params.arguments?.["who"]),
  );
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const meta = (params._meta ?? {}) as JsonObject;
    const { progressToken } = meta;
    return tools.call(params.name, (params.arguments ?? {}) as JsonObject, {
      meta,
      signal: extra.signal,
      progress: async (progress, total, message) => {
        if (progressToken === undefined) return;
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken: progressToken as string, progress, total, message },
        });
      },
      ask: async (_, method, given) =>
        (await extra.sendRequest({ method, params: given }, z.looseObject({}))) as JsonObject,
    });
  });
  return server;
}

/** A server of the second generation; its questions end the call. */
function newServer(tools: TestTools): NewServer {
  const server = new NewServer({ name: "test", version: "1" }, { capabilities: CAPABILITIES });
  server.setRequestHandler("tools/list", () => tools.listed());
  server.setRequestHandler("resources/list", () => ({ resources: [NOTE] }));
  server.setRequestHandler("resources/read", () => NOTE_CONTENT);
  server.setRequestHandler("prompts/list", () => ({ prompts: [PROMPT] }));
  server.setRequestHandler("prompts/get", ({ params }) => greeting(params.arguments?.["who"]));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { mcpReq } = context;
    const meta = (mcpReq._meta ?? {}) as JsonObject;
    const { progressToken } = meta;
    try {
      return await tools.call(params.name, (params.arguments ?? {}) as JsonObject, {
        meta,
        signal: mcpReq.signal,
        progress: async (progress, total, message) => {
          if (progressToken === undefined) return;
          await mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken: progressToken as string, progress, total, message },
          });
        },
        ask: async (id, method, given) => {
          const answer = mcpReq.inputResponses?.[id];
          if (answer === undefined) throw new Asked(id, method, given);
          return answer as JsonObject;
        },
      });
    } catch (error) {
      if (!(error instanceof Asked)) throw error;
      const { id, method, params: asked } = error;
      return {
        resultType: "input_required",
        inputRequests: { [id]: { method, params: asked } },
        requestState: "state of the server",
      } as never;
    }
  });
  return server;
}

class Asked extends Error {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;

  constructor(id: string, method: string, params: JsonObject) {
    super("the client has to answer first");
    this.id = id;
    this.method = method;
    this.params = params;
  }
}
