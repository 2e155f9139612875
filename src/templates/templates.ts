import type { Catalog } from "../core/component/catalog.ts";
import { codeRunner } from "./code-runner.ts";
import { humanInTheLoop } from "./human-in-the-loop.ts";
import { calculator } from "./tools/calculator.ts";
import { currentTime } from "./tools/current-time.ts";
import { toolsAssistant, type ToolsAssistantOptions } from "./tools-assistant.ts";
import { writerCritic } from "./writer-critic.ts";

/** Adds the teams that Troupe ships, and the tools they use. */
export function addTemplates(
  catalog: Catalog,
  { sandbox, ...model }: ToolsAssistantOptions & { sandbox: boolean },
): void {
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
}
