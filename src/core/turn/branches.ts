import { isTurnSignal, type TurnSignalKind } from "../steps/signals.ts";
import { endEarly } from "../wait.ts";

/** When several branches end without a result, the most important signal is thrown; the first is the most important. */
const PRECEDENCE: readonly TurnSignalKind[] = ["superseded", "cancel", "pause", "suspend", "halt"];

interface Arrival<Item, Result> {
  index: number;
  next?: IteratorResult<Item, Result>;
  error?: unknown;
}

/**
 * Runs generators in parallel: yields items as they arrive, at most one ahead of the consumer, and returns the results
 * in the order of the generators. Branches are never abandoned: when one fails, `onFailure` asks the others to start
 * no new steps, they are drained, and then the failure is thrown.
 *
 * @param inTurn whether a branch begins only when all earlier ones have ended or wait for an effect
 */
export async function* runBranches<Item, Result>(
  branches: readonly AsyncGenerator<Item, Result, void>[],
  onFailure: (index: number, error: unknown) => void,
  inTurn = false,
): AsyncGenerator<Item, Result[], void> {
  const arrivals: Arrival<Item, Result>[] = [];
  let notify: (() => void) | undefined;
  const advance = (index: number): void => {
    const arrived = (arrival: Arrival<Item, Result>): void => {
      arrivals.push(arrival);
      notify?.();
    };
    branches[index]?.next().then(
      (next) => arrived({ index, next }),
      (error: unknown) => arrived({ index, error }),
    );
  };
  /** @param orIdle whether to stop waiting when all running branches wait for an effect */
  const somethingArrives = async (orIdle: boolean): Promise<boolean> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      notify = resolve;
      if (orIdle) timer = setTimeout(resolve, 0);
    });
    clearTimeout(timer);
    return arrivals.length > 0;
  };
  const results: Result[] = [];
  const errors: unknown[] = [];
  let started = 0;
  let running = 0;
  try {
    while (running > 0 || started < branches.length) {
      const arrival = arrivals.shift();
      if (arrival === undefined) {
        const isLeft = started < branches.length;
        if (running > 0 && (inTurn || !isLeft) && (await somethingArrives(isLeft))) continue;
        advance(started++);
        running++;
        continue;
      }
      const { index, next } = arrival;
      if (next === undefined) {
        running--;
        errors.push(arrival.error);
        if (!isTurnSignal(arrival.error)) onFailure(index, arrival.error);
      } else if (next.done) {
        running--;
        results[index] = next.value;
      } else {
        yield next.value;
        advance(index);
      }
    }
  } finally {
    if (running > 0) await Promise.allSettled(branches.map(endEarly));
  }
  if (errors.length > 0) throw mostImportant(errors);
  return results;
}

function mostImportant(errors: readonly unknown[]): unknown {
  const failure = errors.find((error) => !isTurnSignal(error));
  if (failure !== undefined) return failure;
  for (const kind of PRECEDENCE) {
    const signal = errors.find((error) => isTurnSignal(error) && error.kind === kind);
    if (signal) return signal;
  }
  return errors[0];
}
