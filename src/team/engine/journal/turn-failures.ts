import type { BranchFailure } from "../../../core/turn/turn-host.ts";
import type { StepStore } from "../../storage/runs/step-store.ts";

/** The errors in a turn and their sources, by which a retry knows what to do again. */
export class TurnFailures {
  readonly #steps: StepStore;
  /** The steps that each error came from: several, if they share the failed effect. */
  readonly #thrown = new WeakMap<object, Set<string>>();
  /** For errors that came out of branches: the scope of the innermost one, and what failed beside it. */
  readonly #branches = new WeakMap<object, { scope: string; beside: BranchFailure[] }>();

  constructor(steps: StepStore) {
    this.#steps = steps;
  }

  threw(key: string, error: unknown): void {
    if (!isObject(error)) return;
    const keys = this.#thrown.get(error);
    if (keys) keys.add(key);
    else this.#thrown.set(error, new Set([key]));
  }

  failed([first, ...others]: readonly BranchFailure[]): void {
    if (first === undefined || !isObject(first.error)) return;
    const inner = this.#branches.get(first.error);
    this.#branches.set(first.error, {
      scope: inner?.scope ?? first.scope,
      beside: [...(inner?.beside ?? []), ...others],
    });
  }

  /** The step that threw the error, or one that caused it. */
  failedStep(error: unknown): string | null {
    for (const cause of causesOf(error)) {
      const [step] = this.#thrown.get(cause) ?? [];
      if (step !== undefined) return step;
    }
    return null;
  }

  /**
   * The keys of the steps that a retry must execute again after `error` ended the turn, and those of all that failed beside it:
   * the step that threw it; otherwise the last model reply before it in its branch and what followed from it, because the same
   * reply would fail in the same way. Steps that must not happen twice are left out.
   *
   * @param passed steps that have a result, in the order the turn came by them
   */
  stepsToRepeat(error: unknown, passed: readonly string[]): string[] {
    const failures: BranchFailure[] = [{ scope: "", error }];
    const toRepeat = new Set<string>();
    // Grows on the way: what failed beside one may itself have failed with others.
    for (const failure of failures) {
      const causes = [...causesOf(failure.error)];
      const branches = causes.flatMap((cause) => this.#branches.get(cause) ?? []);
      const threw = causes.map((cause) => this.#thrown.get(cause)).find((keys) => keys);
      const scope = branches.at(-1)?.scope ?? failure.scope;
      const keys = threw ? [...threw] : this.#lastReply(scope, passed);
      if (keys.every((key) => this.#isRepeatable(key))) for (const key of keys) toRepeat.add(key);
      for (const other of branches.flatMap(({ beside }) => beside)) {
        if (!failures.some(({ error: known }) => known === other.error)) failures.push(other);
      }
    }
    return [...toRepeat];
  }

  /** The last model call in a branch or, where it made none, in the scopes around it, with the steps after it. */
  #lastReply(branch: string, passed: readonly string[]): string[] {
    let scope = passed.findLast((key) => key.startsWith(within(branch))) ?? branch;
    while (scope !== "") {
      scope = outer(scope);
      const prefix = within(scope);
      const index = passed.findLastIndex((key) => outer(key) === scope && this.#isModelCall(key));
      if (index !== -1) return passed.slice(index).filter((key) => key.startsWith(prefix));
    }
    return [];
  }

  #isModelCall(key: string): boolean {
    return this.#steps.get(key)?.kind === "model";
  }

  #isRepeatable(key: string): boolean {
    return this.#steps.get(key)?.policy === "retry";
  }
}

function* causesOf(error: unknown): Generator<Error, void, void> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}

function within(scope: string): string {
  return scope === "" ? "" : `${scope}/`;
}

/** The scope that a step or a scope stands in. */
function outer(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
