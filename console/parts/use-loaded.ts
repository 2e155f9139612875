import { useCallback, useEffect, useState } from "react";

export interface Loaded<T> {
  value: T | undefined;
  error: Error | undefined;
  /** Loads it again; what was loaded stays until then. */
  reload: () => void;
}

/** Loads something when the component is mounted, and whenever `load` is another function. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: Error }>({});
  const [count, setCount] = useState(0);
  useEffect(() => {
    let current = true;
    load().then(
      (value) => current && setState({ value }),
      (error: unknown) => current && setState((last) => ({ ...last, error: error as Error })),
    );
    return () => {
      current = false;
    };
  }, [load, count]);
  const reload = useCallback(() => setCount((last) => last + 1), []);
  return { value: state.value, error: state.error, reload };
}
