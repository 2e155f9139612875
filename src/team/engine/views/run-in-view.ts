import type { RunInfo } from "../../../contract/run.ts";
import type { ModelCallUnderWay, Moment } from "../../../core/turn/turn-host.ts";
import type { Exchange } from "../../../telemetry/spans/span.ts";
import type { TurnSpans } from "../../../telemetry/spans/stored-spans.ts";
import type { TurnTrace } from "../../../telemetry/spans/turn-trace.ts";
import type { RunRecord } from "../../storage/runs/run-record.ts";

/** The active run and its turn in progress, as the views of them read it: they change nothing. */
export interface RunInView {
  readonly record: RunRecord;
  /** Numbers of the turn in progress, within the run and in the team's life. */
  readonly turnOfRun: number;
  readonly turnOfTeam: number;
  readonly turnStarted: Moment;
  /** Undefined until the turn runs in this object. */
  readonly trace: TurnTrace | undefined;
  /** Model calls under way, by their steps. */
  readonly calls: ReadonlyMap<string, ModelCallUnderWay>;
  readonly exchanges: ReadonlyMap<string, Exchange>;
  info(): RunInfo;
  spans(): TurnSpans;
}
