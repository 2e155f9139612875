import {
  behindGateway,
  type OutgoingDependencies,
  readEnv,
} from "../../../outgoing/dependencies.ts";
import type { ModelAddress } from "../client/model-address.ts";

const ANTHROPIC_URL = "https://api.anthropic.com";

/** The server of an Anthropic client, which may be behind the gateway of AI_GATEWAY_URL. */
export function anthropicAddress(
  { base_url }: { base_url?: string | null | undefined },
  dependencies: OutgoingDependencies,
): ModelAddress {
  const url = base_url ?? behindGateway(ANTHROPIC_URL, readEnv(dependencies, "AI_GATEWAY_URL"));
  return { url, keyName: "ANTHROPIC_API_KEY" };
}

/** The path of the Messages API. */
export const MESSAGES_PATH = "/v1/messages";

/** The URL of the Messages API of a server. */
export function messagesUrl(base: string): string {
  return `${base.endsWith("/") ? base.slice(0, -1) : base}${MESSAGES_PATH}`;
}
