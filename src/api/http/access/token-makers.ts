import type { TokenMaker } from "../../../contract/common.ts";
import type { Principal } from "../../auth/principal.ts";
import type { TeamTokens } from "../../auth/team-token.ts";
import { permits } from "./access-control.ts";

/** The key with which a token of this caller ends. One that may revoke the tokens of all makes tokens that outlive it. */
export async function makerOf(
  { id, kind, key, scopes }: Principal,
  teamTokens: TeamTokens,
): Promise<TokenMaker | null> {
  if (permits(scopes, "keys:write")) return null;
  if (key !== undefined) return { key };
  return kind === "static" ? { static: await teamTokens.nameOf(id) } : null;
}

/** True if the key with which a token ends still exists. The tenant itself drops the tokens of a created key. */
export function isLeft(ends_with: TokenMaker | null, configured: ReadonlySet<string>): boolean {
  return ends_with === null || "key" in ends_with || configured.has(ends_with.static);
}
