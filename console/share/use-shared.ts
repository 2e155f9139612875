import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import {
  Conversation,
  type FilePage,
  type Message,
  type SharedConversation,
  type TextInProgress,
  type TroupeClient,
} from "troupe/client";

interface Shown {
  label: string | null;
  component: SharedConversation["component"];
  messages: readonly Message[];
  /** Texts that are being written. */
  texts: readonly TextInProgress[];
  hasEarlier: boolean;
}

interface Shared {
  conversation: Shown | undefined;
  /** Undefined if the link does not show them. */
  files: FilePage["files"] | undefined;
  error: Error | undefined;
  reload: () => void;
  loadEarlier: () => void;
}

const PAGE = 200;

/** The loaded parts of a shared conversation, besides its messages. */
interface Loaded {
  page: Pick<SharedConversation, "label" | "component">;
  files: FilePage["files"] | undefined;
}

/** A shared conversation from its end, as it is written. */
export function useShared(client: TroupeClient, id: string): Shared {
  const team = useMemo(() => client.team(id), [client, id]);
  const conversation = useRef(new Conversation());
  const [loaded, setLoaded] = useState<Loaded>();
  const [said, setSaid] = useState<Pick<Shown, "messages" | "texts">>();
  const [before, setBefore] = useState<number | null>(null);
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    const left = new AbortController();
    const { signal } = left;
    const own = new Conversation();
    conversation.current = own;
    let last: number | undefined;
    const load = async (): Promise<number> => {
      if (last !== undefined) return last;
      const page = await team.conversation({ before: Number.MAX_SAFE_INTEGER, limit: PAGE });
      const { scopes } = await client.whoami();
      const listed = scopes.includes("files:read") ? await team.files({ limit: PAGE }) : undefined;
      signal.throwIfAborted();
      own.prepend(page.messages);
      setLoaded({ page, files: listed?.files });
      setBefore(page.next_before);
      setSaid({ messages: own.messages, texts: own.texts });
      last = page.messages.at(-1)?.seq ?? 0;
      return last;
    };
    const follow = async (): Promise<void> => {
      const options = { after: load, signal, conversation: own, background: false };
      const items = team.conversationEvents({ ...options, patienceMs: Infinity });
      for await (const { kind } of items) {
        const grows = kind === "text" || kind === "discard";
        setSaid((shown) => ({
          messages: grows && shown !== undefined ? shown.messages : own.messages,
          texts: own.texts,
        }));
      }
    };
    setError(undefined);
    follow().catch((reason: unknown) => {
      if (signal.aborted) return;
      setLoaded(undefined);
      setError(reason as Error);
    });
    return () => left.abort();
  }, [client, team, attempt]);

  const reload = useCallback(() => setAttempt((last) => last + 1), []);
  const loadEarlier = (): void => {
    if (before === null) return;
    const own = conversation.current;
    team.conversation({ before, limit: PAGE }).then(
      (page) => {
        own.prepend(page.messages);
        setBefore(page.next_before);
        return setSaid({ messages: own.messages, texts: own.texts });
      },
      (reason: unknown) => setError(reason as Error),
    );
  };
  const shown = loaded && said && { ...loaded.page, ...said, hasEarlier: before !== null };
  return { conversation: shown, files: loaded?.files, error, reload, loadEarlier };
}
