export * as ai5 from "ai-5";
export * as ai6 from "ai-6";
export * as ai7 from "ai";
export type {
  ChatInit,
  ChatState,
  ChatStatus,
  DynamicToolUIPart,
  ReasoningUIPart,
  TextUIPart,
  UIMessage,
  UIMessageChunk,
} from "ai";
