import { useRef, useState } from "react";

export interface ButtonAction {
  busy: boolean;
  /** The error of the last attempt. */
  error: Error | undefined;
  /** Runs an action, unless one is running. */
  run: (action: () => Promise<unknown>) => Promise<void>;
}

/** The action of a button, which is disabled while the action runs. If it fails, the error is shown beside the button. */
export function useButtonAction(): ButtonAction {
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
