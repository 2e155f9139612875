import { type Hash, HashChain, hashOf } from "../ids.ts";
import type { StepAttempt, StepOptions, TurnContext } from "../run/turn-context.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
} from "./chat-completion-client.ts";
import type { LLMMessage } from "./llm-messages.ts";

/** The options of a model call; the rest comes from the step. */
export type ModelCallOptions = Omit<
  CreateOptions,
  "signal" | "idempotencyKey" | "conversation" | "attempt" | "cache" | "flush" | "trace"
>;

/**
 * Calls a model in a step of `ctx`: retried after a restart or a transient failure, recorded once it succeeds.
 *
 * @param key unique in this scope: `model:0`
 * @throws ModelError when the model refuses or no attempt is left
 */
export function callModel(
  ctx: TurnContext,
  key: string,
  client: ChatCompletionClient,
  messages: readonly LLMMessage[],
  options: ModelCallOptions = {},
): Promise<CreateResult> {
  return ctx.step(
    key,
    (attempt) => client.create(messages, { ...options, ...ofStep(attempt) }),
    stepOptions(client, messages, options),
  );
}

/**
 * As {@link callModel}, yielding pieces of text while they arrive. A recorded answer comes without pieces.
 *
 * @param options `messageId` names the message whose text streams
 */
export function streamModel(
  ctx: TurnContext,
  key: string,
  client: ChatCompletionClient,
  messages: readonly LLMMessage[],
  options: ModelCallOptions & { messageId?: string } = {},
): AsyncGenerator<string, CreateResult, void> {
  const { messageId, ...rest } = options;
  return ctx.stream(
    key,
    (attempt) => client.createStream(messages, { ...rest, ...ofStep(attempt) }),
    {
      ...stepOptions(client, messages, rest),
      ...(messageId !== undefined && { messageId }),
    },
  );
}

function ofStep(attempt: StepAttempt): CreateOptions {
  const { signal, idempotencyKey, scope, session, cache, flush, trace } = attempt;
  return {
    signal,
    idempotencyKey,
    ...(scope !== undefined && { conversation: `${session ?? ""}/${scope}` }),
    attempt,
    ...(cache && { cache }),
    ...(flush && { flush }),
    ...(trace && { trace }),
  };
}

function stepOptions(
  client: ChatCompletionClient,
  messages: readonly LLMMessage[],
  options: ModelCallOptions,
): StepOptions<CreateResult> {
  return {
    kind: "model",
    policy: "retry",
    ...(client.subject && { subject: client.subject }),
    input: () => messages,
    fingerprint: () => fingerprint(messages, options),
    retry: (error) => client.retryPolicy?.(error) ?? {},
    onReplay: (result) => client.replayed?.(result, messages),
  };
}

/** Messages and tools live long and are asked about at every call; each is written out once. */
const known = new WeakMap<object, Hash>();

/** Identifies what the model is asked. Costs a look-up per message, whatever their length. */
function fingerprint(messages: readonly LLMMessage[], options: ModelCallOptions): string {
  const { tools = [], toolChoice = "auto", jsonOutput = null, extraCreateArgs = {} } = options;
  const chain = new HashChain();
  for (const message of messages) chain.add(knownHash(message));
  for (const tool of tools) chain.add(knownHash(tool));
  chain.add(hashOf(JSON.stringify([tools.length, toolChoice, jsonOutput, extraCreateArgs])));
  return chain.end();
}

function knownHash(value: object): Hash {
  let hash = known.get(value);
  if (hash === undefined) {
    hash = hashOf(JSON.stringify(value));
    known.set(value, hash);
  }
  return hash;
}
