import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { Link } from "wouter";
import { sentenceOf } from "../parts/error-words.ts";
import { IconButton } from "../parts/icon-button.tsx";
import { UndoNotice } from "./undo-notice.tsx";

interface Notice {
  id: number;
  text: string;
  failed: boolean;
  link?: NoticeLink | undefined;
  /** The change, if it can be undone. */
  key?: string | undefined;
}

/** The link of a notice. */
interface NoticeLink {
  href: string;
  name: string;
}

/** A change that is made after a delay. */
export interface Postponed {
  /** The key of the item that disappears at once, for {@link useGone}. */
  key: string;
  /** The text of the notice. */
  text: string;
  action: () => Promise<unknown>;
}

interface NoticeActions {
  /** Shows a notice. */
  tell: (text: string, link?: NoticeLink) => void;
  /** Runs an action, and shows the error if it fails. */
  attempt: (action: () => Promise<unknown>) => Promise<void>;
  /** Makes a change after a few seconds unless it is undone, or at once when the user leaves the page. */
  postpone: (change: Postponed) => void;
  /** Cancels a pending change. */
  undo: (key: string) => void;
}

const Actions = createContext<NoticeActions>({
  tell: () => undefined,
  attempt: async (action) => {
    await action();
  },
  postpone: () => undefined,
  undo: () => undefined,
});
const Gone = createContext<ReadonlySet<string>>(new Set());

/** Short messages at the edge of the page. They disappear, except errors. */
export function useNotices(): NoticeActions {
  return useContext(Actions);
}

/** The keys of items that were deleted or whose deletion is pending, which are hidden. */
export function useGone(): ReadonlySet<string> {
  return useContext(Gone);
}

const SHOWN_MS = 4_000;
/** Notices with a link stay longer, so that the user can follow it. */
const LINK_SHOWN_MS = 12_000;

export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const [gone, setGone] = useState<ReadonlySet<string>>(() => new Set());
  const waiting = useRef(new Map<string, Postponed["action"]>());
  const remove = useCallback((id: number) => {
    setNotices((all) => all.filter((notice) => notice.id !== id));
  }, []);
  const actions = useMemo(() => {
    let last = 0;
    const show = (notice: Omit<Notice, "id">): void => {
      const id = ++last;
      setNotices((all) => [...all, { ...notice, id }]);
      if (notice.failed || notice.key !== undefined) return;
      setTimeout(() => remove(id), notice.link ? LINK_SHOWN_MS : SHOWN_MS);
    };
    const attempt = async (action: () => Promise<unknown>): Promise<void> => {
      try {
        await action();
      } catch (error) {
        show({ text: sentenceOf(error as Error), failed: true });
      }
    };
    const close = (key: string): void => {
      setNotices((all) => all.filter((notice) => notice.key !== key));
    };
    const bringBack = (key: string): void => {
      setGone((all) => new Set([...all].filter((other) => other !== key)));
    };
    return {
      tell: (text: string, link?: NoticeLink) => show({ text, failed: false, link }),
      attempt,
      postpone: ({ key, text, action }: Postponed) => {
        waiting.current.set(key, action);
        setGone((all) => new Set([...all, key]));
        show({ text, failed: false, key });
      },
      undo: (key: string) => {
        if (!waiting.current.delete(key)) return;
        bringBack(key);
        close(key);
      },
      /** Makes a pending change. */
      settle: (key: string) => {
        const action = waiting.current.get(key);
        waiting.current.delete(key);
        close(key);
        if (action === undefined) return;
        void attempt(async () => {
          try {
            await action();
          } catch (error) {
            bringBack(key);
            throw error;
          }
        });
      },
    };
  }, [remove]);
  const { settle, undo } = actions;

  useEffect(() => {
    const { current } = waiting;
    const settleAll = (): void => {
      for (const key of current.keys()) settle(key);
    };
    addEventListener("pagehide", settleAll);
    return () => {
      removeEventListener("pagehide", settleAll);
      settleAll();
    };
  }, [settle]);

  const newest = notices.findLast(({ key }) => key !== undefined)?.id;
  return (
    <Actions value={actions}>
      <Gone value={gone}>{children}</Gone>
      <div className="notices" role="status">
        {notices.map(({ id, text, failed, link, key }) =>
          key === undefined ? (
            <div key={id} className={failed ? "notice failed" : "notice"}>
              <span>
                {text}{" "}
                {link && (
                  <Link href={link.href} onClick={() => remove(id)}>
                    {link.name}
                  </Link>
                )}
              </span>
              <IconButton icon="close" name="Dismiss" onClick={() => remove(id)} />
            </div>
          ) : (
            <UndoNotice
              key={id}
              text={text}
              byKeyboard={id === newest}
              onUndo={() => undo(key)}
              onTimeOver={() => settle(key)}
            />
          ),
        )}
      </div>
    </Actions>
  );
}
