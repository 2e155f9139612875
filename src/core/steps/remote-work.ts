import { isJsonObject, type JsonObject } from "../json.ts";
import { partsOf, type Stateful } from "../state/stateful.ts";

/**
 * Work that a run has begun at another service, and that continues there without the run. A step that begins, continues
 * or ends such work has it as the member `remote` of its result, so that it is recorded with the step. No secrets: the
 * agent has them.
 */
export type RemoteWork = {
  /** Unique, and the same in all records of the work. */
  id: string;
  /** Identifies the agent that began it, and can cancel it. */
  agent: string;
  /** The path of the scope whose steps it consists of: after a cancellation all of them have to run again. */
  scope: string;
  /** The record with the highest number is the latest one of its scope. */
  order: number;
  /** `asked`: the request that begins it has no answer, so it is unknown whether there is any work. `over`: nothing is left to do. */
  state: "asked" | "begun" | "over";
  /** The data that the agent needs to cancel it. */
  task: JsonObject;
};

/** The state of work after its cancellation. `unknown`: the service knows of no such work, or not yet. */
export type CancelledWork = "over" | "going_on" | "unknown";

/** An agent that leaves work at another service. */
interface RemoteWorker {
  /** Undefined for the work of another agent. @throws when the service does not answer */
  cancelWork(work: RemoteWork, signal: AbortSignal): Promise<CancelledWork> | undefined;
}

type Steps = Iterable<readonly [key: string, step: { outcome?: object }]>;

/** The work that recorded steps have begun, and not ended. */
export function remoteWorkIn(steps: Steps): RemoteWork[] {
  const latest = new Map<string, RemoteWork>();
  for (const [, { outcome }] of steps) {
    const work = outcome && "ok" in outcome ? workOf(outcome.ok) : undefined;
    if (work === undefined) continue;
    const before = latest.get(work.scope);
    if (before === undefined || before.order < work.order) latest.set(work.scope, work);
  }
  return [...latest.values()].filter(({ state }) => state !== "over");
}

/**
 * The work that a run leaves which ends in the middle of a turn. Work that has failed is not left if a retry continues it: if it repeats some of the
 * work's steps, and others that know of the work stay recorded. Such work waits for the message that the retry sends again.
 *
 * @param repeat the keys of steps that a retry repeats
 */
export function workLeftIn(steps: Steps, repeat: readonly string[]): RemoteWork[] {
  const all = [...steps];
  const known = new Set(
    remoteWorkIn(all.filter(([key]) => !repeat.includes(key))).map(({ id }) => id),
  );
  return remoteWorkIn(all).filter((work) => !known.has(work.id) || !repeat.some(partOf(work)));
}

/** True for the key of a step that belongs to some work. */
export function partOf({ scope }: RemoteWork): (key: string) => boolean {
  return (key) => scope === "" || key.startsWith(`${scope}/`);
}

function workOf(result: unknown): RemoteWork | undefined {
  const work = isJsonObject(result) ? result["remote"] : undefined;
  return isJsonObject(work) && isJsonObject(work.task) ? (work as RemoteWork) : undefined;
}

/** Cancels work with the agent that began it; undefined if that is not among the parts of `root`. */
export function cancelWork(
  root: Stateful,
  work: RemoteWork,
  signal: AbortSignal,
): Promise<CancelledWork> | undefined {
  for (const [, part] of partsOf(root)) {
    const cancelled = mayLeaveWork(part) ? part.cancelWork(work, signal) : undefined;
    if (cancelled !== undefined) return cancelled;
  }
  return undefined;
}

function mayLeaveWork(part: object): part is RemoteWorker {
  return "cancelWork" in part;
}
