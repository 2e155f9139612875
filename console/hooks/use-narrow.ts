import { useSyncExternalStore } from "react";

const query = matchMedia("(max-width: 720px)");

/** True in a window as narrow as a phone, as in the styles. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      query.addEventListener("change", onChange);
      return () => query.removeEventListener("change", onChange);
    },
    () => query.matches,
  );
}
