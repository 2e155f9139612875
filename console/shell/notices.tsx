import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";

interface Notice {
  id: number;
  text: string;
  failed: boolean;
  link: NoticeLink | undefined;
}

/** Where a notice leads. */
interface NoticeLink {
  href: string;
  name: string;
}

interface NoticeActions {
  /** Says what was done. */
  tell: (text: string, link?: NoticeLink) => void;
  /** Does something, and says why it failed if it does. */
  attempt: (action: () => Promise<unknown>) => Promise<void>;
}

const Actions = createContext<NoticeActions>({
  tell: () => undefined,
  attempt: async (action) => {
    await action();
  },
});

/** Short messages at the edge of the page, which disappear unless they tell of a failure. */
export function useNotices(): NoticeActions {
  return useContext(Actions);
}

const SHOWN_MS = 4_000;
/** With a link: somebody wants to reach it. */
const LINK_SHOWN_MS = 12_000;

export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const remove = useCallback((id: number) => {
    setNotices((all) => all.filter((notice) => notice.id !== id));
  }, []);
  const actions = useMemo(() => {
    let last = 0;
    const show = (text: string, failed: boolean, link?: NoticeLink): void => {
      const id = ++last;
      setNotices((all) => [...all, { id, text, failed, link }]);
      if (!failed) setTimeout(() => remove(id), link ? LINK_SHOWN_MS : SHOWN_MS);
    };
    return {
      tell: (text: string, link?: NoticeLink) => show(text, false, link),
      attempt: async (action: () => Promise<unknown>) => {
        try {
          await action();
        } catch (error) {
          show((error as Error).message, true);
        }
      },
    };
  }, [remove]);
  return (
    <Actions value={actions}>
      {children}
      <div className="notices" role="status">
        {notices.map(({ id, text, failed, link }) => (
          <div key={id} className={failed ? "notice failed" : "notice"}>
            <span>
              {text}{" "}
              {link && (
                <Link href={link.href} onClick={() => remove(id)}>
                  {link.name}
                </Link>
              )}
            </span>
            <button
              className="button quiet icon-only"
              type="button"
              aria-label="Dismiss"
              onClick={() => remove(id)}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
    </Actions>
  );
}
