import type { StartRunInput, TeamGateway } from "../../contract/gateways/team-gateway.ts";
import type { Problem } from "../../contract/problem.ts";
import type { HumanRequest, RunInfo } from "../../contract/run.ts";
import { isJsonObject, sortedJson } from "../../core/json.ts";
import { sha256Hex } from "../../core/sha256.ts";
import { readJson } from "../../http/input/body.ts";
import { parseAnswer, parseTask, requireSize } from "../../http/input/task.ts";
import { traceOf } from "../../http/input/trace.ts";
import { invalid, ProblemError, unwrap } from "../../http/problem.ts";
import { streamAnswer } from "../../http/sse.ts";
import { newRun } from "../new-run.ts";
import type { ProtocolServices } from "../services.ts";
import { type Answers, answersIn } from "./answers.ts";
import { type ChatRequest, parseChat } from "./chat-request.ts";
import { chatFormat, HEADERS } from "./format.ts";
import { chatMessageOf } from "./task.ts";

type ChatServices = Pick<ProtocolServices, "limits">;
type Conflict = ChatRequest["on_conflict"];

/** A chat's request about its team. */
interface Chat {
  services: ChatServices;
  team: TeamGateway;
  request: ChatRequest;
  /** The caller's, for a run that is started. */
  trace: ReturnType<typeof traceOf>;
}

/**
 * Takes what is new in a chat and answers with the stream of the team's run: a user's message starts a run or answers the
 * question of the active one, a message of the assistant has answers to what it asks.
 *
 * @throws ProblemError
 */
export async function answerChat(
  services: ChatServices,
  team: TeamGateway,
  request: Request,
): Promise<Response> {
  const { value } = await readJson(request, services.limits);
  const chat = { services, team, request: parseChat(value), trace: traceOf(request) };
  if (chat.request.message.role === "assistant") return goOn(chat);
  return chat.request.trigger === "regenerate-message" ? tryAgain(chat) : say(chat);
}

/** A user's message: the answer to the first open question for an input, or the task of a new run. */
async function say(chat: Chat): Promise<Response> {
  const { team, request } = chat;
  const started = await start(chat, "reject");
  if (started instanceof Response) return started;
  const run = unwrap(await team.run(started.extra?.run_id as string));
  const question = run.requests.find(({ kind }) => kind === "input");
  if (question !== undefined) return answerWithMessage(chat, run, question);
  if (request.on_conflict === "reject") throw busy(run);
  const again = await start(chat, request.on_conflict);
  if (again instanceof Response) return again;
  throw new ProblemError(again);
}

/** @returns the problem of a busy team */
async function start(chat: Chat, on_conflict: Conflict): Promise<Response | Problem> {
  const opened = await chat.team.startStream(
    await runOf(chat, on_conflict),
    chatFormat({ part: "new" }),
  );
  if (opened.ok) return streamAnswer(opened.value, HEADERS);
  if (opened.problem.code === "team_busy") return opened.problem;
  throw refused(opened.problem, chat);
}

/** The run whose task is the user's message. A message starts one run, however often it is sent. */
async function runOf(
  { services, request, trace }: Chat,
  on_conflict: Conflict,
): Promise<StartRunInput> {
  const { id: chat, message, path } = request;
  requireSize("tools", request.tools, services.limits);
  const task = parseTask(chatMessageOf(message, path), services.limits);
  return newRun(task, {
    ...trace,
    on_conflict,
    tools: request.tools,
    metadata: { ai_sdk: { chat, message: message.id } },
    idempotency: {
      key: `ai-sdk-${await sha256Hex(JSON.stringify([chat, message.id]))}`,
      hash: await sha256Hex(sortedJson(task)),
    },
  });
}

function refused(problem: Problem, { request }: Chat): ProblemError {
  if (problem.code !== "idempotency_mismatch") return new ProblemError(problem);
  const message = "was sent before with another content";
  return invalid(
    "message_edited",
    "The team holds the conversation: a message that it has answered cannot be edited. Send another one, or fork the team.",
    [{ path: request.path, message }],
  );
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
  return follow(chat, run.id, {
    answers: [{ request: question.id, answer: { content } }],
    options: { part: "new", message: question.id, answering: [question.id], asked },
  });
}

/** An assistant's message, in which the user has answered questions, or the client has run its tools. */
async function goOn(chat: Chat): Promise<Response> {
  const { team, request } = chat;
  const { active_run: id } = unwrap(await team.team());
  const run = id === null ? undefined : unwrap(await team.run(id));
  const given = answersIn(request.message, run?.requests ?? []);
  if (run !== undefined && given.answers.length > 0) return follow(chat, run.id, given);
  throw new ProblemError({
    status: 409,
    code: "nothing_to_answer",
    detail:
      "The message has no answer to an open question of the team. To see what the team does, resume the stream.",
  });
}

/** Gives answers to a run and streams what follows. The stream is open before, so that nothing is missed. */
async function follow(
  { services, team }: Chat,
  run: string,
  { answers, options }: Answers,
): Promise<Response> {
  const parsed = answers.map(({ request, answer }) => ({
    request,
    answer: parseAnswer(answer, services.limits),
  }));
  const format = chatFormat(options);
  const opened = unwrap(await team.stream({ run, after: Number.MAX_SAFE_INTEGER, format }));
  try {
    for (const { request, answer } of parsed) unwrap(await team.answer(run, request, answer));
  } catch (error) {
    if ("body" in opened) await opened.body.cancel();
    throw error;
  }
  return streamAnswer(opened, HEADERS);
}

/**
 * Retries the run that did not come to its end, or starts one when the message has not arrived before. What a run has
 * completed is not taken back.
 */
async function tryAgain(chat: Chat): Promise<Response> {
  const { team } = chat;
  const format = chatFormat({ part: "new" });
  const [latest] = unwrap(await team.runs({ limit: 1 })).runs;
  if (latest !== undefined && isRetryable(latest) && isAbout(latest, chat.request)) {
    const { id: run } = unwrap(await team.retryRun(latest.id));
    return streamAnswer(unwrap(await team.stream({ run, after: 0, format })), HEADERS);
  }
  const started = await team.startRun(await runOf(chat, "reject"));
  if (!started.ok) throw refused(started.problem, chat);
  const { id: run, created } = started.value;
  if (created) return streamAnswer(unwrap(await team.stream({ run, after: 0, format })), HEADERS);
  throw new ProblemError({
    status: 409,
    code: "not_retryable",
    detail: `The team has answered this message with the run ${run}; only its latest run is tried again, when it failed or was cancelled. Send another message, or fork the team.`,
    extra: { run_id: run },
  });
}

function isRetryable({ status }: RunInfo): boolean {
  return status === "failed" || status === "cancelled";
}

/** Whether the user's message started the run, or answered it: then the assistant's message before is the run's question. */
function isAbout({ id, metadata }: RunInfo, { messages, message }: ChatRequest): boolean {
  const started = isJsonObject(metadata.ai_sdk) ? metadata.ai_sdk.message : undefined;
  const asked = messages.at(-2)?.metadata;
  const run = isJsonObject(asked) && isJsonObject(asked.run) ? asked.run : undefined;
  return started === message.id || (run?.id === id && run.status === "waiting");
}
