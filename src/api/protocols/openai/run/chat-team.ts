import { beginningOf } from "../../../../core/cut.ts";
import { newTeamId } from "../../../http/input/team-input.ts";
import { ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { type InputEntry, openAnswer, sinceAnswer } from "../request/entry.ts";
import type { Wanted } from "./find-conversation.ts";
import { TEMPLATE } from "./models.ts";
import { type OpenAIRequest, teamOf } from "./services.ts";

/** Headers in which chat programs name the chat. Gateways forward only those that begin with `X-`. */
const CHAT_HEADERS = [
  "troupe-chat",
  "x-troupe-chat",
  "x-openwebui-chat-id",
  "x-librechat-conversation-id",
];
/** The names that programs send for a chat without a name, or for a placeholder of their settings that they do not know. */
const NO_NAME = /^(?:new|null|none|undefined|\{\{.*\}\})$/i;
const LONGEST_NAME = 200;
const NAME = "openai_chat";

/** The place at which a request continues its chat. */
export interface ChatPlace {
  /** The new entries of the chat: all, if the chat begins or its user went back. */
  entries: readonly InputEntry[];
  /** The team that has the chat so far, or the id of the one that is to be made. */
  team: Pick<Wanted, "conversation" | "makes">;
  /** Notes where the chat is now. @throws ProblemError */
  note: () => Promise<void>;
}

/** Finds the place of a request in its chat, if it names one. @throws ProblemError 400 for a request for details of a chat */
export async function placeInChat(
  request: OpenAIRequest,
  { headers }: Request,
  asker: { model: string; user: string | undefined },
  entries: readonly InputEntry[],
): Promise<ChatPlace> {
  const alone = { entries, team: {}, note: () => Promise.resolve() };
  if (!asker.model.startsWith(TEMPLATE)) return alone;
  const only = onlyText(entries);
  if (only !== undefined && TASKS.some((task) => task.test(only))) throw chatTask();
  const name = CHAT_HEADERS.map((header) => headers.get(header)?.trim()).find(Boolean);
  const isNamed = name !== undefined && !NO_NAME.test(name);
  if (!isNamed || (only !== undefined && ASIDE.test(only))) return alone;
  return placeIn(request, { ...asker, chat: beginningOf(name, LONGEST_NAME) }, entries);
}

/**
 * Finds the team of a chat with a template: clients send the whole chat with each message, and each would be a team of its own.
 * The first team of a chat has an id made of the chat's name and of who asks, and keeps where the chat is now. When a message does
 * not follow the last answer, its user has gone back, and the chat begins again with the messages that it has.
 */
async function placeIn(
  request: OpenAIRequest,
  { chat, model, user = "" }: { chat: string; model: string; user: string | undefined },
  entries: readonly InputEntry[],
): Promise<ChatPlace> {
  const { tenant, id } = request.principal;
  const key = JSON.stringify([id, user, model, chat]);
  const first = await newTeamId(tenant, "openai chat", { key, hash: "" });
  // A program adds the continuation to the answer that it continues.
  const continues = openAnswer(entries) !== undefined;
  const answers = answersIn(entries) - (continues ? 1 : 0);
  const kept = await teamOf(request, first).kept(NAME);
  const now = kept.ok ? kept.value : null;
  const found =
    typeof now?.team === "string" && typeof now.answers === "number"
      ? await following(request, now.team, { more: answers - now.answers, continues })
      : undefined;
  const makes = kept.ok ? await newTeamId(tenant, "openai chat") : first;
  const team = found ?? makes;
  const note = async (): Promise<void> => {
    unwrap(await teamOf(request, first).keep(NAME, { team, answers }));
  };
  return found === undefined
    ? { entries, team: { makes }, note }
    : { entries: sinceAnswer(entries), team: { conversation: found }, note };
}

/**
 * The team, if a message follows what was said in it.
 *
 * @param place `more`: answers that the request has, and that of the message before had not; `continues`: whether the last answer is
 * to be continued
 */
async function following(
  request: OpenAIRequest,
  team: string,
  { more, continues }: { more: number; continues: boolean },
): Promise<string | undefined> {
  if (more < 0) return undefined;
  const runs = await teamOf(request, team).runs({ limit: 1 });
  if (!runs.ok) return undefined;
  // The same message again, after an answer that its user has taken back.
  const isTakenBack = !continues && more === 0 && runs.value.runs[0]?.status === "completed";
  return isTakenBack ? undefined : team;
}

function answersIn(entries: readonly InputEntry[]): number {
  return entries.filter((entry) => entry.type === "message" && entry.answer).length;
}

/**
 * The prompts with which chat programs ask for the title, the tags or other details of a chat, in a request of a single
 * message.
 */
const TASKS = [
  /^### Task:\s/,
  /^(?:please )?(?:generate|provide|write|create) a (?:concise|short|brief)[^.]{0,60}\btitle for (?:the|this) (?:chat|conversation)\b/i,
  /^Analyze this conversation and provide:\s+1\. The detected language\b/,
  /^Your task is to reflect the speaker's likely facial expression through a fitting emoji\b/,
];

/** The request of Open WebUI that merges the answers of several models. It is not a message of the chat. */
const ASIDE =
  /^You have been provided with a set of responses from various models to the latest user query\b/;

/** The text of a request whose only message, apart from those of the system, is the user's. */
function onlyText(entries: readonly InputEntry[]): string | undefined {
  const said = entries.filter((entry) => entry.type !== "message" || entry.source !== "system");
  const [only] = said;
  if (said.length !== 1 || only?.type !== "message" || only.answer) return undefined;
  const { content } = only;
  return typeof content === "string" ? content : content.find((part) => typeof part === "string");
}

/** Each title would create a team. */
function chatTask(): ProblemError {
  return new ProblemError({
    status: 400,
    code: "chat_task",
    detail:
      "The request asks for the title, the tags or other details of a chat, which is not a task for a team. Choose another model for such requests in the settings of the program, or turn them off.",
    repeatable: false,
  });
}
