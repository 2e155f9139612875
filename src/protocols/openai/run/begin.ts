import type { OpenedStream, TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../contract/run.ts";
import { ok, type Result } from "../../../contract/result.ts";
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
import type { WantedForm } from "../request/answer-form.ts";
import { type Entry, sinceAnswer, taskOf } from "../request/entry.ts";
import { refusedAt, type TroupeParameters } from "../request/parse.ts";
import { findModel, modelNotFound, type NamedModel, teamOfModel } from "./models.ts";
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
  form: WantedForm;
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
  return (await startAtOnce(request, wanted)) ?? goOnOrStart(request, wanted);
}

/**
 * Starts the run of a request that has nothing but messages for a team, which takes one call of the team. Undefined for other
 * requests, and while the team is busy: it may wait for the messages.
 */
async function startAtOnce(request: OpenAIRequest, wanted: Wanted): Promise<Begun | undefined> {
  const { model, previous, conversation, instructions, troupe } = wanted;
  const team = teamOfModel(model);
  if (team === undefined || previous !== undefined || conversation !== undefined) return undefined;
  const entries = sinceAnswer(wanted.entries);
  const isTask = entries.length > 0 && entries.every(({ type }) => type === "message");
  const answers = Object.keys(troupe.answers).length > 0;
  if (!isTask || answers || instructions !== undefined) return undefined;
  const task = parseMessages(taskOf(entries), wanted, request.services.limits);
  const started = await start(request, wanted, { team, task });
  if (started.ok) return started.value;
  const { code } = started.problem;
  if (code === "team_not_found") throw modelNotFound(model);
  return code === "team_busy" ? undefined : unwrap(started);
}

async function goOnOrStart(request: OpenAIRequest, wanted: Wanted): Promise<Begun> {
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
  const { instructions, field } = wanted;
  const said = instructions === undefined ? null : (await sha256Hex(instructions)).slice(0, 16);
  const repeated = run !== undefined && said === aboutRun(run).instructions;
  const told: Entry[] =
    instructions === undefined || repeated
      ? []
      : [{ type: "message", source: "system", content: instructions, answer: false }];
  if (taskOf(entries).length === 0) {
    throw refusedAt(field, "must end with something new: a message of the user");
  }
  const task = parseMessages(taskOf([...told, ...entries]), wanted, request.services.limits);
  const team = await teamFor(request, wanted, conversation);
  return unwrap(await start(request, wanted, { team, task, instructions: said }));
}

async function findConversation(request: OpenAIRequest, wanted: Wanted): Promise<Conversation> {
  const { previous, conversation, model } = wanted;
  const named = await findModel(request, model);
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
  // Queued runs are listed first.
  const run =
    active_run === null
      ? unwrap(await gateway.runs({ limit: 1 })).runs[0]
      : unwrap(await gateway.run(active_run));
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

/** What a run is started with. */
interface Start {
  team: string;
  task: ReturnType<typeof parseTask>;
  /** A hash of the instructions. */
  instructions?: string | null;
}

async function start(
  request: OpenAIRequest,
  wanted: Wanted,
  { team: id, task, instructions = null }: Start,
): Promise<Result<Begun>> {
  const { troupe, tools, form } = wanted;
  const about: AboutAnswer = {
    model: wanted.model,
    // The team knows.
    live: null,
    show: troupe.show,
    json: wanted.form.jsonOutput !== undefined,
    tools: tools.map(({ name }) => name),
    previous: wanted.previous ?? null,
    instructions,
  };
  const team = teamOf(request, id);
  const format = {
    name: wanted.format,
    options: answerOptions(about, { team: id }, wanted.options),
  };
  const started = await team.startStream(
    newRun(task, {
      on_conflict: troupe.on_conflict,
      timeout_seconds: troupe.timeout_seconds ?? null,
      max_total_tokens: troupe.max_total_tokens ?? null,
      metadata: runMetadata(wanted.metadata, about),
      ...(tools.length > 0 && { tools }),
      // The team names the agent.
      ...(Object.keys(form).length > 0 && { answer_form: { ...form, agent: "" } }),
      ...(request.idempotency && { idempotency: request.idempotency }),
      ...(request.trace && { trace: request.trace }),
    }),
    format,
  );
  if (!started.ok) return started;
  const { run } = started.value;
  return ok({
    team,
    run,
    opened: started.value,
    reopen: async () => unwrap(await team.stream({ run, after: 0, format })),
  });
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
  { named, run }: Conversation,
): Promise<string> {
  if (previous !== undefined && run !== undefined) return continuedTeam(request, run);
  if (conversation !== undefined) return conversation;
  return named.type === "team" ? named.team.id : makeTeam(request, named.template);
}

/** Lets a run go on with answers. Its stream is opened before they are given, so that it misses nothing. */
async function goOn(
  request: OpenAIRequest,
  wanted: Wanted,
  { id: run, status, team_id, metadata }: RunInfo,
  answers: readonly Given[],
): Promise<Begun> {
  if (wanted.form.toolChoice !== undefined) {
    throw refusedAt("tool_choice", 'must be "auto" beside answers: the run goes on as it began');
  }
  const team = teamOf(request, team_id);
  const about = aboutRun({ metadata, team_id });
  // Of a request that is repeated it is not known where its answer began.
  const after = status === "waiting" ? await lastCursor(team) : 0;
  const options = answerOptions(
    {
      ...about,
      model: wanted.model,
      show: wanted.troupe.show,
      json: wanted.form.jsonOutput !== undefined,
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
