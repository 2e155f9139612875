import { TroupeError } from "../errors.ts";

/**
 * Messages of the platform that come without a flag, or reach an object's own code before the flag is set
 * (developers.cloudflare.com/durable-objects/observability/troubleshooting).
 */
const PLATFORM = [
  "Network connection lost",
  "internal error; reference =",
  "Internal error in Durable Object storage",
  "Durable Object reset because its code was updated",
  "code has been updated, this version can no longer access storage",
  "Durable Object storage operation exceeded timeout",
  "Durable Object storage is no longer accessible",
  "Cannot access storage because object has moved",
  "Cannot resolve Durable Object due to transient issue",
  "caused object to be reset",
  "exceeded its CPU time limit and was reset",
  "exceeded its memory limit and was reset",
  "Durable Object is overloaded",
  "generating too much load on Durable Objects",
];

/**
 * True if an error passes by itself, so that another attempt may succeed: an object of the platform was reset, moved,
 * updated or overloaded, or the error says so of itself (`retryable`), as those of models and servers do. The one place
 * that decides this, for answers to clients, steps, and deliveries.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isSet(error, "retryable")) return true;
  if (error instanceof TroupeError) return false;
  if (isSet(error, "durableObjectReset") || isSet(error, "overloaded")) return true;
  return PLATFORM.some((message) => error.message.includes(message));
}

/** True if a call that may be made twice is made again at once: an object that is overloaded would be so even more. */
export function isPassingAtOnce(error: unknown): boolean {
  return isPassing(error) && error instanceof Error && !isSet(error, "overloaded");
}

function isSet(error: Error, flag: string): boolean {
  return Reflect.get(error, flag) === true;
}
