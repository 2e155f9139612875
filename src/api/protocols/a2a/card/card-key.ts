import { ValueError } from "../../../../core/errors.ts";
import { fieldIssues, type FieldRule } from "../../../../core/field-checks.ts";
import { listIssues } from "../../../../core/issues.ts";
import { isJsonObject } from "../../../../core/json.ts";

const SETTING = "A2A_CARD_KEY";

/** The private key that agent cards are signed with: a JWK of P-256 or Ed25519. */
export type CardKey = { x: string; d: string; kid?: string } & (
  | { kty: "EC"; crv: "P-256"; y: string }
  | { kty: "OKP"; crv: "Ed25519" }
);

const NUMBER: FieldRule = {
  accepts: (value) => typeof value === "string" && /^[\w-]{43}$/.test(value),
  message: "must be 32 bytes as base64url",
};
const KID: FieldRule = {
  accepts: (value) => typeof value === "string" && value !== "" && value.length <= 200,
  message: "must be 1 to 200 characters",
  optional: true,
};

/** The fields of both kinds of keys, by their `kty`. */
const FIELDS: { readonly [kty: string]: { readonly [field: string]: FieldRule } } = {
  EC: { kty: is("EC"), crv: is("P-256"), x: NUMBER, y: NUMBER, d: NUMBER, kid: KID },
  OKP: { kty: is("OKP"), crv: is("Ed25519"), x: NUMBER, d: NUMBER, kid: KID },
};

/**
 * @param setting empty: none. Members that are not needed are left out
 * @throws ValueError, which does not show the key
 */
export function parseCardKey(setting = ""): CardKey | undefined {
  if (setting.trim() === "") return undefined;
  const parsed = asJson(setting);
  const kty = isJsonObject(parsed) && typeof parsed.kty === "string" ? parsed.kty : "";
  const fields = Object.hasOwn(FIELDS, kty) ? FIELDS[kty] : undefined;
  if (!isJsonObject(parsed) || fields === undefined) throw refused("kty: must be EC or OKP");
  const key = Object.fromEntries(
    Object.entries(parsed).filter(([field]) => Object.hasOwn(fields, field)),
  );
  const issues = fieldIssues(key, fields, "");
  if (issues.length > 0) throw refused(listIssues(issues));
  return key as CardKey;
}

function is(text: string): FieldRule {
  return { accepts: (value) => value === text, message: `must be ${text}` };
}

function refused(why: string): ValueError {
  return new ValueError(`${SETTING} must be a private JWK of the curve P-256 or Ed25519: ${why}`);
}

function asJson(setting: string): unknown {
  try {
    return JSON.parse(setting);
  } catch {
    throw new ValueError(`${SETTING} must be a private JWK: it is not JSON`);
  }
}
