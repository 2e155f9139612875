/** For `vi.waitFor` and `vi.waitUntil`, which give up after a second: a limit ends what hangs, it does not judge what is slow. */
export const PATIENCE = { timeout: 60_000, interval: 20 };
