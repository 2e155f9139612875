import { createHash } from "node:crypto";
import { lastUserText, textOf, type ChatRequest } from "./chat-request.ts";
import type { Voice } from "./makers/maker.ts";
import type { CacheUse } from "./prompt-cache.ts";
import type { Reply, Rule } from "./rule.ts";

/** A time that never changes, so that neither do answers. */
const CREATED = 1_700_000_000;

/** A reply made complete: what both the plain and the streamed answer are written from. */
export interface Completion {
  id: string;
  model: string;
  pieces: string[];
  content: string | null;
  reasoning: string | undefined;
  redacted: boolean;
  refusal: string | undefined;
  toolCalls: { id: string; name: string; arguments: string }[];
  finishReason: string | null;
  logprobs: boolean;
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details?: { [detail: string]: number } | undefined;
    completion_tokens_details?: { [detail: string]: number } | undefined;
  } | null;
  /** What the server's cache did, where it has one. */
  cache: CacheUse | undefined;
}

/**
 * The default reply: the last user message (or the tool's result, if that is what was said last) and a digest of the
 * whole conversation, so that any difference in what the model was shown shows in what it says.
 */
function echo(request: ChatRequest, digest: string): Reply {
  const last = request.messages.at(-1);
  const said = last?.role === "tool" ? textOf(last) : lastUserText(request);
  if (request.response_format !== undefined && request.response_format.type !== "text")
    return { content: JSON.stringify({ reply: digest, to: said.slice(0, 80) }) };
  return { content: `Reply ${digest} to: ${said.slice(0, 80)}` };
}

/** The id of a call in the form of the model's maker. */
function callIdOf(
  { model, messages }: ChatRequest,
  name: string,
  digest: string,
  index: number,
): string {
  const earlier = messages.flatMap((message) =>
    message.role === "assistant" ? (message.tool_calls ?? []) : [],
  );
  // https://platform.moonshot.ai/docs/guide/use-kimi-api-to-complete-tool-calls
  if (/(^|\/)kimi-/.test(model)) return `functions.${name}:${earlier.length + index}`;
  // https://docs.mistral.ai/capabilities/function_calling: nine letters and digits
  if (/(^|\/)(mistral|magistral|ministral|devstral)-/.test(model)) return `${digest}${index}`;
  return `call_${digest}_${index}`;
}

/** The answer to `request` under `rule`. The same request always gets the same one. */
export function completionFor(
  request: ChatRequest,
  rule: Rule | undefined,
  cache?: CacheUse,
): Completion {
  const digest = createHash("sha256")
    .update(JSON.stringify([request.model, request.messages]))
    .digest("hex")
    .slice(0, 8);
  const reply = rule?.reply ?? echo(request, digest);
  const toolCalls = (reply.tool_calls ?? []).map((call, index) => ({
    id: call.id ?? callIdOf(request, call.name, digest, index),
    name: call.name,
    arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
  }));
  const content =
    reply.words === undefined
      ? (reply.content?.replaceAll("{digest}", digest) ?? null)
      : Array.from({ length: reply.words }, (_, index) => `word${index}`).join(" ");
  const finishReason =
    reply.finish_reason === undefined
      ? toolCalls.length > 0
        ? "tool_calls"
        : "stop"
      : reply.finish_reason;
  return {
    id: `chatcmpl-${digest}`,
    model: request.model,
    pieces: split(content ?? "", rule?.chunk_size),
    content,
    reasoning: reply.reasoning,
    redacted: reply.redacted ?? false,
    refusal: reply.refusal,
    toolCalls,
    finishReason,
    logprobs: reply.logprobs ?? false,
    usage: usageOf(request, reply, content ?? "", cache),
    cache,
  };
}

function usageOf(
  request: ChatRequest,
  reply: Reply,
  content: string,
  cache: CacheUse | undefined,
): Completion["usage"] {
  if (reply.usage === null) return null;
  if (cache !== undefined) {
    const { prompt, read, written } = cache;
    const completion_tokens = Math.ceil(content.length / 4);
    return {
      prompt_tokens: prompt,
      completion_tokens,
      total_tokens: prompt + completion_tokens,
      prompt_tokens_details: {
        cached_tokens: read,
        ...(written > 0 && { cache_write_tokens: written }),
      },
    };
  }
  const { prompt_tokens, completion_tokens, ...details } = reply.usage ?? {
    prompt_tokens: request.messages.reduce((sum, message) => sum + words(textOf(message)), 0),
    completion_tokens: words(content),
  };
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...details,
  };
}

const words = (text: string): number => text.match(/\S+/g)?.length ?? 0;

/** A text in pieces: of that many characters, else of a word each. */
export function split(text: string, size: number | undefined): string[] {
  if (text === "") return [];
  if (size === undefined) return text.match(/\s*\S+\s*?|\s+/g) ?? [text];
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

export const logprobsOf = (pieces: readonly string[]) => ({
  content: pieces.map((token) => ({
    token,
    logprob: -0.5,
    bytes: [...Buffer.from(token)],
    top_logprobs: [{ token, logprob: -0.5, bytes: [...Buffer.from(token)] }],
  })),
  refusal: null,
});

/** The body of an answer that is not streamed. */
export function completionBody(completion: Completion, voice: Voice): object {
  const { toolCalls, reasoning, refusal, content } = completion;
  return {
    id: completion.id,
    object: "chat.completion",
    created: CREATED,
    model: completion.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content,
          refusal: refusal ?? null,
          ...(reasoning === undefined ? {} : voice.reasoning?.(reasoning, true)),
          ...(reasoning !== undefined &&
            voice.content && { content: voice.content(content ?? "", reasoning) }),
          ...(toolCalls.length === 0
            ? voice.text?.()
            : {
                tool_calls: toolCalls.map(({ id, name, arguments: args }, index) => ({
                  id,
                  type: "function",
                  function: { name, arguments: args },
                  ...voice.call?.(index),
                })),
              }),
        },
        logprobs: completion.logprobs ? logprobsOf(completion.pieces) : null,
        finish_reason: completion.finishReason,
      },
    ],
    ...(completion.usage === null ? {} : { usage: completion.usage }),
  };
}

/** The chunks of a streamed answer, each ready to be written. The last event, `[DONE]`, is not among them. */
export function* completionChunks(
  completion: Completion,
  includeUsage: boolean,
  voice: Voice,
): Generator<string, void, void> {
  const head = {
    id: completion.id,
    object: "chat.completion.chunk",
    created: CREATED,
    model: completion.model,
  };
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, rest: object = {}): string =>
    event({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }],
      ...usage,
    });

  yield chunk({ role: "assistant", content: completion.toolCalls.length > 0 ? null : "" });
  const thoughts = split(completion.reasoning ?? "", undefined);
  for (const [index, piece] of thoughts.entries())
    yield chunk(voice.reasoning?.(piece, index === thoughts.length - 1) ?? {});
  for (const piece of completion.pieces) {
    yield chunk(
      { content: piece },
      completion.logprobs ? { logprobs: logprobsOf([piece]) } : undefined,
    );
  }
  if (completion.refusal !== undefined) yield chunk({ refusal: completion.refusal });
  for (const [index, call] of completion.toolCalls.entries()) {
    yield chunk({
      tool_calls: [
        {
          index,
          id: call.id,
          type: "function",
          function: { name: call.name, arguments: "" },
          ...voice.call?.(index),
        },
      ],
    });
    for (const piece of split(call.arguments, 8))
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  if (completion.finishReason !== null) {
    const end = completion.toolCalls.length === 0 ? voice.text?.() : undefined;
    yield chunk({ ...end }, { finish_reason: completion.finishReason });
  }
  if (includeUsage && completion.usage !== null)
    yield event({ ...head, choices: [], usage: completion.usage });
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
