import { useRef, useState } from "react";
import type { ButtonAction } from "./use-button-action.ts";

/** Like `useTask`, but runs actions one after the other, in the order of their calls. */
export function useSequence(): ButtonAction {
  const [waiting, setWaiting] = useState(0);
  const [error, setError] = useState<Error>();
  const last = useRef(Promise.resolve());
  const run = (action: () => Promise<unknown>): Promise<void> => {
    const after = async (earlier: Promise<void>): Promise<void> => {
      await earlier;
      try {
        await action();
      } catch (reason) {
        setError(reason as Error);
      }
      setWaiting((count) => count - 1);
    };
    setWaiting((count) => count + 1);
    setError(undefined);
    last.current = after(last.current);
    return last.current;
  };
  return { busy: waiting > 0, error, run };
}
