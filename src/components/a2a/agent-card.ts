import { isJsonObject } from "../../core/json.ts";
import { A2AError } from "./a2a-error.ts";

/** The endpoint of a remote agent. */
export interface RemoteInterface {
  url: string;
  streaming: boolean;
  /** Tenant, for several agents at one address. */
  tenant: string;
}

/** The address of an agent's card. */
export function cardURL(url: string): string {
  const parsed = new URL(url);
  if (parsed.pathname.endsWith(".json")) return parsed.href;
  if (!parsed.pathname.endsWith("/")) parsed.pathname += "/";
  return new URL(".well-known/agent-card.json", parsed).href;
}

/** The JSON-RPC interface of version 1 that a card names. @throws A2AError when it names none */
export function interfaceOf(card: unknown, base: string): RemoteInterface {
  const { supportedInterfaces, capabilities } = isJsonObject(card) ? card : {};
  const offered = Array.isArray(supportedInterfaces)
    ? supportedInterfaces.filter(isJsonObject)
    : [];
  const found = offered.find(
    ({ protocolBinding, protocolVersion }) =>
      protocolBinding === "JSONRPC" &&
      typeof protocolVersion === "string" &&
      /^1(\.|$)/.test(protocolVersion),
  );
  if (typeof found?.url !== "string" || !URL.canParse(found.url, base)) {
    const names = offered.map(({ protocolBinding, protocolVersion }) =>
      JSON.stringify([protocolBinding, protocolVersion]),
    );
    throw new A2AError(
      "a2a_protocol",
      `The agent card at ${base} names no JSON-RPC interface of A2A 1.0; it names ${names.join(", ") || "none"}.`,
    );
  }
  return {
    url: new URL(found.url, base).href,
    streaming: isJsonObject(capabilities) && capabilities.streaming === true,
    tenant: typeof found.tenant === "string" ? found.tenant : "",
  };
}
