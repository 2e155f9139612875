import { useCallback } from "react";
import type { RunInfo } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useMay } from "../shell/access.tsx";
import type { Asking } from "./outcome.tsx";

/** The list of questions has the beginning of a task, which ends so where it was cut. */
const CUT = /…$/;

/**
 * The whole task of a run, with which the arguments of its calls are compared. Undefined until it is loaded, and where there is none or
 * the credential may not see it: nothing is said about arguments then.
 *
 * @param beginning the task as the list of questions has it
 */
export function useWholeTask(
  beginning: string | null,
  { team_id, run_id }: Asking,
): string | undefined {
  const client = useTroupe();
  const mayRuns = useMay("runs:read");
  const isCut = beginning !== null && CUT.test(beginning);
  const load = useCallback(
    async () =>
      isCut && mayRuns ? textOfTask((await client.team(team_id).getRun(run_id)).task) : undefined,
    [client, team_id, run_id, isCut, mayRuns],
  );
  const { value } = useLoaded(load);
  return isCut ? value : (beginning ?? undefined);
}

/** The texts of a run's task; undefined for a run that continues without one. */
export function textOfTask(task: RunInfo["task"]): string | undefined {
  if (!Array.isArray(task)) return undefined;
  const texts = task.map((message) => {
    const content: unknown =
      typeof message === "object" && message !== null && "content" in message
        ? message.content
        : "";
    return typeof content === "string" ? content : JSON.stringify(content);
  });
  return texts.join("\n\n");
}
