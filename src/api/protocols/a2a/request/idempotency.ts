import type { Idempotency } from "../../../../contract/common.ts";
import { sortedJson } from "../../../../core/json.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import type { SentMessage } from "./params.ts";

/** The same message again finds the same task. */
export async function idempotencyOf(message: SentMessage): Promise<Idempotency> {
  return {
    key: `a2a-${await sha256Hex(message.messageId)}`,
    hash: await sha256Hex(sortedJson(message)),
  };
}
