import type { FormatCode, StreamFormats } from "../../contract/stream/stream-format.ts";
import type { RouteModule } from "../http/app.ts";
import type { A2AServices } from "./a2a/request/services.ts";
import type { McpServices } from "./mcp/session/services.ts";
import type { McpSettings } from "./mcp/tools/offered-templates.ts";
import type { ProtocolServices } from "./shared/services.ts";

/** The addresses of other protocols, and the formats of their streams. Each is loaded when it is first used. */
export interface Protocols {
  modules: RouteModule[];
  formats: StreamFormats;
}

export function shippedProtocols(
  services: ProtocolServices & A2AServices & McpServices & { mcp: McpSettings },
): Protocols {
  return {
    modules: [
      {
        below: ["/a2a", "/.well-known"],
        load: async () => (await import("./a2a/endpoints.ts")).a2aEndpoints(services),
      },
      {
        below: ["/a2a"],
        load: async () => (await import("./a2a/bindings/rest.ts")).restEndpoints(services),
      },
      {
        below: ["/ag-ui"],
        load: async () => (await import("./ag-ui/endpoints.ts")).agUiEndpoints(services),
      },
      {
        below: ["/ai-sdk"],
        load: async () => (await import("./ai-sdk/endpoints.ts")).aiSdkEndpoints(services),
      },
      {
        below: ["/mcp"],
        load: async () => (await import("./mcp/endpoints.ts")).mcpEndpoints(services),
      },
      {
        below: ["/openai/v1"],
        load: async () => (await import("./openai/endpoints.ts")).openAIEndpoints(services),
        others: async () => (await import("./openai/encoder/errors.ts")).errorResponse,
      },
    ],
    formats: {
      a2a: async () => (await import("./a2a/encoder/formats.ts")).a2aFormats.a2a,
      "a2a-rest": async () => (await import("./a2a/encoder/formats.ts")).a2aFormats["a2a-rest"],
      "a2a-0.3": async () => (await import("./a2a/encoder/formats.ts")).a2aFormats["a2a-0.3"],
      "ag-ui": async () => ({
        makeEncoder: (await import("./ag-ui/encoder/encoder.ts")).makeAgUiEncoder,
      }),
      "ai-sdk": async () => ({
        makeEncoder: (await import("./ai-sdk/encoder/encoder.ts")).makeChatEncoder,
      }),
      "openai-chat": async () => (await import("./openai/encoder/chat-encoder.ts")).chatFormat,
      "openai-response": async () =>
        (await import("./openai/encoder/response-encoder.ts")).responseFormat,
    },
  };
}

/** Loads formats by their names. @throws TypeError for one that does not exist */
export function formatLoader(formats: StreamFormats): (name: string) => Promise<FormatCode> {
  return async (name) => {
    const load = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (load === undefined) throw new TypeError(`there is no stream format ${name}`);
    return load();
  };
}
