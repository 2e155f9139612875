import type { FormatCode, StreamFormats } from "../contract/stream/stream-format.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { a2aEndpoints } from "./a2a/endpoints.ts";
import { agUiEndpoints } from "./ag-ui/endpoints.ts";
import { aiSdkEndpoints } from "./ai-sdk/endpoints.ts";
import { mcpEndpoints } from "./mcp/endpoints.ts";
import { openAIEndpoints } from "./openai/endpoints.ts";
import type { ProtocolServices } from "./services.ts";

/** The addresses of other protocols, and the formats of their streams. Each is loaded when it is first used. */
export interface Protocols {
  endpoints: Endpoint[];
  formats: StreamFormats;
}

export function shippedProtocols(services: ProtocolServices): Protocols {
  return {
    endpoints: [
      ...a2aEndpoints(services),
      ...agUiEndpoints(services),
      ...aiSdkEndpoints(services),
      ...mcpEndpoints(services),
      ...openAIEndpoints(services),
    ],
    formats: {
      a2a: async () => ({
        makeEncoder: (await import("./a2a/encoder.ts")).makeA2AEncoder,
        pushBody: (await import("./a2a/push-body.ts")).pushBody,
      }),
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
