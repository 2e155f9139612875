import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";
import { Name } from "./name.tsx";

interface FoldProps {
  icon: IconName;
  title: ReactNode;
  /** The agent that it belongs to, where that is not said around it. */
  source?: string | undefined;
  failed?: boolean;
  /** True if it is unfolded at first. */
  open?: boolean;
  children: ReactNode;
}

/** Details on one line, until they are unfolded. */
export function Fold({ icon, title, source, failed = false, open = false, children }: FoldProps) {
  return (
    <details className="fold" data-failed={failed} open={open}>
      <summary>
        <Icon name={icon} />
        <span className="fold-title">{title}</span>
        {source !== undefined && (
          <span className="muted">
            <Name name={source} />
          </span>
        )}
      </summary>
      <div className="fold-body">{children}</div>
    </details>
  );
}
