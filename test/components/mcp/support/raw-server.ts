import type { Json, JsonObject } from "troupe";
import { EchoServer } from "../../../support/echo-server.ts";

export interface RawServerOptions {
  /** The revision 2026-07-28, which is asked by `server/discover`. */
  modern?: boolean;
  /** Answers are events of a stream. */
  events?: boolean;
  /** The last event lacks the empty line at its end. */
  unended?: boolean;
}

const VERSION = "2026-07-28";

/**
 * A server whose answers no SDK has looked at.
 *
 * @param answer gives the result, or `raw`: a text that is sent as it is. Undefined results are errors
 */
export function rawServer(
  answer: (method: string, params: JsonObject) => Json | undefined,
  { modern = false, events = false, unended = false }: RawServerOptions = {},
): Promise<EchoServer> {
  return EchoServer.start((response, { body, method: verb }) => {
    if (verb !== "POST") return void response.writeHead(405).end();
    const {
      id,
      method,
      params = {},
    } = JSON.parse(body) as {
      id?: number;
      method: string;
      params?: JsonObject;
    };
    if (id === undefined) return void response.writeHead(202).end();
    const capabilities = { tools: {}, resources: {}, prompts: {} };
    const own: JsonObject = modern
      ? {
          "server/discover": { supportedVersions: [VERSION], capabilities, resultType: "complete" },
        }
      : {
          initialize: {
            protocolVersion: "2025-06-18",
            capabilities,
            serverInfo: { name: "raw", version: "1" },
          },
        };
    const result = answer(method, params) ?? own[method];
    const raw = result !== null && typeof result === "object" && "raw" in result && result["raw"];
    const text =
      typeof raw === "string"
        ? raw.replaceAll("$id", String(id))
        : JSON.stringify({
            jsonrpc: "2.0",
            id,
            ...(result === undefined
              ? { error: { code: -32_601, message: "Method not found" } }
              : { result }),
          });
    response.setHeader("content-type", events ? "text/event-stream" : "application/json");
    const end = unended ? "" : "\n\n";
    response.end(events ? `: a comment\n\nevent: message\ndata: ${text}${end}` : text);
  });
}
