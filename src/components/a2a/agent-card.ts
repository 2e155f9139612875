import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
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

/**
 * The JSON-RPC interface of version 1 that a card names, also in the names of Protocol Buffers, and in other spellings of the binding
 * and the version.
 *
 * @throws A2AError when it names none
 */
export function interfaceOf(card: unknown, base: string): RemoteInterface {
  const given = isJsonObject(card) ? card : {};
  const { supportedInterfaces = given["supported_interfaces"], capabilities } = given;
  const offered = [supportedInterfaces ?? []].flat().filter(isJsonObject).map(offerOf);
  const found = offered.find(
    ({ url, binding, version }) =>
      isBinding(binding) && isVersion(version) && url !== undefined && URL.canParse(url, base),
  );
  if (found?.url === undefined) {
    const names = offered.map(({ binding, version }) => JSON.stringify([binding, version]));
    throw new A2AError(
      "a2a_protocol",
      `The agent card at ${base} names no JSON-RPC interface of A2A 1.0; it names ${names.join(", ") || "none"}.`,
    );
  }
  return {
    url: new URL(found.url, base).href,
    streaming: isJsonObject(capabilities) && isTrue(capabilities.streaming),
    tenant: found.tenant,
  };
}

const isTrue = (value: Json | undefined): boolean => value === true || value === "true";

interface Offer {
  url: string | undefined;
  binding: Json | undefined;
  version: Json | undefined;
  tenant: string;
}

function offerOf(input: JsonObject): Offer {
  const { url, tenant } = input;
  return {
    url: typeof url === "string" ? url.trim() : undefined,
    binding: input["protocolBinding"] ?? input["protocol_binding"] ?? input["transport"],
    version: input["protocolVersion"] ?? input["protocol_version"],
    tenant: typeof tenant === "string" ? tenant : "",
  };
}

function isBinding(binding: Json | undefined): boolean {
  return typeof binding === "string" && /^json[-_ ]?rpc$/i.test(binding.trim());
}

/** Interfaces in this form came with version 1. */
function isVersion(version: Json | undefined): boolean {
  if (version === undefined || version === null) return true;
  return /^v?1(\.|$)/i.test(typeof version === "string" ? version.trim() : JSON.stringify(version));
}
