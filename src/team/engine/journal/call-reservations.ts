import {
  addCosts,
  type CostOf,
  totalCost,
  UNNAMED_MODEL,
} from "../../../contract/usage/model-usage.ts";
import { TroupeError } from "../../../core/errors.ts";
import type { CallEstimate } from "../../../core/turn/turn-context.ts";
import type { JournaledRun } from "./journaled-run.ts";
import type { Fence } from "./fence.ts";
import type { OpenCost } from "../../../contract/tenant/cost-claim.ts";
import { type CallsOfTurn, mayBeSet, type TenantBudget } from "./tenant-budget.ts";

/** The tokens of an answer without a limit, before the run has its first answer. */
const ASSUMED_ANSWER = 4_096;
/** The first wait for calls of other teams, and the longest. */
const ASK_AGAIN_MS = { first: 250, longest: 2_000 };

/** The usage that calls may reach together. */
interface Reserved {
  tokens: number;
  cost: number;
}

/** A call under way. The estimate is made when another call needs to know it. */
interface CallUnderWay {
  estimate: () => Promise<CallEstimate>;
  known: CallEstimate | undefined;
}

export interface CallReservationsOptions {
  active: JournaledRun;
  costOf: CostOf;
  /** The budget of the tenant; undefined for a team that no tenant lists. */
  budget: TenantBudget | undefined;
  /** The stretch of running that the calls belong to. */
  fence: Pick<Fence, "signal" | "sleep">;
  /** Ends the run. */
  fail: (error: TroupeError) => never;
}

/**
 * Reserves what the model calls under way may use, so that calls side by side do not exceed together what each of them
 * alone would not. A call that has no room beside them waits until they have ended; what they used is known then. If it
 * has no room even so, the run ends. A call that found none under way needs no room: only the limit itself stops it.
 *
 * In memory: after a restart no call is under way, and what was used is in the records of the steps.
 */
export class CallReservations implements CallsOfTurn {
  readonly #options: CallReservationsOptions;
  readonly #underWay = new Map<string, CallUnderWay>();
  /** Calls that wait for room are admitted one after the other. */
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #wake: (() => void)[] = [];

  constructor(options: CallReservationsOptions) {
    this.#options = options;
    options.budget?.turnBegins(this);
  }

  get stretch(): object {
    return this.#options.fence;
  }

  async openCost(): Promise<OpenCost> {
    await this.#estimateAll();
    return this.#open;
  }

  /** Undefined when the call may begin at once. @param gate throws a signal when it may not begin any more */
  reserve(
    key: string,
    estimate: () => Promise<CallEstimate>,
    gate: () => void,
  ): Promise<void> | undefined {
    const { budget } = this.#options;
    if (!mayBeSet(budget) && this.#underWay.size === 0 && this.#waiting === 0) {
      this.#underWay.set(key, { estimate, known: undefined });
      return undefined;
    }
    this.#waiting++;
    const admitted = this.#last
      .then(() => this.#admit(key, estimate, gate))
      .finally(() => this.#waiting--);
    this.#last = admitted.catch(() => undefined);
    return admitted;
  }

  /** The call has ended; what it used is recorded. */
  release(key: string): void {
    if (!this.#underWay.delete(key)) return;
    this.#ended();
    const { budget, fence } = this.#options;
    if (budget?.isSet) budget.callEnded(fence, { ...this.#open, longest: this.#longest });
  }

  async #admit(
    key: string,
    estimate: () => Promise<CallEstimate>,
    gate: () => void,
  ): Promise<void> {
    const { budget, fail } = this.#options;
    const call: CallUnderWay = { estimate, known: await estimate() };
    for (let waits = 0; ; waits++) {
      await this.#estimateAll();
      // Right before the wait: nothing wakes a call of a run that has ended meanwhile.
      gate();
      const wanted = this.#sizeOf(key, call);
      const error = this.#limitError(wanted);
      if (error !== undefined && this.#underWay.size > 0) {
        await this.#someEnd();
        continue;
      }
      if (error !== undefined && waits > 0) fail(error);
      if (mayBeSet(budget) && (await this.#claim(budget, call, wanted.cost, waits)) === "wait") {
        await this.#othersEnd(waits);
        continue;
      }
      gate();
      this.#underWay.set(key, call);
      return;
    }
  }

  /** Reserves the cost of a call in the budget of the tenant. */
  async #claim(
    budget: TenantBudget,
    { known }: CallUnderWay,
    wanted: number,
    waits: number,
  ): Promise<"begin" | "wait"> {
    const { fence, fail } = this.#options;
    const claim = { ...this.#open, wanted, waited: waits > 0, longest: this.#longest };
    const answer = await budget.claim(fence, claim);
    if (answer instanceof TroupeError) return fail(answer);
    if (budget.isSet && this.#costOf(known?.model, 0, 0) === null) {
      fail(
        new TroupeError(
          "price_unknown",
          `the model "${known?.model ?? UNNAMED_MODEL}" has no price, and the tenant has a budget in money: add the model to the setting MODEL_PRICES`,
        ),
      );
    }
    return answer;
  }

  /** The run's limit that a call of this size would exceed together with those under way. */
  #limitError(wanted: Reserved): TroupeError | undefined {
    const { active } = this.#options;
    const { max_total_tokens, max_cost = null } = active.record;
    const { usage, models } = active.usage;
    const reserved = this.#reserved;
    const tokens = usage.prompt_tokens + usage.completion_tokens;
    if (max_total_tokens !== null && tokens + reserved.tokens + wanted.tokens > max_total_tokens) {
      return new TroupeError(
        "token_limit",
        `the run used ${tokens} tokens, and another call in parallel may use ${wanted.tokens}: more than its limit of ${max_total_tokens}`,
      );
    }
    const cost = totalCost(models) ?? 0;
    if (max_cost !== null && sum(cost, reserved.cost, wanted.cost) > max_cost) {
      return new TroupeError(
        "cost_limit",
        `the run cost ${cost}, and another call in parallel may cost ${wanted.cost}: more than its limit of ${max_cost}`,
      );
    }
    return undefined;
  }

  async #estimateAll(): Promise<void> {
    for (const call of this.#underWay.values()) call.known ??= await call.estimate();
  }

  get #open(): OpenCost {
    const { record, usage } = this.#options.active;
    const spent = totalCost(usage.models) ?? 0;
    return { run: record.id, spent, reserved: this.#reserved.cost };
  }

  get #reserved(): Reserved {
    let [tokens, cost] = [0, 0];
    for (const [key, call] of this.#underWay) {
      const size = this.#sizeOf(key, call);
      tokens += size.tokens;
      cost = sum(cost, size.cost);
    }
    return { tokens, cost };
  }

  /** The tokens of the longest answer of the run so far, else in the tenant. */
  get #longest(): number | undefined {
    const { active, budget } = this.#options;
    return active.longestAnswer ?? budget?.longestAnswer;
  }

  #sizeOf(key: string, { known }: CallUnderWay): Reserved {
    if (known === undefined) return { tokens: 0, cost: 0 };
    const { active } = this.#options;
    const { prompt_tokens } = known;
    const completion_tokens = known.completion_tokens ?? this.#longest ?? ASSUMED_ANSWER;
    // A client of several models has named the one that it calls.
    const model = active.calls.get(key)?.model ?? known.model;
    return {
      tokens: prompt_tokens + completion_tokens,
      cost: this.#costOf(model, prompt_tokens, completion_tokens) ?? 0,
    };
  }

  #costOf(
    model: string | undefined,
    prompt_tokens: number,
    completion_tokens: number,
  ): number | null {
    const tokens = { prompt_tokens, completion_tokens };
    return this.#options.costOf(model ?? UNNAMED_MODEL, tokens);
  }

  /** Waits until a call of this run has ended. */
  async #someEnd(): Promise<void> {
    const { signal } = this.#options.fence;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        resolve();
      };
      signal.addEventListener("abort", wake);
      this.#wake.push(wake);
    });
  }

  /** Waits for calls of other runs of the tenant, which are not announced. */
  #othersEnd(waits: number): Promise<void> {
    const { first, longest } = ASK_AGAIN_MS;
    return this.#options.fence.sleep(Math.min(longest, first * 2 ** waits));
  }

  #ended(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

function sum(...costs: number[]): number {
  return costs.reduce((total, cost) => addCosts(total, cost) ?? 0, 0);
}
