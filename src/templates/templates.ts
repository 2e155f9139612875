import { Catalog } from "../core/component/catalog.ts";
import { approvalDesk } from "./approval-desk.ts";
import { codeRunner } from "./code-runner.ts";
import { codingPair } from "./coding-pair.ts";
import { editorialTeam } from "./editorial-team.ts";
import { humanInTheLoop } from "./human-in-the-loop.ts";
import { magenticResearch } from "./magentic-research.ts";
import { reviewLoop } from "./review-loop.ts";
import { supportSwarm } from "./support-swarm.ts";
import { toolsAssistant, type ToolsAssistantOptions } from "./tools-assistant.ts";
import { writerCritic } from "./writer-critic.ts";

/**
 * The teams that Troupe ships. They have a catalog of their own, so that their names never collide with those a deployment
 * defines; `shippedTools` has their tools.
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
    approvalDesk(),
    humanInTheLoop(),
    codingPair({ sandbox }),
    toolsAssistant(model),
  ]) {
    catalog.defineTeam(template);
  }
  return catalog;
}
