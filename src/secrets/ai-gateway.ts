import { trimEnd } from "../core/text/trim-end.ts";

/** The paths below an AI Gateway of Cloudflare that stand for the servers of makers. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ["https://api.openai.com/v1", "/openai"],
  ["https://api.anthropic.com", "/anthropic"],
  ["https://generativelanguage.googleapis.com", "/google-ai-studio"],
]);

/**
 * The address of a maker's server behind an AI Gateway; the same address without a gateway, or for a server that it does not know.
 *
 * @param gateway the setting AI_GATEWAY_URL
 */
export function behindGateway(url: string, gateway: string | undefined): string {
  if (gateway === undefined) return url;
  for (const [server, place] of PLACES) {
    if (url.startsWith(server)) return trimEnd(gateway, "/") + place + url.slice(server.length);
  }
  return url;
}

/** True for the host of a server that an AI Gateway stands for. */
export function isBehindGateway(host: string): boolean {
  return [...PLACES.keys()].some((server) => new URL(server).host === host);
}
