import { type PointerEvent, useState } from "react";

export interface Pull {
  /** The line from the node to the pointer, in the units of the drawing. */
  line: readonly { x: number; y: number }[] | undefined;
  begin: (event: PointerEvent, from: string) => void;
  move: (event: PointerEvent) => void;
  end: (event: PointerEvent) => void;
  cancel: () => void;
}

/** Pulls a connection from a node to another one. By keyboard, the tool above the picture does the same. */
export function usePull(onConnect: ((from: string, to: string) => void) | undefined): Pull {
  const [line, setLine] = useState<Pull["line"]>();
  const [from, setFrom] = useState<string>();
  const pointOf = ({ currentTarget, clientX, clientY }: PointerEvent) => {
    const content = currentTarget.closest(".drawing-content");
    const { left = 0, top = 0, width = 1 } = content?.getBoundingClientRect() ?? {};
    const scale = width / ((content as HTMLElement | null)?.offsetWidth ?? width);
    return { x: (clientX - left) / scale, y: (clientY - top) / scale };
  };
  const cancel = (): void => {
    setLine(undefined);
    setFrom(undefined);
  };
  return {
    line,
    begin: (event, id) => {
      event.stopPropagation();
      event.currentTarget.setPointerCapture(event.pointerId);
      const at = pointOf(event);
      setFrom(id);
      setLine([at, at]);
    },
    move: (event) => {
      const at = pointOf(event);
      setLine((last) => last && [...last.slice(0, 1), at]);
    },
    end: (event) => {
      const below = document.elementFromPoint(event.clientX, event.clientY);
      const to = below?.closest<HTMLElement>("[data-node]")?.dataset["node"];
      if (from !== undefined && to !== undefined && to !== from) onConnect?.(from, to);
      cancel();
    },
    cancel,
  };
}
