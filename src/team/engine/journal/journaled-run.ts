import type { TenantOfTeam } from "../../../contract/gateways/tenant-gateway.ts";
import type { ServerLogins } from "../../../core/steps/server-logins.ts";
import type { RunContext } from "../../../core/turn/run-context.ts";
import type { RunNote } from "../../../contract/run.ts";
import type { RunUsage, TokensByModel } from "../../../contract/usage/model-usage.ts";
import type { ModelCallUnderWay } from "../../../core/turn/turn-host.ts";
import type { Exchange } from "../../../telemetry/spans/span.ts";
import type { TurnSpans } from "../../../telemetry/spans/stored-spans.ts";
import type { TurnTrace } from "../../../telemetry/spans/turn-trace.ts";
import type { RunInView } from "../views/run-in-view.ts";
import type { TurnEvents } from "./turn-events.ts";

/** The facts that agents and tools learn of their run: the same in all its turns. */
export interface RunConstants {
  /** The name of the team at external services. */
  session: string;
  logins: ServerLogins | undefined;
  hops: number;
  run: RunContext;
}

export type LoginsOfTenant = Pick<TenantOfTeam, "token" | "login">;

/** The run of a turn, as the turn's journal knows it: what it counts, notes and gives up. */
export interface JournaledRun extends RunInView {
  /** Its row. */
  readonly stored: { readonly seq: number };
  /** When the run began, epoch milliseconds. */
  readonly startedAt: number;
  /** True if it has a limit of tokens or of cost. */
  readonly isLimited: boolean;
  /** True if the turn in progress is the one a retried run failed in. */
  readonly repeatsFailedTurn: boolean;
  readonly discardedSpans: TurnSpans;
  readonly events: TurnEvents;
  readonly usage: RunUsage;
  /** The tokens of the longest answer that this object has seen in the run; undefined before the first. */
  readonly longestAnswer: number | undefined;
  trace: TurnTrace | undefined;
  readonly calls: Map<string, ModelCallUnderWay>;
  readonly exchanges: Map<string, Exchange>;
  /** A step has a result. @param tokens what its model call has used */
  answered(tokens: TokensByModel): void;
  /** Counts calls that failed although their models had answered, or had begun to. */
  countSpent(tokens: TokensByModel): void;
  /** Removes recorded steps that have to run again. @param shown the spans of all the turn's discarded steps */
  discardSteps(keys: readonly string[], shown: TurnSpans): void;
  /** Returns whether the run has not had that note. */
  note(note: RunNote): boolean;
}
