/** The longest delay of a timer; a longer one fires at once. */
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

/** Lets other requests of the process come before the next line of long work. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 0));
}

/** Ends a generator whose further values are not wanted: it runs its `finally` blocks. */
export async function endEarly(values: AsyncIterator<unknown, unknown>): Promise<void> {
  await values.return?.();
}

/**
 * The result of work with a time limit of `ms`. Late work continues; its result is dropped.
 *
 * @throws Error `not done within {ms} ms`
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
