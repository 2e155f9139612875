import type { Refused, Result } from "../contract/result.ts";
import {
  isUnopened,
  isUnreadable,
  notErased,
  refuseUnopened,
  type StoredObject,
} from "../contract/stored-data.ts";

/** The two ways to erase an object. */
export interface Erasure<T> {
  erase: () => Promise<Result<T>>;
  /** Erases what is stored without reading it. */
  wipe: () => Promise<Result<null>>;
}

/** Pauses before another attempt to erase an object that the runtime did not open, in milliseconds. */
const PAUSES_MS = [100, 400];

/**
 * Erases an object, also one whose data cannot be read.
 *
 * @returns "wiped" if what it held could not be read
 * @throws an error that passes
 */
export async function eraseObject<T>(
  object: StoredObject,
  { erase, wipe }: Erasure<T>,
): Promise<Result<T> | "wiped"> {
  const refuse = (error: unknown): Refused => refuseUnopened(error, object);
  let erased: Result<T> = await erase().catch(refuse);
  for (const pause of PAUSES_MS) {
    // The runtime says of a damaged file that it cannot open what it says of faults that pass.
    if (erased.ok || !isUnopened(erased)) break;
    await new Promise((resolve) => setTimeout(resolve, pause));
    erased = await erase().catch(refuse);
  }
  if (erased.ok || !isUnreadable(erased, object)) return erased;
  const wiped = await wipe().catch(refuse);
  if (wiped.ok) return "wiped";
  return isUnreadable(wiped, object) ? notErased(wiped) : wiped;
}
