import { useCallback, useEffect, useRef, useState } from "react";

export interface Loaded<T> {
  value: T | undefined;
  error: Error | undefined;
  /** Loads it again. The loaded value stays until then. */
  reload: () => void;
}

/**
 * Loads a value when the component is mounted, and whenever `load` is a new function. Responses that arrive after a newer one
 * are ignored.
 */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: Error }>({});
  const [count, setCount] = useState(0);
  const wanted = useRef<() => Promise<T>>(undefined);
  const shown = useRef(-1);
  useEffect(() => {
    wanted.current = load;
    const isNews = (): boolean => {
      if (wanted.current !== load || count < shown.current) return false;
      shown.current = count;
      return true;
    };
    load().then(
      (value) => isNews() && setState({ value }),
      (error: unknown) => isNews() && setState((last) => ({ ...last, error: error as Error })),
    );
  }, [load, count]);
  useEffect(
    () => () => {
      wanted.current = undefined;
    },
    [],
  );
  const reload = useCallback(() => setCount((last) => last + 1), []);
  return { value: state.value, error: state.error, reload };
}
