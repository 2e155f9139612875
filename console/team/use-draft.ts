import { useCallback, useState } from "react";

/** What begins the names of all drafts that the browser keeps. */
export const DRAFTS = "troupe.draft.";

/** The text that the user has typed for a team and not sent. It is kept in this browser. */
export function useDraft(
  teamId: string,
): [string, (change: string | ((last: string) => string)) => void] {
  const key = `${DRAFTS}${teamId}`;
  const [text, setText] = useState(() => localStorage.getItem(key) ?? "");
  const change = useCallback(
    (next: string | ((last: string) => string)): void =>
      setText((last) => {
        const now = typeof next === "string" ? next : next(last);
        if (now.trim() === "") localStorage.removeItem(key);
        else localStorage.setItem(key, now);
        return now;
      }),
    [key],
  );
  return [text, change];
}

/** Removes all drafts: the user has logged out. */
export function removeDrafts(): void {
  for (const storage of [localStorage, sessionStorage]) {
    for (const key of Object.keys(storage)) {
      if (key.startsWith(DRAFTS)) storage.removeItem(key);
    }
  }
}
