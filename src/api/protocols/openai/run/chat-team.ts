import { newTeamId } from "../../../http/input/team-input.ts";
import { ProblemError, unwrap } from "../../../http/problem.ts";
import type { Entry } from "../request/entry.ts";
import { type OpenAIRequest, teamOf } from "./services.ts";

/** Headers by which programs for people name their chat. */
const CHAT_HEADERS = ["troupe-chat", "x-openwebui-chat-id", "x-librechat-conversation-id"];
const LONGEST_NAME = 200;
const NAME = "openai_chat";

/** The team of a chat. */
export interface ChatTeam {
  /** The team that has the chat so far; undefined for a chat that begins, or whose user went back. */
  continues: string | undefined;
  /** The id of the team that is to be made otherwise. */
  makes: string;
  /** Notes where the chat is now. @throws ProblemError */
  note: () => Promise<void>;
}

/** The name that a request gives its chat. */
export function chatName({ headers }: Request): string | undefined {
  const name = CHAT_HEADERS.map((header) => headers.get(header)?.trim()).find(Boolean);
  return name?.slice(0, LONGEST_NAME);
}

/**
 * Finds the team of a chat with a template: clients send the whole chat with each message, and each would be a team of its own.
 * The first team of a chat has an id made of the chat's name and of who asks, and keeps where the chat is now. When a message does
 * not follow the last answer, its user has gone back, and the chat begins again with the messages that it has.
 */
export async function chatTeam(
  request: OpenAIRequest,
  { chat, model, user = "" }: { chat: string; model: string; user: string | undefined },
  entries: readonly Entry[],
): Promise<ChatTeam> {
  const { tenant, id } = request.principal;
  const key = JSON.stringify([id, user, model, chat]);
  const first = await newTeamId(tenant, "openai chat", { key, hash: "" });
  const answers = answersIn(entries);
  const kept = await teamOf(request, first).kept(NAME);
  const now = kept.ok ? kept.value : null;
  const continues =
    typeof now?.team === "string" && typeof now.answers === "number"
      ? await following(request, now.team, answers - now.answers)
      : undefined;
  const makes = kept.ok ? await newTeamId(tenant, "openai chat") : first;
  const team = continues ?? makes;
  const note = async (): Promise<void> => {
    unwrap(await teamOf(request, first).keep(NAME, { team, answers }));
  };
  return { continues, makes, note };
}

/**
 * The team, if a message follows what was said in it.
 *
 * @param more answers that the request has, and that of the message before had not
 */
async function following(
  request: OpenAIRequest,
  team: string,
  more: number,
): Promise<string | undefined> {
  if (more < 0) return undefined;
  const runs = await teamOf(request, team).runs({ limit: 1 });
  if (!runs.ok) return undefined;
  // The same message again, after an answer that its user has taken back.
  const isTakenBack = more === 0 && runs.value.runs[0]?.status === "completed";
  return isTakenBack ? undefined : team;
}

function answersIn(entries: readonly Entry[]): number {
  return entries.filter((entry) => entry.type === "message" && entry.answer).length;
}

/** How requests of programs for people begin that want a title, tags or the like of a chat, in a message alone. */
const TASKS = [
  /^### Task:\s/,
  /^(?:please )?(?:generate|provide|write|create) a (?:concise|short|brief)[^.]{0,60}\btitle for (?:the|this) (?:chat|conversation)\b/i,
];

/**
 * Refuses a request about a chat that is no message of it: a team would be made for each title.
 *
 * @throws ProblemError 400
 */
export function refuseTasks(entries: readonly Entry[]): void {
  const said = entries.filter((entry) => entry.type !== "message" || entry.source !== "system");
  const [only] = said;
  if (said.length !== 1 || only?.type !== "message" || only.answer) return;
  const { content } = only;
  const text =
    typeof content === "string" ? content : content.find((part) => typeof part === "string");
  if (text === undefined || !TASKS.some((task) => task.test(text))) return;
  throw new ProblemError({
    status: 400,
    code: "chat_task",
    detail:
      "This asks for a title or the like of a chat, which is no work for a team. Choose another model for such tasks in the settings of the program, or turn them off.",
    repeatable: false,
  });
}
