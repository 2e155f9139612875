import type { Page } from "playwright-core";

/** Longer timers belong to the page's features: an answer is sent, a change is made, a notice goes away. */
const SECONDS_MS = 4_000;

/**
 * Stops what the page does by itself after some seconds, so that a test has time for what a reader does in them. Lasts until the
 * page is loaded again.
 *
 * @returns lets the time of all of it be over
 */
export async function holdTimers(page: Page): Promise<() => Promise<void>> {
  await page.evaluate(`{
    const { setTimeout: start, clearTimeout: stop } = globalThis;
    const held = new Map();
    globalThis.setTimeout = (action, ms, ...given) => {
      if (!(ms >= ${SECONDS_MS})) return start(action, ms, ...given);
      const id = start(() => undefined, 2 ** 31 - 1);
      held.set(id, () => action(...given));
      return id;
    };
    globalThis.clearTimeout = (id) => {
      held.delete(id);
      stop(id);
    };
    globalThis.letTimePass = () => {
      Object.assign(globalThis, { setTimeout: start, clearTimeout: stop });
      for (const action of held.values()) action();
    };
  }`);
  return () => page.evaluate("letTimePass()");
}
