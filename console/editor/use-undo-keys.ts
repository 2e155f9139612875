import { type RefObject, useEffect, useRef } from "react";
import type { Draft } from "./use-draft.ts";

/**
 * Ctrl+Z and Ctrl+Shift+Z undo and redo changes of a draft, wherever the focus is. In a text field they belong to the browser, except
 * after another version was loaded: the browser would undo the typing before it.
 *
 * @param panel around the fields of the draft
 */
export function useUndoKeys(draft: Draft, panel: RefObject<HTMLElement | null>): void {
  const latest = useRef(draft);
  latest.current = draft;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { target, key, shiftKey, defaultPrevented } = event;
      if (key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
      if (defaultPrevented || !(target instanceof Element) || target.closest("dialog")) return;
      const { undo, redo, afterLoad } = latest.current;
      const isTyping = target.closest("input, textarea, select") !== null;
      if (isTyping && !(afterLoad && panel.current?.contains(target))) return;
      const action = shiftKey ? redo : undo;
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [panel]);
}
