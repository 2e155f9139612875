/**
 * Output of the runtime that needs no action: about itself, and about connections that were cut off, for example streams by
 * a reload.
 */
const NOISE =
  /\bNOSENTRY\b|\b(?:kj|capnp|workerd)\/[\w./+-]+\.c\+\+:\d+: |^stack: [0-9a-f ]+$|^(?:✘ \[ERROR\] )?(?:Uncaught (?:\(in \w+\) )?)?Error: Network connection lost\.?$/;

/** @param line without colours */
export function isNoise(line: string): boolean {
  return NOISE.test(line);
}
