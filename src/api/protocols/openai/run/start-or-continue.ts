import type { StartRunInput, TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { ok, type Result } from "../../../../contract/result.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { toText } from "../../../../core/messages/views.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import { readTask, type Recipient, requireSize } from "../../../http/input/task.ts";
import { checkMetadata } from "../../../http/input/body.ts";
import { invalid, ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { TeamConversation, type RequestAnswer } from "../../shared/conversation.ts";
import { answerOptions } from "../encoder/answer-options.ts";
import { type InputEntry, openAnswer, sinceAnswer, taskOf } from "../request/entry.ts";
import { refusedAt } from "../request/parse.ts";
import { type ResponseSettings, settingsOf, runMetadata } from "../request/response-settings.ts";
import { answersTo, requireCalls, stillWaiting } from "./answers.ts";
import {
  componentOf,
  findConversation,
  type FoundConversation,
  recipientOf,
  teamFor,
  type Wanted,
} from "./find-conversation.ts";
import { findModel, modelNotFound, teamOfModel } from "./models.ts";
import { type OpenAIRequest, type ReopenableStream, teamOf } from "./services.ts";
import { steer } from "./steer.ts";
import { keepTeam } from "./temporary-team.ts";

/** A cursor behind all messages. */
const LAST = Number.MAX_SAFE_INTEGER;

/** Does what a request wants: answers a run that waits, or starts one. @throws ProblemError */
export async function startOrContinue(
  request: OpenAIRequest,
  wanted: Wanted,
): Promise<ReopenableStream> {
  const { limits } = request.services;
  checkMetadata(wanted.metadata, limits);
  requireSize("tools", wanted.tools, limits);
  return (await startAtOnce(request, wanted)) ?? continueOrStart(request, wanted);
}

/**
 * Starts the run of a request that has nothing but messages for a team, which takes one call of the team. Undefined for other
 * requests, and while the team is busy: it may wait for the messages.
 */
async function startAtOnce(
  request: OpenAIRequest,
  wanted: Wanted,
): Promise<ReopenableStream | undefined> {
  const { model, previous, conversation, instructions, troupe } = wanted;
  const team = teamOfModel(model);
  if (team === undefined || previous !== undefined || conversation !== undefined) return undefined;
  // An earlier request with its key may have gone into a run.
  if (troupe.on_conflict === "steer") return undefined;
  const entries = sinceAnswer(wanted.entries);
  const isTask = entries.length > 0 && entries.every(({ type }) => type === "message");
  const answers = Object.keys(troupe.answers).length > 0;
  if (!isTask || answers || instructions !== undefined) return undefined;
  const to = {
    team: teamOf(request, team),
    component: async () => componentOf(await findModel(request, model)),
  };
  const task = await readMessages(request, wanted, taskOf(entries), to);
  const started = await start(request, wanted, { team, task });
  if (started.ok) return started.value;
  const { code } = started.problem;
  if (code === "team_not_found") throw modelNotFound(model);
  return code === "team_busy" ? undefined : unwrap(started);
}

async function continueOrStart(request: OpenAIRequest, wanted: Wanted): Promise<ReopenableStream> {
  const conversation = await findConversation(request, wanted);
  const { run, entries } = conversation;
  if (run !== undefined) {
    const answers = answersTo(run, entries, wanted.troupe, wanted.field);
    if (wanted.previous !== undefined) requireCalls(run, entries, wanted);
    if (answers.length > 0) return continueRun(request, wanted, run, answers);
    const { on_conflict } = wanted.troupe;
    const steered =
      on_conflict === "steer" && run.status !== "waiting"
        ? await steer(request, wanted, run, entries)
        : undefined;
    if (steered !== undefined) return steered;
    const replaces = on_conflict === "queue" || on_conflict === "interrupt";
    if (run.status === "waiting" && !replaces) throw stillWaiting(run);
    if (wanted.previous !== undefined && run.ended_at === null && !replaces) {
      throw new ProblemError({
        status: 409,
        code: "response_in_progress",
        detail: `The response ${wanted.previous} is not completed yet.`,
      });
    }
  }
  const { instructions } = wanted;
  const hash = instructions === undefined ? null : (await sha256Hex(instructions)).slice(0, 16);
  const repeated = run !== undefined && hash === settingsOf(run).instructions;
  const system: InputEntry[] =
    instructions === undefined || repeated
      ? []
      : [{ type: "message", source: "system", content: instructions, answer: false }];
  const to = recipientOf(request, wanted, conversation);
  const isNew = taskOf(entries).length > 0;
  const said = isNew ? entries : await continued(request, wanted, conversation);
  const messages = taskOf([...system, ...said]);
  const task = messages.length === 0 ? null : await readMessages(request, wanted, messages, to);
  const team = await teamFor(request, wanted, conversation);
  if (run !== undefined) await keepTeam(request, { id: team, kept: wanted.kept }, settingsOf(run));
  return unwrap(await start(request, wanted, { team, task, instructions: hash }));
}

/**
 * The new entries for a team whose answer is to be continued: none, if the answer at the end of the request is the last
 * of the team, else all of the request.
 *
 * @throws ProblemError 422 when the request ends with no answer, and so has nothing new
 */
async function continued(
  request: OpenAIRequest,
  { history, field }: Wanted,
  { run }: FoundConversation,
): Promise<readonly InputEntry[]> {
  const answer = openAnswer(history);
  if (answer === undefined) {
    throw refusedAt(
      field,
      "must end with something new, a message of the user, or with an answer to be continued",
    );
  }
  if (run === undefined) return history;
  const page = await teamOf(request, run.team_id).messages({ before: LAST, limit: 1 });
  const last = unwrap(page).messages.at(-1);
  const isLast = last !== undefined && toText(last).trim() === answer.trim();
  return isLast ? [] : history;
}

interface Start {
  team: string;
  task: StartRunInput["task"];
  /** A hash of the instructions. */
  instructions?: string | null;
}

async function start(
  request: OpenAIRequest,
  wanted: Wanted,
  { team: id, task, instructions = null }: Start,
): Promise<Result<ReopenableStream>> {
  const { troupe, tools, form } = wanted;
  const about: ResponseSettings = {
    model: wanted.model,
    // The team knows.
    live: null,
    show: troupe.show,
    json: wanted.form.jsonOutput !== undefined,
    tools: tools.map(({ name }) => name),
    previous: wanted.previous ?? null,
    instructions,
    kept: wanted.kept,
  };
  const conversation = new TeamConversation(
    teamOf(request, id),
    request.services,
    request.principal,
  );
  const format = {
    name: wanted.format,
    options: answerOptions(about, { team: id }, wanted.options),
  };
  const started = await conversation.start(
    task,
    {
      // A message goes into the run that is active; here the team is idle.
      on_conflict: troupe.on_conflict === "steer" ? "reject" : troupe.on_conflict,
      user: wanted.user,
      subject: wanted.subject,
      timeout_seconds: troupe.timeout_seconds ?? null,
      max_total_tokens: troupe.max_total_tokens ?? null,
      metadata: runMetadata(wanted.metadata, about),
      ...(tools.length > 0 && { tools }),
      // The team names the agent.
      ...(Object.keys(form).length > 0 && { answer_form: { ...form, agent: "" } }),
      ...(request.idempotency && { idempotency: request.idempotency }),
      ...request.origin,
    },
    format,
  );
  if (!started.ok) return started;
  const { run } = started.value;
  return ok({
    opened: started.value,
    reopen: async () => unwrap(await conversation.follow(run, { after: 0, format })),
  });
}

async function readMessages(
  { services }: OpenAIRequest,
  { field }: Wanted,
  messages: JsonObject[],
  to: Recipient,
): Promise<StartRunInput["task"]> {
  try {
    return await readTask(messages, services, to);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.errors === undefined) throw error;
    // Places in the task that was made of them say nothing to the client.
    const errors = error.problem.errors.map(({ message }) => ({ path: field, message }));
    if (error.problem.code !== "invalid_task")
      throw new ProblemError({ ...error.problem, errors }, error.headers);
    throw invalid("invalid_request", "The request is invalid:", errors);
  }
}

async function continueRun(
  request: OpenAIRequest,
  wanted: Wanted,
  { id: run, status, team_id, metadata }: RunInfo,
  answers: readonly RequestAnswer[],
): Promise<ReopenableStream> {
  if (wanted.form.toolChoice !== undefined) {
    throw refusedAt(
      "tool_choice",
      'must be "auto" beside answers: the run continues as it was started',
    );
  }
  const team = teamOf(request, team_id);
  const conversation = new TeamConversation(team, request.services, request.principal);
  const about = settingsOf({ metadata, team_id });
  await keepTeam(request, { id: team_id, kept: wanted.kept }, about);
  // For a repeated request it is not known where its answer began.
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
  const stream = { after, format };
  return {
    opened: unwrap(await conversation.continue(run, answers, stream)),
    reopen: async () => unwrap(await conversation.follow(run, stream)),
  };
}

/** The cursor of what was said last. */
async function lastCursor(team: TeamGateway): Promise<number> {
  const page = unwrap(await team.messages({ before: LAST, limit: 1 }));
  return page.messages.at(-1)?.seq ?? 0;
}
