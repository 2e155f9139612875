import type { TenantOfTeam } from "../../../contract/gateways/tenant-gateway.ts";
import type { CostClaim, OpenCost } from "../../../contract/tenant/cost-claim.ts";
import { hasMoneyBudget } from "../../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../../contract/tenant/tenant.ts";
import { addCosts } from "../../../contract/usage/model-usage.ts";
import { TroupeError } from "../../../core/errors.ts";
import { within } from "../../../core/wait.ts";

/** A tenant that does not answer in this time delays no call. */
const PATIENCE_MS = 1_000;

type OwnClaim = Omit<CostClaim, "team">;

/** The calls of a turn. */
export interface CallsOfTurn {
  /** The stretch of running that the turn belongs to. */
  readonly stretch: object;
  /** The cost of the run, and the cost that its calls under way may reach. */
  openCost(): Promise<OpenCost>;
}

/**
 * The share of its tenant's budget in money that the team's run has. Most calls fit into what the tenant has granted in advance and
 * need no request. In memory: another stretch of running has to be granted its own share.
 */
export class TenantBudget {
  readonly #team: string;
  readonly #tenant: Pick<TenantOfTeam, "claim">;
  /** True if there is a budget; undefined until the tenant has said so. */
  isSet: boolean | undefined;
  /** The tokens of the longest answer in the tenant; undefined if none is known. */
  longestAnswer: number | undefined;
  /** The cost that a stretch of running may reach, its calls under way included. */
  #share: { stretch: object; upTo: number; isExact: boolean } | undefined;
  /** Those of the last turn that began. */
  #calls: CallsOfTurn | undefined;

  constructor(team: string, tenant: Pick<TenantOfTeam, "claim">) {
    this.#team = team;
    this.#tenant = tenant;
  }

  /** The tenant's limits have arrived. */
  learn(limits: TenantLimits): void {
    this.isSet = hasMoneyBudget(limits);
  }

  /** A turn begins. */
  turnBegins(calls: CallsOfTurn): void {
    this.#calls = calls;
  }

  /** Asks for a call: it begins, waits, or gets the refusal of the tenant. */
  async claim(stretch: object, claim: OwnClaim): Promise<"begin" | "wait" | TroupeError> {
    const { spent, reserved, wanted, waited } = claim;
    const needed = costs(spent, reserved, wanted);
    if (this.#share?.stretch === stretch && needed <= this.#share.upTo && !waited) return "begin";
    const answer = await this.#ask(claim);
    if (answer === undefined) return "begin";
    if (!answer.ok) {
      this.isSet = true;
      return new TroupeError(answer.problem.code, answer.problem.detail);
    }
    const { value } = answer;
    this.isSet = value.do !== "unlimited";
    if (value.do === "wait") {
      this.longestAnswer = value.longest;
      return "wait";
    }
    if (value.do === "begin") {
      this.#share = { stretch, upTo: value.up_to, isExact: value.is_exact };
    }
    return "begin";
  }

  /** A call has ended. Where the budget is nearly used up, the tenant hears of it at once: others wait for what is free now. */
  callEnded(stretch: object, ended: Omit<OwnClaim, "wanted" | "waited">): void {
    const share = this.#share;
    if (share?.stretch !== stretch || !share.isExact) return;
    share.upTo = costs(ended.spent, ended.reserved);
    void this.#ask({ ...ended, wanted: 0, waited: false });
  }

  /**
   * The cost of the active run, and the cost that its calls under way may reach. That is all of its share from now on.
   *
   * @param spent by its records
   */
  async reclaim(run: string, spent: number): Promise<OpenCost> {
    this.isSet = true;
    const calls = this.#calls;
    const open = await calls?.openCost();
    if (calls === undefined || open?.run !== run) return { run, spent, reserved: 0 };
    const upTo = costs(open.spent, open.reserved);
    this.#share = { stretch: calls.stretch, upTo, isExact: true };
    return open;
  }

  #ask(claim: OwnClaim): Promise<Awaited<ReturnType<TenantOfTeam["claim"]>> | undefined> {
    const asked = this.#tenant.claim({ ...claim, team: this.#team });
    return within(PATIENCE_MS, asked).catch(() => undefined);
  }
}

/** True if the calls of a run may have to stay within a budget in money. */
export function mayBeSet(budget: TenantBudget | undefined): budget is TenantBudget {
  return budget !== undefined && budget.isSet !== false;
}

function costs(...all: number[]): number {
  return all.reduce((total, cost) => addCosts(total, cost) ?? 0, 0);
}
