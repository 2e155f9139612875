import { useRef } from "react";
import type { HumanRequest } from "troupe/client";

/** A question on the page, open or closed. */
export interface KeptRequest<Request> {
  key: string;
  request: Request;
  open: boolean;
}

/** A question with the places of those in lists over all teams. */
type Asked = Pick<HumanRequest, "id"> & { team_id?: string; run_id?: string };

/**
 * The open questions, and those that closed while the page was shown. Each keeps its place, so that no question moves under
 * the pointer of a user who is about to click.
 *
 * @param until `left`: closed questions stay until the page is left; `closed`: until no question is open
 */
export function useKept<Request extends Asked>(
  requests: readonly Request[],
  until: "left" | "closed",
): KeptRequest<Request>[] {
  const kept = useRef<KeptRequest<Request>[]>([]);
  const open = new Map(requests.map((request) => [keyOf(request), request]));
  const known = new Set(kept.current.map(({ key }) => key));
  if (until === "closed" && open.size === 0) kept.current = [];
  kept.current = [
    ...kept.current.map((one) =>
      one.open === open.has(one.key) ? one : { ...one, open: open.has(one.key) },
    ),
    ...[...open]
      .filter(([key]) => !known.has(key))
      .map(([key, request]) => ({ key, request, open: true })),
  ];
  return kept.current;
}

export function keyOf({ team_id = "", run_id = "", id }: Asked): string {
  return `${team_id} ${run_id} ${id}`;
}
