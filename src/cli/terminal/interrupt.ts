/**
 * Runs an action until it is done or Ctrl-C is pressed. A second Ctrl-C ends the process at once.
 *
 * @param action ends with an error when its signal is aborted
 * @returns whether it was interrupted
 */
export async function untilInterrupted(
  action: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const controller = new AbortController();
  const { signal } = controller;
  const interrupt = (): void => controller.abort();
  process.once("SIGINT", interrupt);
  try {
    await action(signal);
    return false;
  } catch (error) {
    if (signal.aborted) return true;
    throw error;
  } finally {
    process.off("SIGINT", interrupt);
  }
}
