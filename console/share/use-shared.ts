import { useCallback, useEffect, useState } from "react";
import type { FilePage, SharedConversation, ThreadMessage, TroupeClient } from "troupe/client";

interface Shown {
  label: string | null;
  component: SharedConversation["component"];
  messages: readonly ThreadMessage[];
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
/** How often later messages are looked up. */
const EVERY_MS = 5_000;

/** A shared conversation from its end, as it grows. */
export function useShared(client: TroupeClient, id: string): Shared {
  const [conversation, setConversation] = useState<Shown>();
  const [before, setBefore] = useState<number | null>(null);
  const [after, setAfter] = useState(0);
  const [files, setFiles] = useState<FilePage["files"]>();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    let current = true;
    const load = async (): Promise<void> => {
      const team = client.team(id);
      const page = await team.conversation({ before: Number.MAX_SAFE_INTEGER, limit: PAGE });
      const { scopes } = await client.whoami();
      const listed = scopes.includes("files:read") ? await team.files({ limit: PAGE }) : undefined;
      if (!current) return;
      setConversation({ ...page, hasEarlier: page.next_before !== null });
      setBefore(page.next_before);
      setAfter(page.messages.at(-1)?.seq ?? 0);
      setFiles(listed?.files);
    };
    setError(undefined);
    load().catch((reason: unknown) => current && setError(reason as Error));
    return () => {
      current = false;
    };
  }, [client, id, attempt]);

  const loaded = conversation !== undefined;
  useEffect(() => {
    if (!loaded) return undefined;
    const look = async (): Promise<void> => {
      if (document.visibilityState === "hidden") return;
      const page = await client.team(id).conversation({ after, limit: PAGE });
      // A page may have events that are not shown.
      const last = page.messages.at(-1)?.seq ?? page.next_after;
      if (last === null) return;
      setAfter(last);
      setConversation((shown) => shown && { ...shown, messages: merged(shown.messages, page) });
    };
    const timer = setInterval(() => {
      look().catch((reason: unknown) => {
        // A lost connection comes back. A link that has ended does not.
        if ((reason as { status?: unknown }).status === 401) {
          setConversation(undefined);
          setError(reason as Error);
        }
      });
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [client, id, after, loaded]);

  const reload = useCallback(() => setAttempt((last) => last + 1), []);
  const loadEarlier = (): void => {
    if (before === null) return;
    client
      .team(id)
      .conversation({ before, limit: PAGE })
      .then(
        (page) => {
          setBefore(page.next_before);
          return setConversation(
            (shown) =>
              shown && {
                ...shown,
                messages: merged(shown.messages, page),
                hasEarlier: page.next_before !== null,
              },
          );
        },
        (reason: unknown) => setError(reason as Error),
      );
  };
  return { conversation, files, error, reload, loadEarlier };
}

/** All messages in their order, each once. */
function merged(
  shown: readonly ThreadMessage[],
  { messages }: Pick<SharedConversation, "messages">,
): ThreadMessage[] {
  const bySeq = new Map([...shown, ...messages].map((message) => [message.seq, message]));
  return [...bySeq.values()].toSorted((one, other) => one.seq - other.seq);
}
