// The components of most teams: agents that speak in turn until a condition is met. A class is named here only: the entry
// `troupe` exports what this file exports, and the registry reads the definitions of the classes.
export { AssistantAgent } from "../agents/assistant/assistant-agent.ts";
export { RoundRobinGroupChat } from "../teams/round-robin.ts";
export { AndTermination, OrTermination } from "../conditions/base-termination.ts";
export { ExternalTermination } from "../conditions/external-termination.ts";
export { FunctionCallTermination } from "../conditions/function-call-termination.ts";
export {
  FunctionalTermination,
  type TerminationFunction,
} from "../conditions/functional-termination.ts";
export { HandoffTermination } from "../conditions/handoff-termination.ts";
export { MaxMessageTermination } from "../conditions/max-message-termination.ts";
export { SourceMatchTermination } from "../conditions/source-match-termination.ts";
export { StopMessageTermination } from "../conditions/stop-message-termination.ts";
export { TextMentionTermination } from "../conditions/text-mention-termination.ts";
export { TextMessageTermination } from "../conditions/text-message-termination.ts";
export { TimeoutTermination } from "../conditions/timeout-termination.ts";
export {
  type TokenLimits,
  type TokenUsageState,
  TokenUsageTermination,
} from "../conditions/token-usage-termination.ts";
export {
  type BaseChatCompletionContext,
  UnboundedChatCompletionContext,
} from "../context/base-chat-completion-context.ts";
export { BufferedChatCompletionContext } from "../context/buffered-chat-completion-context.ts";
export {
  type ReplayCall,
  ReplayChatCompletionClient,
  type ReplayOptions,
} from "../models/clients/replay-chat-completion-client.ts";
export {
  StaticStreamWorkbench,
  StaticWorkbench,
  type StaticWorkbenchOptions,
  type ToolOverride,
} from "../tools/static-workbench.ts";
