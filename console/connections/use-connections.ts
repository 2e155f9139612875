import { useCallback, useEffect } from "react";
import type { ConnectionInfo } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLoaded, type Loaded } from "../hooks/use-loaded.ts";

/** There is no stream of connections: while a login is awaited, they are loaded again after this time. */
const AGAIN_MS = 3_000;

/** The connections of the tenant and its users. @param awaiting whether a login at a connected server is awaited */
export function useConnections(awaiting: boolean): Loaded<ConnectionInfo[]> {
  const client = useTroupe();
  const load = useCallback(async () => {
    const all: ConnectionInfo[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.connections.list(cursor === undefined ? {} : { cursor });
      all.push(...page.connections);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return all;
  }, [client]);
  const loaded = useLoaded(load);
  const { value, reload } = loaded;
  const changing = awaiting || value?.some(({ status }) => status === "login_needed") === true;
  useEffect(() => {
    if (!changing) return undefined;
    const again = (): void => {
      if (!document.hidden) reload();
    };
    const timer = setInterval(again, AGAIN_MS);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, [changing, reload]);
  return loaded;
}
