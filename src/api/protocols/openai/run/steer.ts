import type { RunInfo } from "../../../../contract/run.ts";
import { ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { TeamConversation } from "../../shared/conversation.ts";
import { answerOptions } from "../encoder/answer-options.ts";
import type { InputEntry } from "../request/entry.ts";
import { refusedAt } from "../request/parse.ts";
import { settingsOf } from "../request/response-settings.ts";
import type { Wanted } from "./find-conversation.ts";
import { type OpenAIRequest, type ReopenableStream, teamOf } from "./services.ts";
import { keepTeam } from "./temporary-team.ts";

/**
 * Sends the messages of a request into an active run, which its agents read at their next step. The answer is what follows in the run.
 *
 * @returns undefined for a run that has ended, unless the request went into it before
 * @throws ProblemError
 */
export async function steer(
  request: OpenAIRequest,
  wanted: Wanted,
  run: RunInfo,
  entries: readonly InputEntry[],
): Promise<ReopenableStream | undefined> {
  const hasEnded = run.ended_at !== null;
  if (hasEnded && request.idempotency === undefined) return undefined;
  if (!hasEnded) refuseOptions(wanted);
  if (!hasEnded && wanted.user !== undefined && wanted.user !== run.user) {
    const detail = "The team has an active run of another user.";
    throw new ProblemError({ status: 409, code: "team_busy", detail });
  }
  const team = teamOf(request, run.team_id);
  const conversation = new TeamConversation(team, request.services, request.principal);
  const content = textOf(entries);
  if (content === undefined && hasEnded) return undefined;
  if (content === undefined) {
    throw refusedAt(wanted.field, "must be texts of the user alone while a run is active");
  }
  const sent = await conversation.steer(run, content, request.idempotency);
  if (!sent.ok && sent.problem.code === "run_ended") return undefined;
  const { cursor } = unwrap(sent);
  const about = settingsOf(run);
  await keepTeam(request, { id: run.team_id, kept: wanted.kept }, about);
  const options = answerOptions(
    {
      ...about,
      model: wanted.model,
      show: wanted.troupe.show,
      previous: wanted.previous ?? about.previous,
    },
    { team: run.team_id, after: cursor },
    wanted.options,
  );
  const stream = { after: cursor, format: { name: wanted.format, options } };
  const open = async () => unwrap(await conversation.follow(run.id, stream));
  return { opened: await open(), reopen: open };
}

function refuseOptions({ tools, form, metadata, instructions, troupe }: Wanted): void {
  const given: readonly (readonly [path: string, isGiven: boolean])[] = [
    ["tools", tools.length > 0],
    ["text", Object.keys(form).length > 0],
    ["metadata", Object.keys(metadata).length > 0],
    ["instructions", instructions !== undefined],
    ["troupe.timeout_seconds", troupe.timeout_seconds !== undefined],
    ["troupe.max_total_tokens", troupe.max_total_tokens !== undefined],
  ];
  const errors = given.flatMap(([path, isGiven]) =>
    isGiven
      ? [{ path, message: "belongs to a new run, and the message goes into the active one" }]
      : [],
  );
  if (errors.length === 0) return;
  const names = errors.map(({ path }) => path).join(", ");
  const detail = `The team has an active run, which takes the input as a message. Leave out what belongs to a new run: ${names}.`;
  throw new ProblemError({ status: 422, code: "belongs_to_a_new_run", detail, errors });
}

function textOf(entries: readonly InputEntry[]): string | undefined {
  const texts = entries.flatMap((entry) =>
    entry.type === "message" && !entry.answer && typeof entry.content === "string"
      ? [entry.content]
      : [undefined],
  );
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join("\n\n");
}
