import { preparedMessages } from "../../context/base-chat-completion-context.ts";
import { TroupeError } from "../../errors.ts";
import type { SelectorEvent } from "../../messages/agent-events.ts";
import { chunkEvents, createMessage } from "../../messages/create.ts";
import type { AgentEvent } from "../../messages/message.ts";
import { fileNote, isFile } from "../../models/attached-files.ts";
import { assistantMessage, type TextResult } from "../../models/assistant-message.ts";
import { callModel, streamModel } from "../../turn/call-model.ts";
import type { CreateResult } from "../../models/chat-completion-client.ts";
import type { LLMMessage } from "../../models/llm-messages.ts";
import { splitThought } from "../../models/thought-tags.ts";
import { isOpenAI } from "../../models/model-family.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import { formatPython } from "../../text/format.ts";
import { pythonRepr, pythonDataClass } from "../../text/python.ts";
import type { ParticipantInfo } from "../group-chat-manager.ts";
import { rolesOf } from "../roles.ts";
import type { SelectorFeedback } from "./prompts.ts";
import type { SelectorSettings } from "./settings.ts";
import { withoutTrailingSpace } from "../../text/python-space.ts";
import { endEarly } from "../../wait.ts";

/** The input of a choice. */
export interface Choice {
  /** The source of its events. */
  manager: string;
  participants: readonly ParticipantInfo[];
  candidates: readonly [string, ...string[]];
  previousSpeaker: string | null;
}

/**
 * Has the model choose a speaker. An answer that cannot be used gets feedback and another attempt; after the last one
 * the choice falls on the previous speaker if that may speak again, otherwise on the first candidate that may speak.
 *
 * @returns a candidate, but not the previous speaker if that may not speak again and is not the only one
 */
export async function* askModel(
  settings: SelectorSettings,
  choice: Choice,
  ctx: TurnContext,
): AsyncGenerator<AgentEvent, string, void> {
  const { participants, candidates, previousSpeaker } = choice;
  const names = participants.map(({ name }) => name);
  const others = candidates.filter((name) => name !== previousSpeaker);
  const mayRepeat = settings.allowRepeatedSpeaker || others.length === 0;
  const allowed = mayRepeat ? candidates : others;
  const messages: LLMMessage[] = [await question(settings, choice, ctx)];
  for (let attempt = 0; attempt < settings.maxAttempts; attempt++) {
    const reply = yield* answer(settings, choice.manager, `model:${attempt}`, messages, ctx);
    const answered = splitThought(reply.content, true).content;
    const mentioned = mentionedNames(answered, names);
    const verdict = judge(mentioned, allowed, previousSpeaker);
    if ("speaker" in verdict) return verdict.speaker;
    const feedback = formatPython(settings.feedback[verdict.mistake], {
      participants: pythonRepr([...candidates]),
    });
    messages.push(assistantMessage({ ...reply, thought: null }, "selector"), {
      content: feedback,
      source: "user",
      type: "UserMessage",
    });
  }
  return allowed.find((name) => name === previousSpeaker) ?? allowed[0] ?? candidates[0];
}

async function question(
  { modelClient, modelContext, prompt }: SelectorSettings,
  { participants, candidates }: Choice,
  ctx: TurnContext,
): Promise<LLMMessage> {
  const content = formatPython(prompt, {
    roles: rolesOf(participants),
    participants: pythonRepr([...candidates]),
    history: historyOf(await preparedMessages(modelContext, modelClient, ctx, "question")),
  });
  // Many models answer only after a user message.
  return isOpenAI(modelClient.modelInfo.family)
    ? { content, type: "SystemMessage" }
    : { content, source: "user", type: "UserMessage" };
}

function judge(
  [first, ...others]: readonly string[],
  allowed: readonly string[],
  previousSpeaker: string | null,
): { speaker: string } | { mistake: keyof SelectorFeedback } {
  if (first === undefined) return { mistake: "none" };
  if (others.length > 0) return { mistake: "many" };
  if (allowed.includes(first)) return { speaker: first };
  return { mistake: first === previousSpeaker ? "repeated" : "none" };
}

async function* answer(
  settings: SelectorSettings,
  source: string,
  key: string,
  messages: readonly LLMMessage[],
  ctx: TurnContext,
): AsyncGenerator<AgentEvent, TextResult, void> {
  const { modelClient, streaming, emitTeamEvents } = settings;
  if (!streaming)
    return requireText(
      await callModel(ctx, key, modelClient, messages, { steerable: true }),
      source,
    );
  const id = ctx.id();
  const chunk = chunkEvents(ctx, source, id);
  const pieces = streamModel(ctx, key, modelClient, messages, { steerable: true });
  try {
    let next = await pieces.next();
    while (!next.done) {
      // As in AutoGen, these chunks do not name the message they belong to.
      if (emitTeamEvents) yield { ...chunk(next.value), full_message_id: null };
      next = await pieces.next();
    }
    const reply = requireText(next.value, source);
    if (emitTeamEvents) {
      const { content } = reply;
      yield createMessage<SelectorEvent>(ctx, { type: "SelectorEvent", id, source, content });
    }
    return reply;
  } finally {
    await endEarly(pieces);
  }
}

function requireText(result: CreateResult, source: string): TextResult {
  const { content } = result;
  if (typeof content === "string") return { ...result, content };
  throw new TroupeError(
    "no_text",
    `the model of ${source} was asked for a name and answered with tool calls`,
  );
}

/** The `{history}` of a selector's prompt: what was said, each message followed by blank lines. */
function historyOf(messages: readonly LLMMessage[]): string {
  const said = messages.flatMap((message) =>
    message.type === "UserMessage" || message.type === "AssistantMessage"
      ? [`${withoutTrailingSpace(`${message.source}: ${contentText(message.content)}`)}\n\n`]
      : [],
  );
  return said.join("\n");
}

type Content = (LLMMessage & { type: "UserMessage" | "AssistantMessage" })["content"];

/** Pictures and tool calls as they appear in other texts, too (`toText`). */
function contentText(content: Content): string {
  if (typeof content === "string") return content;
  const calls = content.filter((part) => typeof part === "object" && "arguments" in part);
  if (calls.length > 0)
    return `[${calls.map((call) => pythonDataClass("FunctionCall", call)).join(", ")}]`;
  return content
    .map((part) => (typeof part === "string" ? part : isFile(part) ? fileNote(part) : "<image>"))
    .join("\n");
}

/**
 * Those of `names` that a model's reply mentions, as whole words and in the same letter case. For an underscore it may
 * write a blank, or put a backslash before it.
 */
export function mentionedNames(reply: string, names: readonly string[]): string[] {
  return names.filter((name) => mentionPattern(name).test(reply));
}

function mentionPattern(name: string): RegExp {
  const spellings = [name, name.replaceAll("_", " "), name.replaceAll("_", "\\_")];
  const alternatives = spellings.map((spelling) => spelling.replace(SYNTAX, "\\$&")).join("|");
  return new RegExp(`(?<!${WORD})(?:${alternatives})(?!${WORD})`, "u");
}

/** Word characters of any script; `\w` covers ASCII only. */
const WORD = "[\\p{L}\\p{N}_]";

const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;
