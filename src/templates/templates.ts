import { Catalog } from "../core/component/catalog.ts";
import { codeRunner } from "./code-runner.ts";
import { humanInTheLoop } from "./human-in-the-loop.ts";
import { calculator } from "./tools/calculator.ts";
import { currentTime } from "./tools/current-time.ts";
import { toolsAssistant, type ToolsAssistantOptions } from "./tools-assistant.ts";
import { writerCritic } from "./writer-critic.ts";

/**
 * The teams that Troupe ships and the tools they use. They have a catalog of their own, so that their names never
 * collide with those a deployment registers.
 */
export function shippedTemplates({
  sandbox,
  ...model
}: ToolsAssistantOptions & { sandbox: boolean }): Catalog {
  const catalog = new Catalog();
  catalog.registerTool(calculator);
  catalog.registerTool(currentTime);
  for (const template of [
    codeRunner({ sandbox }),
    writerCritic(),
    humanInTheLoop(),
    toolsAssistant(model),
  ]) {
    catalog.defineTeam(template);
  }
  return catalog;
}
