import { useState } from "react";
import type { FailureGroup } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Confirm } from "../dialogs/confirm.tsx";
import { Icon } from "../parts/icon.tsx";
import { counted } from "../parts/numbers.ts";
import { each } from "../runs/each.ts";
import { outcomeOf } from "./outcome.ts";

interface RetryGroupProps {
  group: FailureGroup;
  onOutcome: (outcome: readonly string[]) => void;
}

/** Retries the runs of a group that are the latest of their teams. */
export function RetryGroup({ group, onOutcome }: RetryGroupProps) {
  const client = useTroupe();
  // The group as it was when the user was asked: it changes while its runs are retried.
  const [asked, setAsked] = useState<FailureGroup>();
  const retry = async ({ latest }: FailureGroup): Promise<void> => {
    onOutcome([]);
    const errors = await each(latest, ({ team_id, run_id }) => client.team(team_id).retry(run_id));
    onOutcome(outcomeOf(latest.length, errors));
  };
  return (
    <>
      {group.retryable > 0 && (
        <button className="button" type="button" onClick={() => setAsked(group)}>
          <Icon name="retry" />
          {nameOf(group)}
        </button>
      )}
      {asked && (
        <Confirm
          title={`Retry ${counted(asked.latest.length, "run")}?`}
          text={["Each is the latest run of its team.", othersOf(asked)].join(" ")}
          button={asked.latest.length === 1 ? "Retry the run" : "Retry the runs"}
          action={() => retry(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

function nameOf({ retryable, latest }: FailureGroup): string {
  if (latest.length < retryable) return `Retry ${latest.length} of ${retryable.toLocaleString()}`;
  return retryable === 1 ? "Retry 1 run" : `Retry all ${retryable}`;
}

/** States which runs of a group cannot be retried; empty if all can. */
export function othersOf({ count, retryable }: FailureGroup): string {
  const others = count - retryable;
  if (others === 0) return "";
  const which = retryable === 0 ? counted(others, "run") : counted(others, "other run");
  return `${which} can't be retried: a later run of the same team exists.`;
}
