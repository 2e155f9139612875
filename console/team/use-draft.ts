import { useCallback, useSyncExternalStore } from "react";

/** The prefix of all drafts in the browser's storage. */
export const DRAFTS = "troupe.draft.";

/** The drafts of this tab. They outlive the field: a message that fails while the user logs in again comes back to its draft. */
const drafts = new Map<string, string>();
const listeners = new Set<() => void>();

/** The text that the user has typed for a team and not sent. It is kept in this browser. */
export function useDraft(
  teamId: string,
): [string, (change: string | ((last: string) => string)) => void] {
  const key = `${DRAFTS}${teamId}`;
  const text = useSyncExternalStore(subscribe, () => read(key));
  const change = useCallback(
    (next: string | ((last: string) => string)): void =>
      write(key, typeof next === "string" ? next : next(read(key))),
    [key],
  );
  return [text, change];
}

/** Removes all drafts: the user has logged out. */
export function removeDrafts(): void {
  drafts.clear();
  for (const storage of [localStorage, sessionStorage]) {
    for (const key of Object.keys(storage)) {
      if (key.startsWith(DRAFTS)) storage.removeItem(key);
    }
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(key: string): string {
  const text = drafts.get(key) ?? localStorage.getItem(key) ?? "";
  drafts.set(key, text);
  return text;
}

function write(key: string, text: string): void {
  drafts.set(key, text);
  if (text.trim() === "") localStorage.removeItem(key);
  else localStorage.setItem(key, text);
  for (const listener of listeners) listener();
}
