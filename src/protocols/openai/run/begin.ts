import type { OpenedStream, TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../contract/run.ts";
import type { TeamInfo } from "../../../contract/team.ts";
import type { JsonObject } from "../../../core/json.ts";
import { sha256Hex } from "../../../core/sha256.ts";
import type { ToolSchema } from "../../../core/models/chat-completion-client.ts";
import { parseAnswer, parseTask, requireSize } from "../../../http/input/task.ts";
import { checkMetadata } from "../../../http/input/team-input.ts";
import { invalid, ProblemError, unwrap } from "../../../http/problem.ts";
import { newRun } from "../../new-run.ts";
import { type AboutAnswer, aboutRun, runMetadata } from "../about.ts";
import { type AnswerOptions, answerOptions } from "../encoder/answer-options.ts";
import { parseResponseId } from "../ids.ts";
import { type Entry, sinceAnswer, taskOf } from "../request/entry.ts";
import { refusedAt, type TroupeParameters } from "../request/parse.ts";
import { liveAgent } from "./live-agent.ts";
import { findModel, type NamedModel, teamOfModel } from "./models.ts";
import { type OpenAIRequest, teamOf } from "./services.ts";
import { continuedTeam, makeTeam } from "./temporary-team.ts";
import { answersTo, type Given, questionsOf, stillWaiting } from "./waiting.ts";

/** What a request wants, of either protocol. */
export interface Wanted {
  model: string;
  entries: readonly Entry[];
  /** The request's field with the entries. */
  field: "messages" | "input";
  tools: readonly ToolSchema[];
  metadata: JsonObject;
  troupe: TroupeParameters;
  json: boolean;
  instructions?: string;
  /** A response after which the conversation goes on. */
  previous?: string;
  /** The team in which it goes on. */
  conversation?: string;
  format: "openai-chat" | "openai-response";
  options: Partial<AnswerOptions>;
}

/** A run that was started, or that goes on with answers. */
export interface Begun {
  team: TeamGateway;
  run: string;
  opened: OpenedStream;
  /** Opens its stream once more. */
  reopen: () => Promise<OpenedStream>;
}

/** What is known of the conversation before it goes on. */
interface Conversation {
  named: NamedModel;
  /** The run that the request follows, or whose questions it answers. */
  run: RunInfo | undefined;
  /** What is new in the request. */
  entries: readonly Entry[];
}

/** Does what a request wants: answers a run that waits, or starts one. @throws ProblemError */
export async function begin(request: OpenAIRequest, wanted: Wanted): Promise<Begun> {
  const { limits } = request.services;
  checkMetadata(wanted.metadata, limits);
  requireSize("tools", wanted.tools, limits);
  const conversation = await findConversation(request, wanted);
  const { run, entries } = conversation;
  if (run !== undefined) {
    const answers = answersTo(run, entries, wanted.troupe, wanted.field);
    if (answers.length > 0) return goOn(request, wanted, run, answers);
    const replaces = wanted.troupe.on_conflict !== "reject";
    if (run.status === "waiting" && !replaces) throw stillWaiting(run);
    if (wanted.previous !== undefined && run.ended_at === null && !replaces) {
      throw new ProblemError({
        status: 409,
        code: "response_in_progress",
        detail: `The response ${wanted.previous} is not completed yet.`,
      });
    }
  }
  return start(request, wanted, conversation);
}

async function findConversation(request: OpenAIRequest, wanted: Wanted): Promise<Conversation> {
  const { previous, conversation, model } = wanted;
  const latest = (id: string): ReturnType<TeamGateway["runs"]> =>
    teamOf(request, id).runs({ limit: 1 });
  const modelTeam = teamOfModel(model);
  // Both are asked for at once: each call of a team delays the first token.
  const [named, runs] = await Promise.all([
    findModel(request, model),
    modelTeam !== undefined && previous === undefined ? latest(modelTeam) : undefined,
  ]);
  if (previous !== undefined) {
    return { named, run: await previousRun(request, previous), entries: wanted.entries };
  }
  const team = conversation ?? (named.type === "team" ? named.team.id : undefined);
  if (conversation !== undefined && named.type === "team" && named.team.id !== conversation) {
    throw refusedAt("conversation", `must be the team of the model: ${named.team.id}`);
  }
  const entries = conversation === undefined ? sinceAnswer(wanted.entries) : wanted.entries;
  const [question] = questionsOf(entries);
  if (question !== undefined && (team === undefined || team === question.team)) {
    const run = unwrap(await teamOf(request, question.team).run(question.run));
    return { named, run, entries };
  }
  // A new team is told all of the conversation.
  if (team === undefined) return { named, run: undefined, entries: wanted.entries };
  const gateway = teamOf(request, team);
  const { active_run } = named.type === "team" ? named.team : unwrap(await gateway.team());
  const [last] = unwrap(team === modelTeam && runs ? runs : await latest(team)).runs;
  // Queued runs are listed first.
  const isLast = active_run === null || active_run === last?.id;
  const run = isLast ? last : unwrap(await gateway.run(active_run));
  return { named, run, entries };
}

async function previousRun(request: OpenAIRequest, id: string): Promise<RunInfo> {
  const place = parseResponseId(id);
  const found = place && (await teamOf(request, place.team).run(place.run));
  if (found?.ok) return found.value;
  if (found && found.problem.status !== 404) unwrap(found);
  throw new ProblemError({
    status: 404,
    code: "previous_response_not_found",
    detail: `There is no response ${JSON.stringify(id.slice(0, 200))}.`,
    errors: [{ path: "previous_response_id", message: "must be the id of a response" }],
  });
}

async function start(
  request: OpenAIRequest,
  wanted: Wanted,
  { named, run: last, entries }: Conversation,
): Promise<Begun> {
  const { limits } = request.services;
  const { troupe, tools, instructions } = wanted;
  const said = instructions === undefined ? null : (await sha256Hex(instructions)).slice(0, 16);
  const repeated = last !== undefined && said === aboutRun(last).instructions;
  const told: Entry[] =
    instructions === undefined || repeated
      ? []
      : [{ type: "message", source: "system", content: instructions, answer: false }];
  const messages = taskOf([...told, ...entries]);
  if (taskOf(entries).length === 0) {
    throw refusedAt(wanted.field, "must end with something new: a message of the user");
  }
  const task = parseMessages(messages, wanted, limits);
  const team = await teamFor(request, wanted, named, last);
  const about: AboutAnswer = {
    model: wanted.model,
    live: liveAgent(team.component),
    show: troupe.show,
    json: wanted.json,
    tools: tools.map(({ name }) => name),
    previous: wanted.previous ?? null,
    instructions: said,
  };
  const gateway = teamOf(request, team.id);
  const format = {
    name: wanted.format,
    options: answerOptions(about, { team: team.id }, wanted.options),
  };
  const started = unwrap(
    await gateway.startStream(
      newRun(task, {
        on_conflict: troupe.on_conflict,
        timeout_seconds: troupe.timeout_seconds ?? null,
        max_total_tokens: troupe.max_total_tokens ?? null,
        metadata: runMetadata(wanted.metadata, about),
        ...(tools.length > 0 && { tools }),
        ...(request.idempotency && { idempotency: request.idempotency }),
        ...(request.trace && { trace: request.trace }),
      }),
      format,
    ),
  );
  const { run } = started;
  return {
    team: gateway,
    run,
    opened: started,
    reopen: async () => unwrap(await gateway.stream({ run, after: 0, format })),
  };
}

function parseMessages(
  messages: JsonObject[],
  { field }: Wanted,
  limits: OpenAIRequest["services"]["limits"],
): ReturnType<typeof parseTask> {
  try {
    return parseTask(messages, limits);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    // Places in the task that was made of them say nothing to the client.
    const places = error.problem.errors?.map(({ message }) => ({ path: field, message })) ?? [];
    throw invalid("invalid_request", "The request is invalid:", places);
  }
}

async function teamFor(
  request: OpenAIRequest,
  { previous, conversation }: Wanted,
  named: NamedModel,
  last: RunInfo | undefined,
): Promise<TeamInfo> {
  if (previous !== undefined && last !== undefined) return continuedTeam(request, last);
  if (conversation !== undefined) return unwrap(await teamOf(request, conversation).team());
  return named.type === "team" ? named.team : makeTeam(request, named.template);
}

/** Lets a run go on with answers. Its stream is opened before they are given, so that it misses nothing. */
async function goOn(
  request: OpenAIRequest,
  wanted: Wanted,
  { id: run, status, team_id, metadata }: RunInfo,
  answers: readonly Given[],
): Promise<Begun> {
  const team = teamOf(request, team_id);
  const about = aboutRun({ metadata, team_id });
  // Of a request that is repeated it is not known where its answer began.
  const after = status === "waiting" ? await lastCursor(team) : 0;
  const options = answerOptions(
    {
      ...about,
      model: wanted.model,
      show: wanted.troupe.show,
      json: wanted.json,
      previous: wanted.previous ?? about.previous,
    },
    { team: team_id, after },
    { ...wanted.options, answering: answers.map(({ request: question }) => question) },
  );
  const format = { name: wanted.format, options };
  const reopen = async (): Promise<OpenedStream> =>
    unwrap(await team.stream({ run, after, format }));
  const opened = await reopen();
  try {
    for (const { request: question, answer } of answers) {
      unwrap(await team.answer(run, question, parseAnswer(answer, request.services.limits)));
    }
  } catch (error) {
    if ("body" in opened) await opened.body.cancel();
    throw error;
  }
  return { team, run, opened, reopen };
}

/** The cursor of what was said last. */
async function lastCursor(team: TeamGateway): Promise<number> {
  const page = unwrap(await team.messages({ before: Number.MAX_SAFE_INTEGER, limit: 1 }));
  return page.messages.at(-1)?.seq ?? 0;
}
