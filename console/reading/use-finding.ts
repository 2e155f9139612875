import { useCallback, useEffect } from "react";
import { useSearchParams } from "wouter";

/** The field that finds a text: the address says whether it is open. Ctrl+F opens it; there, it is the browser's again. */
export function useFinding(enabled: boolean): { finding: boolean; close: () => void } {
  const [search, setSearch] = useSearchParams();
  const finding = search.has("find");
  useEffect(() => {
    if (!enabled || finding) return undefined;
    const pressed = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey)) return;
      if (event.shiftKey || event.altKey) return;
      event.preventDefault();
      setSearch(
        (last) => {
          const next = new URLSearchParams(last);
          next.set("find", "");
          return next;
        },
        { replace: true },
      );
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [enabled, finding, setSearch]);
  const close = useCallback((): void => {
    setSearch(
      (last) => {
        const next = new URLSearchParams(last);
        next.delete("find");
        next.delete("message");
        return next;
      },
      { replace: true },
    );
    document.querySelector<HTMLElement>("[role=log]")?.focus();
  }, [setSearch]);
  return { finding: enabled && finding, close };
}
