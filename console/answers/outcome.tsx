import { useCallback } from "react";
import { ApiError, type AskedRequest, type HumanRequest, type ListedRequest } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useMay } from "../shell/access.tsx";
import { GivenAnswer } from "./given-answer.tsx";

/** The team and the run of a question. */
export interface Asking {
  team_id: string;
  run_id: string;
}

type Ended = "completed" | "failed" | "cancelled";

/** The end of a question that was closed elsewhere: its answer, or the end of its run. */
type Outcome = AskedRequest | { status: "withdrawn"; ended: Ended | undefined };

interface OutcomeProps {
  request: HumanRequest | ListedRequest;
  asking: Asking;
}

/** A question that was closed elsewhere: its answer, or why it has none. */
export function OutcomeOfRequest({ request, asking: { team_id, run_id } }: OutcomeProps) {
  const client = useTroupe();
  const mayRuns = useMay("runs:read");
  const { id } = request;
  const load = useCallback(async (): Promise<Outcome> => {
    const team = client.team(team_id);
    try {
      return await team.request(run_id, id);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      const run = mayRuns ? await team.getRun(run_id).catch(() => undefined) : undefined;
      return { status: "withdrawn", ended: endOf(run?.status) };
    }
  }, [client, team_id, run_id, id, mayRuns]);
  const { value: outcome, error } = useLoaded(load);
  if (outcome === undefined) return error ? <strong>No longer open.</strong> : null;
  if (outcome.status === "withdrawn") {
    return <strong>{WITHDRAWN[outcome.ended ?? "unknown"]}</strong>;
  }
  if (outcome.answer === null) return null;
  const { answer, answered_at: at, answered_by: by } = outcome;
  if (request.login !== undefined && outcome.status === "answered") {
    return <strong>Logged in, or no longer needed.</strong>;
  }
  return (
    <>
      {outcome.status === "expired" && <strong>Expired.</strong>}
      <GivenAnswer request={outcome} answer={answer} by={by} at={at} />
    </>
  );
}

const WITHDRAWN: Readonly<Record<Ended | "unknown", string>> = {
  completed: "Withdrawn: its run has ended.",
  failed: "Withdrawn: its run failed.",
  cancelled: "Withdrawn: its run was cancelled.",
  unknown: "No longer needed.",
};

function endOf(status: string | undefined): Ended | undefined {
  return status === "completed" || status === "failed" || status === "cancelled"
    ? status
    : undefined;
}
