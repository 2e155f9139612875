import { AssistantAgent } from "../agents/assistant-agent.ts";
import { RoundRobinGroupChat } from "../teams/round-robin.ts";
import { AndTermination, OrTermination } from "../conditions/base-termination.ts";
import { ExternalTermination } from "../conditions/external-termination.ts";
import { FunctionCallTermination } from "../conditions/function-call-termination.ts";
import { FunctionalTermination } from "../conditions/functional-termination.ts";
import { HandoffTermination } from "../conditions/handoff-termination.ts";
import { MaxMessageTermination } from "../conditions/max-message-termination.ts";
import { SourceMatchTermination } from "../conditions/source-match-termination.ts";
import { StopMessageTermination } from "../conditions/stop-message-termination.ts";
import { TextMentionTermination } from "../conditions/text-mention-termination.ts";
import { TextMessageTermination } from "../conditions/text-message-termination.ts";
import { TimeoutTermination } from "../conditions/timeout-termination.ts";
import { TokenUsageTermination } from "../conditions/token-usage-termination.ts";
import { UnboundedChatCompletionContext } from "../context/base-chat-completion-context.ts";
import { BufferedChatCompletionContext } from "../context/buffered-chat-completion-context.ts";
import { ReplayChatCompletionClient } from "../models/clients/replay-chat-completion-client.ts";
import { StaticStreamWorkbench, StaticWorkbench } from "../tools/static-workbench.ts";
import type { AnyComponentDefinition } from "../component/component.ts";

/** The components of most teams: agents that speak in turn until a condition is met. */
export function basicComponents(): AnyComponentDefinition[] {
  return [
    AssistantAgent.component,
    RoundRobinGroupChat.component,
    AndTermination.component,
    OrTermination.component,
    ExternalTermination.component,
    FunctionCallTermination.component,
    FunctionalTermination.component,
    HandoffTermination.component,
    MaxMessageTermination.component,
    SourceMatchTermination.component,
    StopMessageTermination.component,
    TextMentionTermination.component,
    TextMessageTermination.component,
    TimeoutTermination.component,
    TokenUsageTermination.component,
    UnboundedChatCompletionContext.component,
    BufferedChatCompletionContext.component,
    ReplayChatCompletionClient.component,
    // A dumped AssistantAgent always has one.
    StaticWorkbench.component,
    StaticStreamWorkbench.component,
  ];
}
