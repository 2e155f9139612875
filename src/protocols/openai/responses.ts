import type { ResponseInputMessageItem } from "openai/resources/responses/responses";
import type {
  OpenedStream,
  StreamInput,
  TeamGateway,
} from "../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../contract/run.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import { toText } from "../../core/messages/views.ts";
import { imageDataUri } from "../../core/models/images.ts";
import type { ImageContent } from "../../core/models/llm-messages.ts";
import { estimateTokens } from "../../core/models/tokens/estimate.ts";
import { json } from "../../http/endpoint.ts";
import { readJson } from "../../http/input/body.ts";
import { ProblemError, unwrap } from "../../http/problem.ts";
import { streamAnswer } from "../../http/sse.ts";
import { aboutRun, isTemporary } from "./about.ts";
import { type AnswerOptions, answerOptions } from "./encoder/answer-options.ts";
import { type AnswerPlace, parseResponseId } from "./ids.ts";
import { parseResponseRequest } from "./request/response-request.ts";
import { taskOf } from "./request/entry.ts";
import { begin } from "./run/begin.ts";
import { findModel } from "./run/models.ts";
import { identified, type OpenAICall, type OpenAIRequest, teamOf } from "./run/services.ts";
import { wholeAnswer } from "./run/whole.ts";

const FORMAT = "openai-response";

/** `POST /responses`. @throws ProblemError */
export async function createResponse(call: OpenAICall): Promise<Response> {
  const body = await readJson(call.raw, call.services.limits);
  const parsed = parseResponseRequest(body.value);
  const { model, entries, tools, metadata, troupe, form, instructions } = parsed;
  const streams = parsed.stream === true;
  const background = parsed.background === true;
  const { opened, reopen } = await begin(await identified(call, body), {
    model,
    entries,
    field: "input",
    tools,
    metadata: metadata ?? {},
    troupe,
    form,
    format: FORMAT,
    ...(instructions && { instructions }),
    ...(parsed.previous_response_id && { previous: parsed.previous_response_id }),
    ...(parsed.conversation !== undefined && { conversation: parsed.conversation }),
    options: {
      form: streams ? "stream" : "whole",
      ignored: parsed.ignored,
      given: parsed.given,
      background,
      now: background && !streams,
    },
  });
  return streams ? streamAnswer(opened) : wholeAnswer(opened, reopen, call.raw.signal);
}

/** `GET /responses/{id}`. @throws ProblemError */
export async function getResponse(
  call: OpenAICall,
  id: string,
  { stream, startingAfter }: { stream: boolean; startingAfter: number | undefined },
): Promise<Response> {
  const found = await findResponse(call, id);
  if (!stream) return present(call, found);
  const opened = unwrap(
    await found.team.stream(
      streamOf(found, {
        ...(startingAfter !== undefined && { startingAfter }),
      }),
    ),
  );
  return streamAnswer(opened);
}

/** `POST /responses/{id}/cancel`. One that is over stays as it is. @throws ProblemError */
export async function cancelResponse(call: OpenAICall, id: string): Promise<Response> {
  const found = await findResponse(call, id);
  if (found.run.ended_at === null) {
    const stopped = await found.team.stopRun(found.run.id, "now");
    if (!stopped.ok && stopped.problem.code !== "run_ended") unwrap(stopped);
  }
  return present(call, found);
}

/** `DELETE /responses/{id}`: erases a team that was made for one request. @throws ProblemError 404 or 405 */
export async function deleteResponse(call: OpenAICall, id: string): Promise<Response> {
  const { team } = await findResponse(call, id);
  const { metadata, id: teamId } = unwrap(await team.team());
  if (!isTemporary(metadata)) {
    throw new ProblemError(
      {
        status: 405,
        code: "response_not_deletable",
        detail: `A response is part of its team's log, which stays whole. DELETE /v1/teams/${teamId} erases the team.`,
      },
      { allow: "GET" },
    );
  }
  unwrap(await team.destroy());
  return json({ id, object: "response", deleted: true });
}

/** `GET /responses/{id}/input_items`: what the response's run was given. @throws ProblemError */
export async function listInputItems(call: OpenAICall, id: string): Promise<Response> {
  const { run } = await findResponse(call, id);
  const task = (run.task ?? []) as unknown as ChatMessage[];
  const data = task.map(inputItem).toReversed();
  return json({
    object: "list",
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: false,
  });
}

/**
 * `POST /responses/input_tokens`: the tokens of what the request itself has, from the length of its texts and the size of its images.
 *
 * @throws ProblemError
 */
export async function countInputTokens(call: OpenAICall): Promise<Response> {
  const { value } = await readJson(call.raw, call.services.limits);
  const { model, entries, tools, instructions } = parseResponseRequest(value);
  await findModel(call, model);
  const texts = [instructions ?? "", ...(tools.length > 0 ? [JSON.stringify(tools)] : [])];
  const said = taskOf(entries).map(({ content }) => content as string | (string | ImageContent)[]);
  const input_tokens = [...texts, ...said]
    .map((content) => estimateTokens({ type: "UserMessage", source: "user", content }))
    .reduce((sum, tokens) => sum + tokens, 0);
  return json({ object: "response.input_tokens", input_tokens });
}

interface Found {
  place: AnswerPlace;
  team: TeamGateway;
  run: RunInfo;
}

/** @throws ProblemError 404 */
async function findResponse(request: OpenAIRequest, id: string): Promise<Found> {
  const place = parseResponseId(id);
  if (place !== undefined) {
    const team = teamOf(request, place.team);
    const run = await team.run(place.run);
    if (run.ok) return { place, team, run: run.value };
    if (run.problem.status !== 404) unwrap(run);
  }
  throw new ProblemError({
    status: 404,
    code: "response_not_found",
    detail: `There is no response ${JSON.stringify(id.slice(0, 200))}.`,
  });
}

/** The response as it is now. */
async function present({ raw }: OpenAICall, found: Found): Promise<Response> {
  const input = streamOf(found, { form: "whole", now: true });
  const open = async (): Promise<OpenedStream> => unwrap(await found.team.stream(input));
  return wholeAnswer(await open(), open, raw.signal);
}

function streamOf({ place, run }: Found, options: Partial<AnswerOptions>): StreamInput {
  const { team, after } = place;
  return {
    run: run.id,
    after,
    format: { name: FORMAT, options: answerOptions(aboutRun(run), { team, after }, options) },
  };
}

function inputItem(message: ChatMessage, index: number): ResponseInputMessageItem {
  const { id, content, source } = message;
  const parts = message.type === "MultiModalMessage" && Array.isArray(content) ? content : [];
  return {
    id: `msg_${id || index}`,
    type: "message",
    role: source === "system" ? "system" : "user",
    status: "completed",
    content:
      parts.length === 0
        ? [{ type: "input_text", text: toText(message) }]
        : (parts as (string | { data: string })[]).map((part) =>
            typeof part === "string"
              ? { type: "input_text", text: part }
              : { type: "input_image", image_url: imageDataUri(part), detail: "auto" },
          ),
  };
}
