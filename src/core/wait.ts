/** A timer that is set to more than this rings at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms`. @throws the signal's reason as soon as it aborts */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    if (signal.aborted) done();
  });
  signal.throwIfAborted();
}
