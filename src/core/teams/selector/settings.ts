import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import type { Message } from "../../messages/message.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import type { SelectorFeedback } from "./prompts.ts";

/**
 * Chooses the next speaker instead of the model; null leaves it to the model. Gets the whole thread, events included.
 * Anything that does not depend on the thread alone goes through `ctx`.
 */
export type SelectorFunction = (
  thread: readonly Message[],
  ctx: TurnContext,
) => Promise<string | null | undefined> | string | null | undefined;

/** Returns the candidates for the model, at least one. Asked when no {@link SelectorFunction} has chosen. */
export type CandidateFunction = (
  thread: readonly Message[],
  ctx: TurnContext,
) => Promise<readonly string[]> | readonly string[];

/** The settings of a selector, defaults filled in. */
export interface SelectorSettings {
  modelClient: ChatCompletionClient;
  modelContext: ChatCompletionContext;
  /** True if the context's state is saved: it may differ from what the thread would rebuild. */
  keepsContext: boolean;
  prompt: string;
  feedback: SelectorFeedback;
  allowRepeatedSpeaker: boolean;
  maxAttempts: number;
  streaming: boolean;
  emitTeamEvents: boolean;
  selectorFunc: SelectorFunction | null;
  candidateFunc: CandidateFunction | null;
}
