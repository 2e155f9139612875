import { type RefObject, useEffect } from "react";

const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1 };

/** The first of what can be filled in or chosen in a card. */
const FIELD = ":is(input, select, textarea, .choices button):not([hidden] *, :disabled)";

/**
 * The keys of a list of questions: `j` and `k` move the focus, and the card with the focus gets the other keys, whose elements
 * name them in `aria-keyshortcuts`. No answer moves the focus, so that a key pressed twice never answers the next question.
 *
 * @param list its children are the cards, or contain one each
 */
export function useCardKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { target, key } = event;
      if (list.current === null || event.defaultPrevented || event.altKey) return;
      if (!(target instanceof Element) || document.querySelector("dialog[open]")) return;
      const cards = [...list.current.children] as HTMLElement[];
      const index = cards.findIndex((card) => card.contains(target));
      const card = cards[index];
      const typing = target.closest("input, textarea, select, [contenteditable]") !== null;
      if (typing) {
        if (key === "Escape") card?.focus();
        return;
      }
      const control = event.ctrlKey || event.metaKey;
      const step = control ? undefined : STEPS[key];
      if (step !== undefined) {
        const next = index === -1 ? (step > 0 ? 0 : cards.length - 1) : index + step;
        cards[next]?.focus();
        cards[next]?.scrollIntoView({ block: "nearest" });
        event.preventDefault();
        return;
      }
      const name = control ? `Control+${key.toUpperCase()}` : key;
      if (event.repeat || card === undefined || !/^([are]|Control\+Z)$/.test(name)) return;
      const named = card.querySelector<HTMLElement>(
        `[aria-keyshortcuts="${name}"]:not([hidden] *, :disabled)`,
      );
      // Fields and choices have no key that answers with them.
      const field = /^[ae]$/.test(name) ? card.querySelector<HTMLElement>(FIELD) : null;
      const element = named ?? field;
      if (element === null) return;
      event.preventDefault();
      if (named?.matches("button") === true) element.click();
      else element.focus();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [list]);
}
