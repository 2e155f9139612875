import { type ReactNode, useRef } from "react";

interface MenuProps {
  /** The button that opens it. */
  summary: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A menu below its button. It closes when something in it is chosen, with Escape, and when the focus leaves it. */
export function Menu({ summary, className = "menu", children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (menu.current) menu.current.open = false;
  };
  return (
    <details
      ref={menu}
      className={className}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || menu.current?.open !== true) return;
        close();
        menu.current.querySelector("summary")?.focus();
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) close();
      }}
    >
      {summary}
      <div
        className="menu-items"
        onClick={({ target }) => {
          if (!(target instanceof Element) || target.closest("a, button") === null) return;
          // A dialog that opens now gives the focus back to it.
          menu.current?.querySelector("summary")?.focus();
          close();
        }}
      >
        {children}
      </div>
    </details>
  );
}
