import { type MouseEvent, type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/** A user who is about to click needs this time to notice that the layout has shifted. */
const SHIFTED_MS = 800;

interface Steady<List extends HTMLElement> {
  ref: RefObject<List | null>;
  onClickCapture: (event: MouseEvent) => void;
}

/**
 * Protects a list whose buttons have consequences: clicks on a child are ignored for a moment after the layout moved the child.
 * Scrolling does not count as moving.
 *
 * @param among `page`: whatever moves the list counts, too; `list`: only what moves its children apart, where the list stands
 * above
 * something and grows upwards
 */
export function useSteady<List extends HTMLElement>(among: "page" | "list"): Steady<List> {
  const ref = useRef<List>(null);
  const places = useRef(new Map<Element, { top: number; since: number }>());
  const look = useRef(() => {
    const list = ref.current;
    if (list === null) return;
    const now = performance.now();
    const origin = list.getBoundingClientRect().top - (among === "page" ? offsetOf(list) : 0);
    const before = places.current;
    places.current = new Map(
      [...list.children].map((child) => {
        const top = Math.round(child.getBoundingClientRect().top - origin);
        const existing = before.get(child);
        if (existing === undefined) return [child, { top, since: Number.NEGATIVE_INFINITY }];
        return [child, existing.top === top ? existing : { top, since: now }];
      }),
    );
  });
  useLayoutEffect(() => look.current());
  useEffect(() => {
    const list = ref.current;
    if (list === null) return undefined;
    const observer = new ResizeObserver(() => look.current());
    observer.observe(list);
    observer.observe(document.body);
    const children = new MutationObserver(() => look.current());
    children.observe(list, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      children.disconnect();
    };
  }, []);
  const onClickCapture = (event: MouseEvent): void => {
    // Keyboard clicks are allowed, because the focus does not shift with the layout.
    if (event.detail === 0) return;
    look.current();
    const child = [...places.current].find(([one]) => one.contains(event.target as Node));
    if (child === undefined || performance.now() - child[1].since >= SHIFTED_MS) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return { ref, onClickCapture };
}

/** The distance of the list from the top of the scrolled content. */
function offsetOf(list: HTMLElement): number {
  let top = 0;
  for (
    let part: HTMLElement | null = list;
    part !== null;
    part = part.offsetParent as HTMLElement | null
  ) {
    top += part.offsetTop;
  }
  return top;
}
