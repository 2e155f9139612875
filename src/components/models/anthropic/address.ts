import type { ModelAddress } from "../model-address.ts";

/** The server of an Anthropic client. */
export function anthropicAddress({
  base_url,
}: {
  base_url?: string | null | undefined;
}): ModelAddress {
  return { url: base_url ?? "https://api.anthropic.com", keyName: "ANTHROPIC_API_KEY" };
}
