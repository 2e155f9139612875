import { useEffect } from "react";

/** An element that had the focus, and the ones around it with the place of each in its parent, from the inside out. */
interface FocusPosition {
  element: HTMLElement;
  around: readonly { parent: Element; index: number }[];
}

/** Elements whose children are alike: what follows a removed one takes its place. */
const LISTS = "ul, ol, tbody, [role='list'], [role='listbox'], [role='rowgroup'], .dock-forms";

/**
 * Keeps the focus on the page. When the element that has it is removed, hidden or disabled, the focus would fall to the body, and the next
 * Tab would begin at the top. It moves to what took the place of the element in its list, or else to the part of the page around it, and
 * never to another button, which a key that is pressed twice would press. It returns to a button that was disabled for a while.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: FocusPosition | undefined;
    let stand: { for: HTMLElement; on: HTMLElement } | undefined;
    let frame = 0;
    const entered = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLElement) || target === document.body) return;
      if (target !== stand?.on) stand = undefined;
      last = positionOf(target);
    };
    const look = (): void => {
      const { activeElement: active } = document;
      if (stand !== undefined && active === stand.on && canHaveFocus(stand.for)) {
        stand.for.focus({ preventScroll: true });
        return;
      }
      if (last === undefined || (active !== null && active !== document.body)) return;
      // A click beside it has taken the focus from an element that could keep it.
      if (canHaveFocus(last.element)) return;
      const { element } = last;
      const next = successorOf(last);
      if (!next.hasAttribute("tabindex")) standIn(next);
      next.focus({ preventScroll: true });
      stand = element.isConnected ? { for: element, on: next } : undefined;
    };
    const changed = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(look);
    });
    changed.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["hidden", "disabled", "open"],
    });
    document.addEventListener("focusin", entered);
    return () => {
      changed.disconnect();
      cancelAnimationFrame(frame);
      document.removeEventListener("focusin", entered);
    };
  }, []);
}

function positionOf(element: HTMLElement): FocusPosition {
  const around: { parent: Element; index: number }[] = [];
  for (let one: Element = element; one.parentElement !== null; one = one.parentElement) {
    around.push({ parent: one.parentElement, index: [...one.parentElement.children].indexOf(one) });
  }
  return { element, around };
}

function successorOf({ around }: FocusPosition): HTMLElement {
  const modal = [...document.querySelectorAll<HTMLElement>("dialog:modal")].at(-1);
  for (const { parent, index } of around) {
    if (!isShown(parent) || (modal !== undefined && !modal.contains(parent))) continue;
    if (parent.matches(LISTS)) {
      const next = parent.children[index] ?? parent.children[index - 1];
      if (next instanceof HTMLElement && isShown(next)) return next;
    }
    const part = parent.closest<HTMLElement>("[tabindex], dialog, li, form, main");
    if (part !== null && isShown(part)) return part;
  }
  return modal ?? document.querySelector("main") ?? document.body;
}

/** Makes an element that takes no focus take it once. */
function standIn(element: HTMLElement): void {
  element.tabIndex = -1;
  element.addEventListener("blur", () => element.removeAttribute("tabindex"), { once: true });
}

function isShown(element: Element): boolean {
  return element.isConnected && element !== document.body && element.checkVisibility();
}

function canHaveFocus(element: HTMLElement): boolean {
  return isShown(element) && !element.matches(":disabled");
}
