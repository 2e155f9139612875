import { hash64 } from "../../../core/hash.ts";

/** Short and of letters and digits, so that every API takes it. */
const REPLACED_LENGTH = 9;

/**
 * The id of a call or of its result, as an API takes it. Ids of other providers' models may have other characters, or be
 * longer; a replaced one is a function of the id, and so the same for the call and its result.
 *
 * @param index the position among the calls of a message, which is also that of the result
 * @param accepted the ids that the API takes
 */
export function acceptedCallId(id: string, index: number, accepted: RegExp): string {
  const given = id === "" ? `call_${index}` : id;
  return accepted.test(given) ? given : hash64(given).slice(0, REPLACED_LENGTH);
}
