// Without schemas: every start of the Worker runs this module.

import type { AgentEvent, ChatMessage, Message } from "./message.ts";

const EVENT_TYPES: ReadonlySet<string> = new Set(
  // Names them all, or it does not compile.
  Object.keys({
    ToolCallRequestEvent: true,
    ToolCallExecutionEvent: true,
    CodeGenerationEvent: true,
    CodeExecutionEvent: true,
    UserInputRequestedEvent: true,
    MemoryQueryEvent: true,
    ModelClientStreamingChunkEvent: true,
    ThoughtEvent: true,
    SelectSpeakerEvent: true,
    SelectorEvent: true,
  } satisfies Record<AgentEvent["type"], true>),
);

/** Whether a message is an event; everything else is a chat message. */
export function isAgentEvent(message: Message): message is AgentEvent {
  return EVENT_TYPES.has(message.type);
}

/** Whether a message is meant for the other agents. Unknown types count as chat messages when their name says so. */
export function isChatMessage(message: Message): message is ChatMessage {
  return !isAgentEvent(message) && !message.type.endsWith("Event");
}
