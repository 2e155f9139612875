import type { Catalog } from "../core/component/catalog.ts";
import { humanInTheLoop } from "./human-in-the-loop.ts";
import { calculator } from "./tools/calculator.ts";
import { currentTime } from "./tools/current-time.ts";
import { toolsAssistant, type ToolsAssistantOptions } from "./tools-assistant.ts";
import { writerCritic } from "./writer-critic.ts";

/** Adds the teams that Troupe ships, and the tools they use. */
export function addTemplates(catalog: Catalog, options: ToolsAssistantOptions): void {
  catalog.registerTool(calculator);
  catalog.registerTool(currentTime);
  for (const template of [writerCritic(), humanInTheLoop(), toolsAssistant(options)]) {
    catalog.defineTeam(template);
  }
}
