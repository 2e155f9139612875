/** The random part of a trace id that decides, 56 bits, as the W3C recommends. */
const BITS = 14;

/** Whether the trace is one of the part of all traces, as all who have to decide about it find. @param ratio 0 to 1 */
export function isSampled(trace: string, ratio: number): boolean {
  // Not a comparison with 1, which the largest ids are rounded to.
  if (ratio >= 1) return true;
  return Number.parseInt(trace.slice(-BITS), 16) / 16 ** BITS < ratio;
}
