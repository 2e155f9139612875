import { useEffect, useState } from "react";
import { flushSync } from "react-dom";

/** True while the page is printed. It is rendered again before the browser lays out the paper. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const media = window.matchMedia("print");
    const change = (): void => flushSync(() => setPrinting(media.matches));
    const before = (): void => flushSync(() => setPrinting(true));
    const after = (): void => setPrinting(false);
    media.addEventListener("change", change);
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
    return () => {
      media.removeEventListener("change", change);
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
    };
  }, []);
  return printing;
}
