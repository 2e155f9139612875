import { type RefObject, useCallback, useEffect, useState } from "react";
import type { TenantInfo } from "troupe/client";
import { useTroupe } from "troupe/react";
import { type Loaded, useLoaded } from "../hooks/use-loaded.ts";
import { inTurn } from "./in-turn.ts";

/** The numbers of a tenant, from when its row is near what is visible. @param row the row of the tenant */
export function useTenant(
  id: string,
  row: RefObject<HTMLElement | null>,
): Loaded<TenantInfo | undefined> {
  const client = useTroupe();
  const [isNear, setIsNear] = useState(false);
  useEffect(() => {
    if (row.current === null || isNear) return undefined;
    const observer = new IntersectionObserver(
      (entries) => setIsNear(entries.some((entry) => entry.isIntersecting)),
      { rootMargin: "200px" },
    );
    observer.observe(row.current);
    return () => observer.disconnect();
  }, [row, isNear]);
  return useLoaded(
    useCallback(
      async () => (isNear ? inTurn(() => client.tenants.get(id)) : undefined),
      [client, id, isNear],
    ),
  );
}
