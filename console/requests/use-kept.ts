import { useRef, useState } from "react";
import type { HumanRequest } from "troupe/client";

/** A question on the page, open or closed. */
export interface KeptRequest<Request> {
  key: string;
  request: Request;
  open: boolean;
}

/** A question with the places of those in lists over all teams. */
type Asked = Pick<HumanRequest, "id"> & { team_id?: string; run_id?: string };

interface Kept<Request> {
  cards: KeptRequest<Request>[];
  /** False while the list has another order than that in which the open questions are given. */
  inOrder: boolean;
  /** Puts the open questions in the order in which they are given, and those that are closed below them. */
  order: () => void;
}

/**
 * The open questions, and those that closed while the page was shown. Each keeps its place, so that no question moves under
 * the pointer of a user who is about to click.
 *
 * @param until `left`: closed questions stay until the page is left; `closed`: until no question is open
 */
export function useKept<Request extends Asked>(
  requests: readonly Request[],
  until: "left" | "closed",
): Kept<Request> {
  const kept = useRef<KeptRequest<Request>[]>([]);
  const [, setOrdered] = useState(0);
  const open = new Map(requests.map((request) => [keyOf(request), request]));
  const known = new Set(kept.current.map(({ key }) => key));
  if (until === "closed" && open.size === 0) kept.current = [];
  const cards = kept.current.map((one) => {
    const request = open.get(one.key);
    if (request === undefined) return one.open ? { ...one, open: false } : one;
    return one.open && one.request === request ? one : { ...one, request, open: true };
  });
  const added = [...open].filter(([key]) => !known.has(key));
  const isSame = added.length === 0 && cards.every((one, index) => one === kept.current[index]);
  if (!isSame || cards.length !== kept.current.length) {
    kept.current = [...cards, ...added.map(([key, request]) => ({ key, request, open: true }))];
  }
  const shown = kept.current.filter((one) => one.open).map(({ key }) => key);
  const wanted = [...open.keys()];
  return {
    cards: kept.current,
    inOrder: shown.every((key, index) => key === wanted[index]),
    order: () => {
      const places = new Map(wanted.map((key, index) => [key, index]));
      const placeOf = ({ key }: KeptRequest<Request>): number => places.get(key) ?? wanted.length;
      kept.current = kept.current.toSorted((one, other) => placeOf(one) - placeOf(other));
      setOrdered((times) => times + 1);
    },
  };
}

/** The key of an answer: arguments that were changed in the meantime need another one. */
export function answerKeyOf(request: Asked & Pick<HumanRequest, "revision">): string {
  const { revision } = request;
  return keyOf(request) + (revision === undefined ? "" : ` ${revision}`);
}

export function keyOf({ team_id = "", run_id = "", id }: Asked): string {
  return `${team_id} ${run_id} ${id}`;
}
