import { shareSequence } from "./sequence.ts";
import { isStatefulTool } from "./stateful-tool.ts";
import { type AnyTool, isStreamTool } from "./tool.ts";

/** What a variant of a tool may say differently about itself. */
export type ToolChanges = Partial<
  Pick<AnyTool, "definition" | "description" | "schema" | "approval" | "toConfig">
>;

/** A tool that is another one but for `changes`: it does the same, and what it remembers is the other one's. */
export function variantOf(tool: AnyTool, changes: ToolChanges): AnyTool {
  const base = {
    definition: tool.definition,
    name: tool.name,
    description: tool.description,
    schema: tool.schema,
    ...(tool.approval && { approval: tool.approval }),
    valueAsText: tool.valueAsText.bind(tool),
    toConfig: tool.toConfig.bind(tool),
    ...(isStatefulTool(tool) && {
      saveState: tool.saveState.bind(tool),
      loadState: tool.loadState.bind(tool),
    }),
    ...(tool.stateParts && { stateParts: tool.stateParts.bind(tool) }),
    ...changes,
  };
  const variant: AnyTool = isStreamTool(tool)
    ? {
        ...base,
        runStream: tool.runStream.bind(tool),
        ...(tool.onPause && { onPause: tool.onPause.bind(tool) }),
        ...(tool.onResume && { onResume: tool.onResume.bind(tool) }),
        ...(tool.close && { close: tool.close.bind(tool) }),
      }
    : { ...base, policy: tool.policy, run: tool.run.bind(tool) };
  shareSequence(tool, variant);
  return variant;
}
