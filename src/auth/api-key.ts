import { crc32, randomBase62, toBase62 } from "./bytes.ts";

/** Base-62 digits: 71 bits of id, so that ids never collide, and 256 bits of secret. */
const ID_LENGTH = 12;
const SECRET_LENGTH = 43;

const KEY = /^trp_([a-z0-9-]{1,63})_([0-9A-Za-z]{12})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** A key made by `POST /v1/keys`; the tenant in it finds the tenant's object without a table of all keys. */
export interface ApiKey {
  tenant: string;
  id: string;
}

/**
 * A new key, `trp_{tenant}_{id}_{secret}` with a checksum at its end, so that secret scanners can tell one from a
 * look-alike.
 */
export function createApiKey(tenant: string): ApiKey & { key: string } {
  const id = randomBase62(ID_LENGTH);
  const text = `trp_${tenant}_${id}_${randomBase62(SECRET_LENGTH)}`;
  return { tenant, id, key: text + checksum(text) };
}

/** Parses a key; undefined for anything else, mistyped keys included. */
export function parseApiKey(text: string): ApiKey | undefined {
  const [, tenant, id] = KEY.exec(text) ?? [];
  if (tenant === undefined || id === undefined) return undefined;
  return text.endsWith(checksum(text.slice(0, -6))) ? { tenant, id } : undefined;
}

function checksum(text: string): string {
  return toBase62(crc32(text));
}
