import type { StartedStream, TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { Result } from "../../../contract/result.ts";
import type { Problem } from "../../../contract/problem.ts";
import type { HumanRequest, RunInfo } from "../../../contract/run.ts";
import { isJsonObject } from "../../../core/json.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Asker, askerOf } from "../../http/access/access-control.ts";
import { readJson } from "../../http/input/body.ts";
import { readTask, requireSize } from "../../http/input/task.ts";
import { originOf } from "../../http/input/call.ts";
import { ProblemError, unwrap } from "../../http/endpoint/problem.ts";
import type { MessageServices } from "../../http/endpoint/services.ts";
import { eventStreamHead, streamAnswer } from "../../http/endpoint/sse.ts";
import { TeamConversation, type NewRunOptions } from "../shared/conversation.ts";
import { type ChatAnswers, answersIn } from "./answers.ts";
import { type ChatAddress, ChatBranch, isStartedBy, type StartedRun } from "./branch.ts";
import { type ChatRequest, NO_TEXT_STREAM, parseChat } from "./chat-request.ts";
import { chatFormat, HEADERS } from "./encoder/format.ts";
import { idempotencyOf, steer } from "./steer.ts";
import { chatMessageOf } from "./task.ts";

/** A new run is begun; a message into one that is active is none. */
type Conflict = Exclude<ChatRequest["on_conflict"], "steer">;

/** A chat's request about its conversation. */
interface Chat {
  services: MessageServices;
  branch: ChatBranch;
  conversation: TeamConversation;
  request: ChatRequest;
  /** The caller, for a run that is started. */
  asker: Asker;
  principal: Principal;
  /** The caller's trace and hop count, for a run that is started. */
  origin: ReturnType<typeof originOf>;
}

/**
 * Takes what is new in a chat and answers with the stream of the team's run: a user's message starts a run, answers
 * the question of the active one or goes into it, a message of the assistant has answers to what it asks.
 *
 * @throws ProblemError
 */
export async function answerChat(
  services: MessageServices,
  address: ChatAddress,
  request: Request,
): Promise<Response> {
  refusePlainText(request);
  const { value } = await readJson(request, services.limits);
  const parsed = parseChat(value);
  const chat = chatIn(await ChatBranch.open(address), {
    services,
    request: parsed,
    asker: askerOf(address.principal),
    principal: address.principal,
    origin: originOf(request),
  });
  if (parsed.message.role === "assistant") return giveAnswers(chat);
  return parsed.trigger === "regenerate-message" ? tryAgain(chat) : say(chat);
}

function chatIn(branch: ChatBranch, chat: Omit<Chat, "branch" | "conversation">): Chat {
  return {
    ...chat,
    branch,
    conversation: new TeamConversation(branch.team, chat.services, chat.principal),
  };
}

/** @throws ProblemError 406 for a client that reads nothing but text */
function refusePlainText(request: Request): void {
  const accept = request.headers.get("accept") ?? "*/*";
  if (/text\/event-stream|text\/\*|\*\/\*/.test(accept) || !accept.includes("text/plain")) return;
  throw new ProblemError({ status: 406, code: "no_text_stream", detail: NO_TEXT_STREAM });
}

/** A user's message: the answer to the first open question for an input, a message into the active run, or the task of a new one. */
async function say(chat: Chat): Promise<Response> {
  const { branch, conversation, request } = chat;
  // The page has taken back what followed the message.
  const edited = request.messageId === request.message.id ? await started(chat) : undefined;
  if (edited !== undefined && !(await isLatest(edited, branch))) return answerAgain(chat, edited);
  const problem = await start(chat, "reject");
  if (problem instanceof Response) return problem;
  if (problem.code === "idempotency_mismatch") return sayAgain(chat, problem);
  const run = unwrap(await conversation.team.run(problem.extra?.run_id as string));
  const question = run.requests.find(({ kind }) => kind === "input");
  if (question !== undefined) return answerWithMessage(chat, run, question);
  const { on_conflict } = request;
  const isSteered = on_conflict === "steer" && run.requests.length === 0;
  const steered = isSteered ? await steer(chat, run) : undefined;
  if (steered instanceof Response) return steered;
  // The run that has ended in the meantime leaves the team to a new one.
  if (!steered && (on_conflict === "steer" || on_conflict === "reject")) throw busy(run);
  const again = await start(chat, on_conflict === "steer" ? "reject" : on_conflict);
  if (again instanceof Response) return again;
  throw new ProblemError(again);
}

/** A message that started no run, and was sent before: into the last run, or with another content. */
async function sayAgain(chat: Chat, problem: Problem): Promise<Response> {
  const run = await chat.conversation.lastRun();
  const sent = run === undefined ? problem : await steer(chat, run);
  if (sent instanceof Response) return sent;
  throw new ProblemError(sent);
}

/** @returns the problem of a busy team, or of a message that was sent before and started no run */
async function start(chat: Chat, on_conflict: Conflict): Promise<Response | Problem> {
  const result = await startRun(chat, on_conflict);
  if (result.ok) return streamAnswer(result.value, HEADERS);
  const { problem } = result;
  if (problem.code === "team_busy") return problem;
  // A message that was answered has another content now.
  if (problem.code !== "idempotency_mismatch") throw new ProblemError(problem);
  const edited = await started(chat);
  return edited === undefined ? problem : answerAgain(chat, edited);
}

/**
 * Starts the run whose task is the user's message.
 *
 * @param replaces the run that the new one takes the place of, in a branch of its own
 */
async function startRun(
  { services, conversation, request, asker, origin }: Chat,
  on_conflict: Conflict,
  replaces?: RunInfo,
): Promise<Result<StartedStream>> {
  const { id: chat, message, path } = request;
  requireSize("tools", request.tools, services.limits);
  const to = { team: conversation.team };
  const task = await readTask(chatMessageOf(message, path), services, to);
  const options: NewRunOptions = {
    ...origin,
    ...asker,
    on_conflict,
    tools: request.tools,
    metadata: {
      ai_sdk: { chat, message: message.id, ...(replaces && { replaces: replaces.id }) },
    },
    idempotency: await idempotencyOf(request, task),
  };
  return conversation.start(task, options, chatFormat({ part: "new" }));
}

/** The run that the request's message has started before. */
function started({ branch, request }: Chat): Promise<StartedRun | undefined> {
  return branch.startedBy(request.message.id);
}

async function isLatest({ run }: StartedRun, { team }: ChatBranch): Promise<boolean> {
  const [latest] = unwrap(await team.runs({ limit: 1 })).runs;
  return latest?.id === run.id;
}

/**
 * Answers a message again, in a fork that begins before the run that it has started. What was said there stays in the branch
 * before, whose active run is not continued.
 */
async function answerAgain(chat: Chat, before: StartedRun): Promise<Response> {
  const { team, id } = chat.branch;
  const { message, path } = chat.request;
  // A message that cannot be read makes no fork.
  await readTask(chatMessageOf(message, path), chat.services, { team });
  const branch = await chat.branch.forkBefore(before);
  const result = await startRun(chatIn(branch, chat), "reject", before.run);
  if (!result.ok) {
    await branch.team.destroy();
    throw new ProblemError(result.problem);
  }
  await branch.keep();
  const { active_run: left } = unwrap(await team.team());
  if (left !== null && id !== branch.id) await team.stopRun(left, "now");
  return streamAnswer(result.value, HEADERS);
}

function busy({ id, status, requests }: RunInfo): ProblemError {
  const waits = requests.length > 0 ? " It waits for answers to what it has asked." : "";
  return new ProblemError({
    status: 409,
    code: "team_busy",
    detail: `The team's run ${id} is ${status}.${waits}`,
    extra: { run_id: id },
  });
}

function answerWithMessage(chat: Chat, run: RunInfo, question: HumanRequest): Promise<Response> {
  const { request } = chat;
  const message = chatMessageOf(request.message, request.path);
  const content = message.type === "TextMessage" ? (message.content as string) : message;
  const asked = run.requests.map(({ id }) => id).filter((id) => id !== question.id);
  return continueRun(chat, run.id, {
    answers: [{ request: question.id, answer: { content } }],
    options: { part: "new", message: question.id, answering: [question.id], asked },
  });
}

/** An assistant's message, in which the user has answered questions, or the client has run its tools. */
async function giveAnswers(chat: Chat): Promise<Response> {
  const { conversation, request } = chat;
  const run = await conversation.activeRun();
  const answers = answersIn(request.message, run?.requests ?? []);
  if (run !== undefined && answers.answers.length > 0) return continueRun(chat, run.id, answers);
  throw new ProblemError({
    status: 409,
    code: "nothing_to_answer",
    detail:
      "The message has no answer to an open question of the team. To see what the team does, resume the stream.",
  });
}

/** Gives answers to a run and streams what follows. */
async function continueRun(
  { conversation }: Chat,
  run: string,
  { answers, options }: ChatAnswers,
): Promise<Response> {
  const stream = { after: Number.MAX_SAFE_INTEGER, format: chatFormat(options) };
  return streamAnswer(unwrap(await conversation.continue(run, answers, stream)), HEADERS);
}

/**
 * Retries the run that did not come to its end, shows the one that is active, answers a message again that was answered, or
 * takes the message as a new one when it has started no run.
 */
async function tryAgain(chat: Chat): Promise<Response> {
  const { team } = chat.branch;
  const [latest] = unwrap(await team.runs({ limit: 1 })).runs;
  if (latest !== undefined && isAbout(latest, chat.request)) {
    if (isRetryable(latest)) {
      const { id } = unwrap(await team.retryRun(latest.id));
      return streamRun(team, id, "new");
    }
    const isAnswer = !isStartedBy(latest, chat.request.message.id);
    // A run cannot be forked at an answer that it got: what it made of it is shown again.
    if (isAnswer || latest.status !== "completed") return streamRun(team, latest.id, "replay");
  }
  const before = await started(chat);
  if (before !== undefined) return answerAgain(chat, before);
  return say(chat);
}

async function streamRun(
  team: TeamGateway,
  run: string,
  part: "new" | "replay",
): Promise<Response> {
  const format = chatFormat({ part });
  return streamAnswer(unwrap(await team.stream({ run, after: 0, format })), HEADERS);
}

function isRetryable({ status }: RunInfo): boolean {
  return status === "failed" || status === "cancelled";
}

/** True if the user's message started the run, or answered it: then the assistant's message before is the run's question. */
function isAbout(run: RunInfo, { messages, message }: ChatRequest): boolean {
  const asked = messages.at(-2)?.metadata;
  const before = isJsonObject(asked) && isJsonObject(asked.run) ? asked.run : undefined;
  return isStartedBy(run, message.id) || (before?.id === run.id && before.status === "waiting");
}

/**
 * The stream of the message that the conversation's active run is writing, or has written when it asked something: from the
 * message's beginning, as the SDK expects it. 204 without an active run.
 *
 * @param head whether only the headers are asked for
 * @throws ProblemError 404
 */
export async function resume(address: ChatAddress, head: boolean): Promise<Response> {
  const { team } = await ChatBranch.open(address);
  const { active_run: run } = unwrap(await team.team());
  if (run === null) return streamAnswer({ done: true }, HEADERS);
  if (head) return eventStreamHead();
  return streamRun(team, run, "replay");
}

/** Cancels the conversation's active run, if there is one. @throws ProblemError 404 */
export async function stop(address: ChatAddress): Promise<Response> {
  const { team } = await ChatBranch.open(address);
  const { active_run: run } = unwrap(await team.team());
  if (run !== null) unwrap(await team.stopRun(run, "now"));
  return new Response(null, { status: 204 });
}
