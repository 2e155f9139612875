import { shareSequence } from "./sequence.ts";
import { isStatefulTool } from "./stateful-tool.ts";
import { type AnyTool, isStreamTool } from "./tool.ts";

/** The properties in which a variant may differ from its tool. */
export type ToolChanges = Partial<
  Pick<AnyTool, "definition" | "description" | "schema" | "approval" | "toConfig">
>;

/** A copy of a tool with `changes`, which shares its function, state and sequence. */
export function variantOf(tool: AnyTool, changes: ToolChanges): AnyTool {
  const base = {
    definition: tool.definition,
    name: tool.name,
    description: tool.description,
    schema: tool.schema,
    ...(tool.approval && { approval: tool.approval }),
    ...(tool.received && { received: tool.received.bind(tool) }),
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
    : {
        ...base,
        policy: tool.policy,
        ...(tool.retry && { retry: tool.retry }),
        ...(tool.remote !== undefined && { remote: tool.remote }),
        run: tool.run.bind(tool),
      };
  shareSequence(tool, variant);
  return variant;
}
