import { useRef } from "react";
import type { ListedRequest } from "troupe/client";

/** A question on the page: open, or as it was when it was closed. */
export interface KeptRequest {
  key: string;
  request: ListedRequest;
  open: boolean;
}

/**
 * The open questions, and those that were closed while the page is shown. Each keeps its place, so that no other question moves
 * under the pointer of a user who is about to click.
 */
export function useKept(requests: readonly ListedRequest[]): KeptRequest[] {
  const kept = useRef<KeptRequest[]>([]);
  const open = new Map(requests.map((request) => [keyOf(request), request]));
  const known = new Set(kept.current.map(({ key }) => key));
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

function keyOf({ team_id, run_id, id }: ListedRequest): string {
  return `${team_id} ${run_id} ${id}`;
}
