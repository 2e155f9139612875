import type { OutgoingDependencies } from "./dependencies.ts";
import { checkReferral, isGuarded } from "./egress.ts";
import { limitedFetch, type OutgoingFetch } from "./limited-fetch.ts";

const OPEN = new WeakMap<OutgoingFetch, OutgoingFetch>();

/**
 * The `fetch` for requests of components: that of the host, with the limits that every outgoing request has. Where the host
 * has no rules of egress, a document of another machine may name none of this one.
 */
export function outgoingFetch({ fetch: given = fetch }: OutgoingDependencies): OutgoingFetch {
  if (isGuarded(given)) return given;
  const existing = OPEN.get(given);
  if (existing !== undefined) return existing;
  const send: OutgoingFetch = async (input, { namedBy, ...init } = {}) => {
    const target = input instanceof Request ? input.url : input;
    if (namedBy != null) checkReferral(namedBy, target);
    return given(input, init);
  };
  const made = limitedFetch(send);
  OPEN.set(given, made);
  return made;
}
