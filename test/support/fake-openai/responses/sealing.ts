import { createHmac } from "node:crypto";

/**
 * What a server writes into `encrypted_content`: only the holder of the same key can read it, and no other item may carry it.
 *
 * @param key the key of the account that asks: another account's content cannot be verified
 */
export function seal(key: string, reasoningId: string): string {
  const mark = createHmac("sha256", key).update(reasoningId).digest("base64url");
  return `gAAAA.${Buffer.from(reasoningId).toString("base64url")}.${mark}`;
}

/** The id of the reasoning item that a content was made for; undefined when this account did not make it. */
export function open(key: string, content: string): string | undefined {
  const id = Buffer.from(content.split(".")[1] ?? "", "base64url").toString("utf8");
  return content === seal(key, id) ? id : undefined;
}

const KINDS = { function_call: "fc", message: "msg" } as const;

/** Ids of one answer's items, which tell what belongs together. */
export const reasoningIdOf = (digest: string): string => `rs_${digest}`;
export const itemIdOf = (type: keyof typeof KINDS, digest: string, index: number): string =>
  `${KINDS[type]}_${digest}_${index}`;

/** The reasoning that an item was written after; undefined for one of an answer without reasoning. */
export function requiredReasoning(itemId: string): string | undefined {
  const digest = /^(?:fc|msg)_(r[0-9a-f]+)_\d+$/.exec(itemId)?.[1];
  return digest === undefined ? undefined : reasoningIdOf(digest);
}
