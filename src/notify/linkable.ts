import { isJsonObject } from "../core/json.ts";

/** The facts of a request that decide who may answer it. */
interface AskedFacts {
  kind: string;
  login?: unknown;
  rule?: unknown;
}

/**
 * True if a link may answer a request. A link is not a subject: it answers what anybody with `requests:write` may answer, and not
 * what a rule leaves to named people or to several. A client's tool and a login are answered by programs and on pages of their own.
 */
export function mayAnswerByLink({ kind, login, rule }: AskedFacts): boolean {
  if (kind === "tool" || login !== undefined) return false;
  if (!isJsonObject(rule)) return true;
  const { by, quorum } = rule;
  return by === undefined && (quorum === undefined || quorum === 1);
}
