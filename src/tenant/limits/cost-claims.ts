import type { ListedRun } from "../../contract/directory.ts";
import { ok, type Refused, type Result } from "../../contract/result.ts";
import type { CostAnswer, CostClaim, OpenCost } from "../../contract/tenant/cost-claim.ts";
import { hasMoneyBudget } from "../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import { addCosts } from "../../contract/usage/model-usage.ts";
import type { Directory } from "../directory/directory.ts";
import type { Spending } from "./spending.ts";

/** The share of what is left of a budget that a run is granted in advance, so that its next calls need no request. */
const IN_ADVANCE = 1 / 100;

/** The clocks of two machines differ by less. */
const CLOCKS_DIFFER_MS = 10_000;

/** The cost of a run, and the cost that it may reach. */
interface Claim {
  run: string;
  spent: number;
  /** The cost that its calls under way may reach; if not `isExact`, the one granted in advance. */
  reserved: number;
  isExact: boolean;
}

/**
 * The claims of active runs on the tenant's budgets in money. In memory: after a restart of the object the running teams are asked
 * what they have spent, and of the others the directory knows it.
 */
export class CostClaims {
  readonly #directory: Directory;
  readonly #spending: Spending;
  /** By team, which has one active run. */
  readonly #claims = new Map<string, Claim>();
  #longest: number | undefined;
  /** Runs that have started later have learned of the budget, and claim by themselves. Epoch milliseconds. */
  #since = Date.now();

  constructor(directory: Directory, spending: Spending) {
    this.#directory = directory;
    this.#spending = spending;
  }

  /** The refusal of a run or a call where a budget of tokens or money is used up. */
  refuse(limits: TenantLimits, now: number): Refused | undefined {
    return this.#spending.refuse(
      limits,
      now,
      this.#sum(({ spent }) => spent),
    );
  }

  /** Decides about a call that wants to begin, and counts it, or the cost of a call that has ended. */
  claim(claim: CostClaim, limits: TenantLimits, now: number): Result<CostAnswer> {
    if (!hasMoneyBudget(limits)) return ok({ do: "unlimited" });
    const { team, run, spent, reserved, wanted, waited, longest } = claim;
    const needed = costs(spent, reserved, wanted);
    if (longest !== undefined) this.#longest = Math.max(longest, this.#longest ?? 0);
    const exact = ok({ do: "begin", up_to: needed, is_exact: true } as const);
    // The report of a call may arrive after the end of its run.
    if (this.#directory.activityOf(team).ended.some(({ id }) => id === run)) return exact;
    this.#claims.set(team, { run, spent, reserved, isExact: true });
    if (wanted === 0) return exact;
    const money = this.#spending.money(
      limits,
      now,
      this.#sum(({ spent: cost }) => cost),
    );
    if (money === undefined) return ok({ do: "unlimited" });
    if (money.left <= 0) return money.refuse();
    const underWay = this.#sum((one) => one.reserved);
    const free = costs(money.left, -underWay, -wanted);
    // Without an answer of its own, the run has assumed a length that the answers of others correct.
    const isAssumed = waited && longest === undefined && this.#longest !== undefined;
    if (free < 0 && (underWay > 0 || isAssumed)) return ok({ do: "wait", longest: this.#longest });
    if (free < 0 && waited) return money.refuse();
    const advance = free * IN_ADVANCE;
    const isExact = advance < wanted;
    const granted = isExact ? costs(reserved, wanted) : costs(reserved, wanted, advance);
    this.#claims.set(team, { run, spent, reserved: granted, isExact });
    return ok({ do: "begin", up_to: costs(spent, granted), is_exact: isExact });
  }

  /** A run has changed its status: one that has ended claims nothing, and one that rests no more than it cost. */
  changed(run: ListedRun): void {
    if (this.#claims.get(run.team_id)?.run !== run.id) return;
    if (run.ended_at !== null) this.#claims.delete(run.team_id);
    else if (run.status !== "running") this.setIdle(run);
  }

  /** The team was deleted. */
  drop(team: string): void {
    this.#claims.delete(team);
  }

  /** A budget was set: runs that have begun without one claim nothing. */
  budgetSet(): void {
    this.#since = Date.now();
  }

  /** Teams with a running run that has claimed nothing and may not do so. What runs that rest have cost is in the directory. */
  unknown(limits: TenantLimits): string[] {
    if (!hasMoneyBudget(limits)) return [];
    const running: string[] = [];
    for (const { team, runs } of this.#directory.open.teams()) {
      const active = runs.find(({ run }) => run.status !== "queued")?.run;
      if (active === undefined || this.#claims.get(team)?.run === active.id) continue;
      if (Date.parse(active.started_at ?? active.created_at) > this.#since + CLOCKS_DIFFER_MS)
        continue;
      if (active.status === "running") running.push(team);
      else this.setIdle(active);
    }
    return running;
  }

  /** Teams that were granted something in advance. */
  inAdvance(): string[] {
    return [...this.#claims].filter(([, { isExact }]) => !isExact).map(([team]) => team);
  }

  /** A team has said what its run costs; null if none is active. */
  setOpenCost(team: string, open: OpenCost | null): void {
    if (open === null) this.#claims.delete(team);
    else this.#claims.set(team, { ...open, isExact: true });
  }

  /** The run has no call under way. */
  setIdle({ team_id, id, cost }: ListedRun): void {
    this.setOpenCost(team_id, { run: id, spent: cost ?? 0, reserved: 0 });
  }

  #sum(of: (claim: Claim) => number): number {
    return costs(...[...this.#claims.values()].map(of));
  }
}

function costs(...all: number[]): number {
  return all.reduce((total, cost) => addCosts(total, cost) ?? 0, 0);
}
