import * as z from "zod";
import { ValueError } from "../../../core/errors.ts";
import { listIssues, issuesOf } from "../../../core/issues.ts";

const SETTING = "A2A_CARD_KEY";

/** 32 bytes as base64url. */
const number = z.string().regex(/^[\w-]{43}$/, "must be 32 bytes as base64url");
const kid = z.string().min(1).max(200).optional();

const cardKeySchema = z.discriminatedUnion("kty", [
  z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: number, y: number, d: number, kid }),
  z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: number, d: number, kid }),
]);

/** The private key that agent cards are signed with: a JWK of P-256 or Ed25519. Other members are left out. */
export type CardKey = z.output<typeof cardKeySchema>;

/** @param setting empty: none. @throws ValueError, which does not show the key */
export function parseCardKey(setting = ""): CardKey | undefined {
  if (setting.trim() === "") return undefined;
  const parsed = cardKeySchema.safeParse(asJson(setting));
  if (parsed.success) return parsed.data;
  throw new ValueError(
    `${SETTING} must be a private JWK of the curve P-256 or Ed25519: ${listIssues(issuesOf(parsed.error))}`,
  );
}

function asJson(setting: string): unknown {
  try {
    return JSON.parse(setting);
  } catch {
    throw new ValueError(`${SETTING} must be a private JWK: it is not JSON`);
  }
}
