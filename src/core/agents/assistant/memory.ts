import { createMessage } from "../../messages/create.ts";
import type { MemoryQueryEvent } from "../../messages/agent-events.ts";
import type { TurnContext } from "../../run/turn-context.ts";
import type { AssistantSettings } from "./settings.ts";

/** Lets every memory add to the model context; one event per memory with results. */
export async function consultMemory(
  { name, memory, modelContext }: AssistantSettings,
  ctx: TurnContext,
): Promise<MemoryQueryEvent[]> {
  const events: MemoryQueryEvent[] = [];
  for (const [index, store] of memory.entries()) {
    const content = await store.updateContext(modelContext, ctx.scope(`memory:${index}`));
    if (content.length === 0) continue;
    events.push(
      createMessage<MemoryQueryEvent>(ctx, { type: "MemoryQueryEvent", source: name, content }),
    );
  }
  return events;
}
