import { type Hash, hashOf, hashOfHashes } from "../hash.ts";
import type { RetryPolicy } from "../steps/retry.ts";
import type { StepAttempt } from "../steps/step-attempt.ts";
import type { CallEstimate, RequestOfStep, StepOptions, TurnContext } from "./turn-context.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
} from "../models/chat-completion-client.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import { fileAsText, fileNote, isFile, textOfFile } from "../models/attached-files.ts";
import { hasImages } from "../models/shown-images.ts";
import { estimateUsage } from "../models/tokens/estimate.ts";

/** The options of a model call; the rest comes from the step. */
export type ModelCallOptions = Omit<
  CreateOptions,
  | "signal"
  | "idempotencyKey"
  | "conversation"
  | "attempt"
  | "asks"
  | "spent"
  | "startOver"
  | "arrived"
  | "cache"
  | "flush"
  | "trace"
  | "hops"
> & {
  /** The retry policy of a client that has none of its own. */
  patience?: RetryPolicy | undefined;
  /** {@link StepOptions.steerable} */
  steerable?: boolean | undefined;
};

/**
 * Calls a model in a step of `ctx`: retried after a restart or a transient failure, recorded once it succeeds. A model without
 * vision is not shown images, and the result says so.
 *
 * @param key unique in this scope: `model:0`
 * @throws ModelError when the model refuses or no attempt is left
 */
export function callModel(
  ctx: TurnContext,
  key: string,
  client: ChatCompletionClient,
  messages: readonly LLMMessage[],
  { patience, steerable, ...options }: ModelCallOptions = {},
): Promise<CreateResult> {
  const { messages: shown, note } = visibleMessages(client, messages);
  return ctx.step(
    key,
    async (attempt) =>
      withNote(await client.create(shown, { ...options, ...ofStep(attempt) }), note),
    { ...stepOptions({ client, messages: shown, options, streamed: false }, patience), steerable },
  );
}

/**
 * As {@link callModel}, yielding pieces of text while they arrive. A recorded answer comes without pieces.
 *
 * @param options `messageId` names the message whose text streams; `isAnswer` as in {@link StreamStepOptions}; `replaces` makes void
 *   what an earlier call has streamed of the message
 */
export function streamModel(
  ctx: TurnContext,
  key: string,
  client: ChatCompletionClient,
  messages: readonly LLMMessage[],
  options: ModelCallOptions & { messageId?: string; isAnswer?: boolean; replaces?: boolean } = {},
): AsyncGenerator<string, CreateResult, void> {
  const { messageId, isAnswer, replaces, patience, steerable, ...rest } = options;
  const { messages: shown, note } = visibleMessages(client, messages);
  return ctx.stream(
    key,
    (attempt) => {
      if (replaces === true) attempt.startOver?.();
      const stream = client.createStream(shown, { ...rest, ...ofStep(attempt) });
      // A generator around the client's costs an `await` for each piece.
      return note === undefined ? stream : streamWithNote(stream, note);
    },
    {
      ...stepOptions({ client, messages: shown, options: rest, streamed: true }, patience),
      ...(messageId !== undefined && { messageId }),
      isAnswer,
      steerable,
    },
  );
}

function withNote(result: CreateResult, note: string | undefined): CreateResult {
  if (note === undefined) return result;
  return { ...result, note: result.note === undefined ? note : `${note}; ${result.note}` };
}

async function* streamWithNote(
  stream: AsyncGenerator<string, CreateResult, void>,
  note: string,
): AsyncGenerator<string, CreateResult, void> {
  return withNote(yield* stream, note);
}

function ofStep(attempt: StepAttempt): CreateOptions {
  const { signal, idempotencyKey, scope, session, asks, spent, startOver, arrived } = attempt;
  const { cache, flush, trace, hops } = attempt;
  return {
    signal,
    idempotencyKey,
    ...(scope !== undefined && { conversation: `${session ?? ""}/${scope}` }),
    attempt,
    ...(asks && { asks }),
    ...(spent && { spent }),
    ...(startOver && { startOver }),
    ...(arrived && { arrived }),
    ...(cache && { cache }),
    ...(flush && { flush }),
    ...(trace && { trace }),
    ...(hops !== undefined && { hops }),
  };
}

function stepOptions(call: RequestOfStep, patience: RetryPolicy = {}): StepOptions<CreateResult> {
  const { client, messages, options } = call;
  return {
    kind: "model",
    policy: "retry",
    ...(client.subject && { subject: client.subject }),
    input: () => messages,
    request: (attempt) => ({ ...call, options: { ...options, ...ofStep(attempt) } }),
    estimate: () => estimateOf(call),
    fingerprint: () => fingerprint(messages, options),
    retry: (error) => client.retryPolicy?.(error) ?? patience,
    onReplay: (result) => client.replayed?.(result, messages),
  };
}

async function estimateOf({ client, messages, options }: RequestOfStep): Promise<CallEstimate> {
  const { tools = [], declaredTools = [] } = options;
  return {
    model: client.subject?.name,
    prompt_tokens: await client
      .countTokens(messages, [...tools, ...declaredTools])
      // A client in code that cannot count is not a reason to fail a run.
      .catch(() => estimateUsage(messages, "").prompt_tokens),
    completion_tokens: client.answerLimit?.(options),
  };
}

/** Cached: messages and tools live long and are part of every call, so each is serialized once. */
const known = new WeakMap<object, Hash>();

/** A fingerprint of the request. Costs a look-up per message, whatever their length. */
function fingerprint(messages: readonly LLMMessage[], options: ModelCallOptions): string {
  const {
    tools = [],
    toolChoice = "auto",
    jsonOutput = null,
    extraCreateArgs = {},
    stop,
  } = options;
  const rest = JSON.stringify([
    tools.length,
    toolChoice,
    jsonOutput,
    extraCreateArgs,
    ...(stop === undefined ? [] : [stop]),
  ]);
  return hashOfHashes([...messages.map(knownHash), ...tools.map(knownHash), hashOf(rest)]);
}

function knownHash(value: object): Hash {
  let hash = known.get(value);
  if (hash === undefined) {
    hash = hashOf(JSON.stringify(value));
    known.set(value, hash);
  }
  return hash;
}

interface VisibleMessages {
  messages: readonly LLMMessage[];
  /** A note on content left out of the request. */
  note?: string;
}

const NO_VISION =
  "asked without images: its model client has no vision (model_info.vision is false)";

/**
 * The messages for a model: images become the text `<image>` for a model without vision, and files their text for one that
 * does not read PDF.
 */
function visibleMessages(
  { modelInfo }: Pick<ChatCompletionClient, "modelInfo">,
  messages: readonly LLMMessage[],
): VisibleMessages {
  const { vision, pdf = false } = modelInfo;
  if ((vision && pdf) || messages.every(isPlain)) return { messages };
  const visible = messages.map((message) => {
    const read = pdf ? message : filesAsTexts(message);
    return vision ? read : withoutImages(read);
  });
  const hidden = messages.map((message) => ({
    images: imagesIn(message),
    file: unreadFile(message),
  }));
  const file = pdf ? undefined : hidden.find((one) => one.file !== undefined)?.file;
  const notes = [
    ...(!vision && hidden.some(({ images }) => images) ? [NO_VISION] : []),
    ...(file === undefined
      ? []
      : [`asked without ${file}: its model client reads no PDF (model_info.pdf is not true)`]),
  ];
  return { messages: visible, ...(notes.length > 0 && { note: notes.join("; ") }) };
}

/** Cached, because every call sees all earlier messages again. */
const plain = new WeakSet<LLMMessage>();

/** True if every model gets the whole message. */
function isPlain(message: LLMMessage): boolean {
  const { type, content } = message;
  if (type === "SystemMessage" || type === "AssistantMessage" || plain.has(message)) return true;
  if (typeof content !== "string" && type === "UserMessage") return false;
  if (imagesIn(message)) return false;
  plain.add(message);
  return true;
}

function imagesIn(message: LLMMessage): boolean {
  if (message.type === "FunctionExecutionResultMessage")
    return message.content.some(({ content }) => hasImages(content));
  if (message.type !== "UserMessage") return false;
  const { content } = message;
  const parts = typeof content === "string" ? [content] : content;
  return parts.some((part) => (typeof part === "string" ? hasImages(part) : !isFile(part)));
}

function unreadFile(message: LLMMessage): string | undefined {
  if (message.type !== "UserMessage" || typeof message.content === "string") return undefined;
  const file = message.content.find((part) => isFile(part) && textOfFile(part) === undefined);
  return isFile(file) ? fileNote(file) : undefined;
}

function withoutImages(message: LLMMessage): LLMMessage {
  if (message.type !== "UserMessage" || typeof message.content === "string") return message;
  const parts = message.content.map((part) =>
    typeof part === "string" || isFile(part) ? part : "<image>",
  );
  const isText = parts.every((part) => typeof part === "string");
  return { ...message, content: isText ? parts.join("\n") : parts };
}

/** Messages whose files are replaced by text, for models without file input. */
const asTexts = new WeakMap<LLMMessage, LLMMessage>();

/** A message whose files are replaced by text, for a model without file input. */
function filesAsTexts(message: LLMMessage): LLMMessage {
  if (message.type !== "UserMessage" || typeof message.content === "string") return message;
  if (!message.content.some(isFile)) return message;
  let texts = asTexts.get(message);
  if (texts === undefined) {
    const content = message.content.map((part) => (isFile(part) ? fileAsText(part) : part));
    texts = { ...message, content };
    asTexts.set(message, texts);
  }
  return texts;
}
