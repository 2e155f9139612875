import { Catalog } from "../../core/tools/catalog.ts";
import { approvalDesk } from "./approval-desk.ts";
import { codeRunner } from "./code-runner.ts";
import { codingPair } from "./coding-pair.ts";
import { editorialTeam } from "./editorial-team.ts";
import { humanInTheLoop } from "./human-in-the-loop.ts";
import { librarian } from "./librarian.ts";
import { magenticResearch } from "./magentic-research.ts";
import { reviewLoop } from "./review-loop.ts";
import { supportSwarm } from "./support-swarm.ts";
import { taskforce } from "./taskforce.ts";
import { toolsAssistant, type ToolsAssistantOptions } from "./tools-assistant.ts";
import { writerCritic } from "./writer-critic.ts";

/**
 * The teams that Troupe ships. They have their own catalog, so that their names never collide with those of a deployment;
 * `shippedTools` has their tools.
 */
export function shippedTemplates({
  sandbox,
  ...model
}: ToolsAssistantOptions & { sandbox: boolean }): Catalog {
  const catalog = new Catalog();
  for (const template of [
    codeRunner({ sandbox }),
    writerCritic(),
    reviewLoop(),
    supportSwarm(),
    magenticResearch(),
    editorialTeam(),
    taskforce(),
    approvalDesk(),
    humanInTheLoop(),
    codingPair({ sandbox }),
    librarian(),
    toolsAssistant(model),
  ]) {
    catalog.defineTeam(template);
  }
  return catalog;
}
