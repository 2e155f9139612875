import { fromBase64 } from "../core/base64.ts";

export const KEY_BYTES = 32;

/** The bytes of the setting SECRETS_KEY; undefined when it is missing or not 32 bytes as base64. */
export function secretsKeyBytes(setting: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof setting !== "string") return undefined;
  try {
    const bytes = fromBase64(setting.trim());
    return bytes.length === KEY_BYTES ? bytes : undefined;
  } catch {
    return undefined;
  }
}
