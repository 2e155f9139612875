import { diffArrays } from "diff";
import type { Said } from "./said.ts";

/** Messages shown side by side: those of the same source at the same point, or a single one. */
export interface Pair {
  a: Said | undefined;
  b: Said | undefined;
}

/** Aligns two conversations by the source and type of their messages. */
export function pairsOf(a: readonly Said[], b: readonly Said[]): Pair[] {
  const pairs: Pair[] = [];
  let inA = 0;
  let inB = 0;
  for (const { added, removed, count } of diffArrays(a.map(kindOf), b.map(kindOf))) {
    for (let index = 0; index < count; index++) {
      pairs.push({ a: added ? undefined : a[inA++], b: removed ? undefined : b[inB++] });
    }
  }
  return pairs;
}

function kindOf({ type, source }: Said): string {
  return `${type} ${source}`;
}
