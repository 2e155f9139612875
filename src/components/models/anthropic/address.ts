import type { ModelAddress } from "../client/model-address.ts";

/** The server of an Anthropic client. */
export function anthropicAddress({
  base_url,
}: {
  base_url?: string | null | undefined;
}): ModelAddress {
  return { url: base_url ?? "https://api.anthropic.com", keyName: "ANTHROPIC_API_KEY" };
}

/** The path of the Messages API. */
export const MESSAGES_PATH = "/v1/messages";

/** The URL of the Messages API of a server. */
export function messagesUrl(base: string): string {
  return `${base.endsWith("/") ? base.slice(0, -1) : base}${MESSAGES_PATH}`;
}
