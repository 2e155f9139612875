import type { TriggerKind } from "../constants.ts";

// Apart from the schemas: the tenant's object checks secrets, too, and must not start with a library of schemas.

/** Why a secret does not fit a kind. */
export function secretIssue(kind: TriggerKind, secret: string): string | undefined {
  if (kind === "email") return "belongs to the other kinds: e-mail has no secret";
  if (kind === "plain" && !/^[\x21-\x7e]+$/.test(secret)) {
    return "must be visible ASCII characters without spaces, as it is sent in a header";
  }
  if (kind !== "standard" || STANDARD_SECRET.test(secret)) return undefined;
  return "must be whsec_ and at least 16 bytes as base64, as Standard Webhooks has it";
}

const STANDARD_SECRET =
  /^(?:whsec_)?(?:[A-Za-z0-9+/]{4}){5,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
