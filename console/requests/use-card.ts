import {
  type CSSProperties,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";

interface Card {
  ref: RefObject<HTMLDivElement | null>;
  style: CSSProperties | undefined;
}

/**
 * The element of a card. When its question is answered, it keeps the height that it had, so that nothing moves, and the focus,
 * which was on what disappears.
 *
 * @param asking whether the question has no answer
 */
export function useCard(asking: boolean): Card {
  const ref = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState<number>();
  useEffect(() => {
    const card = ref.current;
    if (!asking || card === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(card.getBoundingClientRect().height));
    observer.observe(card);
    return () => observer.disconnect();
  }, [asking]);
  useLayoutEffect(() => {
    const card = ref.current;
    if (asking || card?.contains(document.activeElement) !== true) return;
    card.closest<HTMLElement>("[tabindex='-1']")?.focus({ preventScroll: true });
  }, [asking]);
  return { ref, style: asking ? undefined : { minHeight: height } };
}
