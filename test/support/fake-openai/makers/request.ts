import type { IncomingMessage } from "node:http";
import { type ChatRequest, parseChatRequest } from "../chat-request.ts";
import type { Completion } from "../completion.ts";
import { parseOpenAIRequest } from "../openai-request.ts";
import type { Refusal } from "../refusal.ts";
import { gemini } from "./gemini.ts";
import type { FakeMaker, GivenRequest, GivenTurn, Voice } from "./maker.ts";
import {
  deepseek,
  glm,
  gptOss,
  grok,
  kimi,
  minimax,
  mistral,
  openrouter,
  qwen,
} from "./reasoning.ts";
import { toolsRefusal } from "./schema-refusals.ts";

const MODELS: readonly (readonly [RegExp, FakeMaker])[] = [
  [/^gemini-/, gemini],
  [/^deepseek-(?!r1)/, deepseek],
  [/^kimi-/, kimi],
  [/^glm-/, glm],
  [/^minimax-/i, minimax],
  [/^(qwen|qwq)/, qwen],
  [/^grok-/, grok],
  [/^(mistral|magistral|ministral|devstral)-/, mistral],
  [/^gpt-oss/, gptOss],
];

type Body = { [name: string]: unknown };

const asked = new WeakMap<ChatRequest, { maker: FakeMaker; request: GivenRequest }>();

/**
 * Checks a request to chat completions as the server of the model's maker does. OpenAI's own server refuses what other
 * makers have added.
 */
export function parseMakerRequest(
  body: unknown,
  { headers, url = "" }: IncomingMessage,
): ChatRequest | Refusal {
  const { model, messages } = (body ?? {}) as { model?: unknown; messages?: unknown };
  if (typeof model !== "string" || !Array.isArray(messages)) return parseOpenAIRequest(body);
  const isRouter = url.startsWith("/api/v1/");
  const name = model.split("/").at(-1) ?? model;
  const refused = toolsRefusal(name, (body as Body)["tools"]);
  if (refused !== undefined) return { code: "invalid_function_parameters", problem: refused };
  const maker = isRouter ? openrouter : MODELS.find(([pattern]) => pattern.test(name))?.[1];
  if (maker === undefined) return parseOpenAIRequest(body);
  if (maker.isStrict) {
    const isNamed = (messages as Body[]).some(
      (one) => one["role"] === "user" && one["name"] != null,
    );
    const options = (body as Body)["stream_options"];
    // https://github.com/dnakov/anon-kode/issues/53
    if (isNamed || options != null)
      return {
        status: 422,
        problem: `extra_forbidden: ["body","${isNamed ? "messages" : "stream_options"}"], Extra inputs are not permitted`,
      };
  }
  const { request, rest } = takeApart(body as Body, maker);
  if (maker.isStrict && rest["stream"] === true) rest["stream_options"] = { include_usage: true };
  const key = (headers.authorization ?? "").replace(/^Bearer /, "");
  const given = { ...request, key, model: name };
  const problem = maker.problem(given);
  if (problem !== undefined) return { problem };
  const chat = parseChatRequest(rest);
  if (!("problem" in chat)) asked.set(chat, { maker, request: given });
  return chat;
}

/** Separates what the maker has added from what OpenAI has, which is checked as OpenAI's. */
function takeApart(
  body: Body,
  maker: FakeMaker,
): { request: Omit<GivenRequest, "key" | "model">; rest: Body } {
  const messages = (body["messages"] as Body[]).map((message) => ({ ...message }));
  const turns: GivenTurn[] = [];
  for (const [index, message] of messages.entries()) {
    if (message["role"] !== "assistant") continue;
    const fields = take(message, maker.messageFields);
    const { content } = message;
    if (maker === mistral && Array.isArray(content))
      message["content"] = (content as Body[]).filter(({ type }) => type !== "thinking");
    const calls = ((message["tool_calls"] ?? []) as Body[]).map((call) => ({ ...call }));
    turns.push({
      index,
      content,
      fields,
      calls: calls.map((call) => ({
        id: String(call["id"]),
        ...(maker.callExtras ? take(call, ["extra_content"]) : {}),
      })),
    });
    if (calls.length > 0) message["tool_calls"] = calls;
  }
  const rest: Body = { ...body, messages };
  const settings = take(rest, maker.bodyFields);
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const given = messages.map(({ role, content, tool_calls }) => ({
    role,
    content,
    hasCalls: tool_calls !== undefined,
  }));
  return { request: { settings, turns, messages: given, lastUser }, rest };
}

function take(object: Body, names: readonly string[]): Body {
  const taken: Body = {};
  for (const name of names) {
    if (object[name] === undefined) continue;
    taken[name] = object[name];
    delete object[name];
  }
  return taken;
}

/** The answer with the reasoning that models of some makers always write. */
export function thoughtful(completion: Completion, chat: ChatRequest): Completion {
  const { maker, request } = asked.get(chat) ?? {};
  const thinks = maker !== undefined && request !== undefined && maker.thinks?.(request) === true;
  return completion.reasoning === undefined && thinks
    ? { ...completion, reasoning: `Considered ${completion.id}.` }
    : completion;
}

/** How the maker of a request's model writes its answer. */
export function voiceOf(completion: Completion, chat: ChatRequest): Voice {
  const { maker, request } = asked.get(chat) ?? {};
  if (maker === undefined || request === undefined)
    return { reasoning: (text) => ({ reasoning_content: text }) };
  return maker.voice(request, completion);
}
