import type { RunInfo } from "#contract/run.ts";
import type { RuleInput } from "../../../support/fake-openai/rule.ts";
import { PACED } from "../../scenarios/scenario.ts";
import type { Session } from "../session.ts";

/** What clients do in a tenant of their own, and what must be found at the end. */
export interface Story {
  name: string;
  /** How the model answers its agents; other requests are answered by default. */
  rules?: readonly RuleInput[];
  /** @throws Error for what went wrong */
  happens(session: Session): Promise<void>;
}

/** The rules of all stories: agents of different stories have different names. */
export function rulesOf(stories: readonly Story[]): RuleInput[] {
  return [...stories.flatMap(({ rules = [] }) => rules), PACED];
}

/** Starts a run, which completes whatever is reset. */
export async function run(
  session: Session,
  team: string,
  task: string,
  options: { user?: string } = {},
): Promise<RunInfo> {
  const { id } = await session.post<RunInfo>(`/teams/${team}/runs`, { task, ...options });
  return completed(session, team, id);
}

export async function completed(session: Session, team: string, id: string): Promise<RunInfo> {
  let found: RunInfo | undefined;
  await session.until(`the run ${id} has ended`, async () => {
    found = await session.get<RunInfo>(`/teams/${team}/runs/${id}`);
    return found.ended_at !== null;
  });
  if (found?.status !== "completed") {
    throw new Error(`the run is ${found?.status}: ${JSON.stringify(found?.error)}`);
  }
  return found;
}

/** @throws Error if they differ */
export function same(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${what}: expected ${wanted}, got ${found}`);
}
