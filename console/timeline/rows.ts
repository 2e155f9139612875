import type { Step } from "./steps.ts";

/** A line of the timeline. */
export interface Row {
  step: Step;
  /** From 1. */
  level: number;
  /** Undefined where there is nothing to unfold. */
  open: boolean | undefined;
  /** Its place among those of the same parent, from 1, and their number. */
  place: number;
  siblings: number;
}

/** What is folded or unfolded by hand, by the id of the step. */
export type Folds = ReadonlyMap<string, boolean>;

/** Turns that are unfolded by themselves. */
const OPEN_TURNS = 12;

/** The lines that are seen, without those inside of what is folded. */
export function rowsOf(steps: readonly Step[], folds: Folds): Row[] {
  const rows: Row[] = [];
  let turns = 0;
  const add = (siblings: readonly Step[], level: number): void => {
    for (const [index, step] of siblings.entries()) {
      const { span, inner } = step;
      const isTurn = span.kind === "turn";
      if (isTurn) turns++;
      const byItself = !isTurn || turns <= OPEN_TURNS || step.end === null;
      const open = inner.length === 0 ? undefined : (folds.get(span.span_id) ?? byItself);
      rows.push({ step, level, open, place: index + 1, siblings: siblings.length });
      if (open === true) add(inner, level + 1);
    }
  };
  add(steps, 1);
  return rows;
}

/** All turns folded, or unfolded. */
export function foldAll(steps: readonly Step[], open: boolean): Folds {
  return new Map(steps.map(({ span }) => [span.span_id, open]));
}
