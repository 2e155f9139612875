import { useSyncExternalStore } from "react";

/** Widths in pixels, as in the styles: a phone's, and that of a window without room beside a conversation. */
const WIDTHS = { phone: 720, side: 1080 };

/** True in a window that is at most as wide. */
export function useNarrow(width: keyof typeof WIDTHS = "phone"): boolean {
  const query = matchMedia(`(max-width: ${WIDTHS[width]}px)`);
  return useSyncExternalStore(
    (onChange) => {
      query.addEventListener("change", onChange);
      return () => query.removeEventListener("change", onChange);
    },
    () => query.matches,
  );
}
