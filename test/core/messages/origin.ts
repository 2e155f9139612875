import type { MessageOrigin } from "troupe";

/** Ids `id-0`, `id-1`, ... and a clock that stands still. */
export function testOrigin(): MessageOrigin {
  let count = 0;
  return { id: () => `id-${count++}`, now: () => "2026-01-02T03:04:05.000Z" };
}
