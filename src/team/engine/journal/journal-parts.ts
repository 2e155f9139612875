import type { CostOf } from "../../../contract/usage/model-usage.ts";
import type { TroupeError } from "../../../core/errors.ts";
import type { SkillSource } from "../../../core/skills/skill-source.ts";
import type { Stores } from "../../storage/stores.ts";
import type { LiveFeed } from "../../stream/live-feed.ts";
import type { RunFeed } from "../views/run-feed.ts";
import type { RunTelemetry } from "../views/run-telemetry.ts";
import type { Fence, SuspectSteps } from "./fence.ts";
import type { JournaledRun, LoginsOfTenant, RunConstants } from "./journaled-run.ts";
import type { TenantBudget } from "./tenant-budget.ts";
import type { OtherMemories } from "./turn-memory.ts";

/** The parts that the journal of a turn writes to, reports to and asks. */
export interface JournalParts {
  stores: Stores;
  /** The clients that follow the run. */
  live: LiveFeed;
  feed: RunFeed;
  /** Undefined for a deployment without telemetry. */
  telemetry: RunTelemetry | undefined;
  costOf: CostOf;
  /** Bindings of the Worker, for agents and tools. */
  env: object;
  /** The memories of users and of the tenant; undefined without the binding MEMORY. */
  memories: OtherMemories | undefined;
  /** The tenant's skills; undefined without the binding TENANT. */
  skills: SkillSource | undefined;
  /** The tenant's budget in money; undefined without the binding TENANT. */
  budget: TenantBudget | undefined;
  /** It has logins at other servers. Undefined without the binding TENANT. */
  tenant: LoginsOfTenant | undefined;
}

/** The turn that is recorded. */
export interface JournaledTurn {
  active: JournaledRun;
  facts: RunConstants;
  fence: Fence;
  /** Set while the run may be the cause of its interruptions. */
  suspect: SuspectSteps | undefined;
  /** Ends the run as failed, which supersedes the execution. */
  fail: (error: TroupeError) => void;
}
