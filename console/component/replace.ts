import type { NotedTeam, TeamClient } from "troupe/client";
import type { ComponentData, TeamComponent } from "./catalogue.ts";

/** Another person, or another tab, has replaced the component since the changes were begun. */
export class ReplacedMeanwhile extends Error {
  constructor() {
    super("Another person or another tab has replaced the team's component since you began.");
  }
}

/**
 * Replaces the component of a team, unless it is not the version any more from which the changes were made. The API has no
 * condition on the version: of two saves within the same moment, the later one stays.
 */
export async function replaceVersion(
  team: TeamClient,
  version: number,
  component: ComponentData,
): Promise<NotedTeam> {
  const { component_version } = await team.get();
  if (component_version !== version) throw new ReplacedMeanwhile();
  return team.replaceComponent(component as unknown as TeamComponent);
}
