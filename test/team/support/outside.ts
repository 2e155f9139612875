import type { StandInVectorize } from "../../support/stand-in-vectorize.ts";

/** What objects of memories are given as the binding VECTORIZE when they are loaded, and from how many vectors they use it. */
export const outside: { service: StandInVectorize | undefined; above: string | undefined } = {
  service: undefined,
  above: undefined,
};
