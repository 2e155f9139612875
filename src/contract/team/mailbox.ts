import { sha256Hex } from "../../core/hash.ts";

/** The most characters before the @ of an e-mail address (RFC 5321), and those of a tenant's id that leave room for a hash. */
const LONGEST_MAILBOX = 64;
const LONGEST_TENANT = 40;
/** Hexadecimal digits of a hash. */
const HASH_DIGITS = 20;
/** Begins the hash of a tenant: no tenant's id has it. */
const HASHED = "_";

/**
 * The part before the @ of a trigger's address: `tenant+team+trigger` where that fits and has no capitals, which mail servers may change;
 * else the tenant and a hash.
 */
export async function mailboxOf(tenant: string, team: string, trigger: string): Promise<string> {
  const plain = `${tenant}+${team}+${trigger}`;
  if (plain.length <= LONGEST_MAILBOX && plain === plain.toLowerCase()) return plain;
  const name = tenant.length > LONGEST_TENANT ? await hashOfTenant(tenant) : tenant;
  return `${name}+${await hash(`${team}/${trigger}`)}`;
}

/** The hash that stands for a tenant in an address, which begins with a character that no tenant's id has. */
export async function hashOfTenant(tenant: string): Promise<string> {
  return HASHED + (await hash(tenant));
}

export function isHashOfTenant(name: string): boolean {
  return name.startsWith(HASHED);
}

async function hash(text: string): Promise<string> {
  return (await sha256Hex(text)).slice(0, HASH_DIGITS);
}
