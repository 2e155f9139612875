import type { TimelineStep } from "./steps.ts";

/** A row of the timeline. */
export interface Row {
  step: TimelineStep;
  /** From 1. */
  level: number;
  /** Undefined if the row cannot be unfolded. */
  open: boolean | undefined;
  /** Its position among its siblings, from 1, and their number. */
  place: number;
  siblings: number;
}

/** The steps that the user folded or unfolded, by id. */
export type Folds = ReadonlyMap<string, boolean>;

/** Runs with at most this many turns start unfolded. */
const OPEN_TURNS = 12;

/** The visible rows, without those inside folded ones. */
export function rowsOf(steps: readonly TimelineStep[], folds: Folds): Row[] {
  const rows: Row[] = [];
  let turns = 0;
  const add = (siblings: readonly TimelineStep[], level: number): void => {
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

/** The steps around one unfolded, so that it has a row. */
export function foldsAround(step: TimelineStep | undefined): Folds {
  const open = new Map<string, boolean>();
  for (let around = step?.parent; around !== undefined; around = around.parent) {
    open.set(around.span.span_id, true);
  }
  return open;
}

/** All turns folded, or unfolded. */
export function foldAll(steps: readonly TimelineStep[], open: boolean): Folds {
  return new Map(steps.map(({ span }) => [span.span_id, open]));
}
