import { useRef, useState } from "react";

export interface Task {
  busy: boolean;
  /** Why it failed the last time. */
  error: Error | undefined;
  /** Does something, unless something is being done already. */
  run: (action: () => Promise<unknown>) => Promise<void>;
}

/** Something that a button does: disabled in the meantime, with the reason beside it when it fails. */
export function useTask(): Task {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const running = useRef(false);
  const run = async (action: () => Promise<unknown>): Promise<void> => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await action();
    } catch (reason) {
      setError(reason as Error);
    }
    running.current = false;
    setBusy(false);
  };
  return { busy, error, run };
}
