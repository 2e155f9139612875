import { tenantOf } from "../../http/endpoint/services.ts";
import type { JsonObject } from "../../../core/json.ts";
import { beginningOf } from "../../../core/cut.ts";
import * as z from "zod";
import type { ResponseInputMessageItem } from "openai/resources/responses/responses";
import type {
  OpenedStream,
  StreamInput,
  TeamGateway,
} from "../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../contract/run.ts";
import type { ChatMessage } from "../../../core/messages/message.ts";
import { toText } from "../../../core/messages/views.ts";
import { withFiles } from "../../http/input/files.ts";
import { fileDataUri, isFile } from "../../../core/models/attached-files.ts";
import { imageDataUri } from "../../../core/models/images.ts";
import type { UserPart } from "../../../core/models/llm-messages.ts";
import { estimateTokens } from "../../../core/models/tokens/estimate.ts";
import { json } from "../../http/endpoint/endpoint.ts";
import { readJson } from "../../http/input/body.ts";
import { ProblemError, unwrap } from "../../http/endpoint/problem.ts";
import { streamAnswer } from "../../http/endpoint/sse.ts";
import { settingsOf, isTemporary } from "./request/response-settings.ts";
import { type AnswerOptions, answerOptions, RESPONSE_FORMAT } from "./encoder/answer-options.ts";
import { type AnswerPlace, parseResponseId } from "./request/ids.ts";
import { commonShape, parseRequest } from "./request/parse.ts";
import { compactionOf, withoutCompaction } from "./request/response-items.ts";
import { parseResponseRequest, responseSchema } from "./request/response-request.ts";
import { taskOf } from "./request/entry.ts";
import { taskMessages } from "../shared/run-messages.ts";
import { findModel } from "./run/models.ts";
import { type OpenAICall, type OpenAIRequest, teamOf } from "./run/services.ts";
import { withNamedFiles } from "./run/named-files.ts";
import { completeResponse } from "./run/complete-response.ts";
import { type ItemPage, list, noItem } from "./conversation-items.ts";

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
export async function listInputItems(
  call: OpenAICall,
  id: string,
  { limit, order, after }: ItemPage,
): Promise<Response> {
  const { run } = await findResponse(call, id);
  const inputItems = taskMessages(run).map(inputItem);
  const all = order === "asc" ? inputItems : inputItems.toReversed();
  const had = after === undefined ? -1 : all.findIndex((item) => item.id === after);
  if (after !== undefined && had === -1) throw noItem("response", after);
  const rest = all.slice(had + 1);
  return json(list(rest.slice(0, limit), rest.length > limit));
}

/**
 * `POST /responses/input_tokens`: the tokens of what the request itself has, from the length of its texts and the size of its images.
 *
 * @throws ProblemError
 */
export async function countInputTokens(call: OpenAICall): Promise<Response> {
  const { value } = await readJson(call.raw, call.services.limits);
  const { model, entries, tools, instructions } = parseResponseRequest(
    await withNamedFiles(call, value),
  );
  await findModel(call, model);
  const texts = [instructions ?? "", ...(tools.length > 0 ? [JSON.stringify(tools)] : [])];
  const taskContents = await withFiles(taskOf(entries), "task", undefined, call.services);
  const said = (taskContents as { content: string | UserPart[] }[]).map(({ content }) => content);
  const input_tokens = [...texts, ...said]
    .map((content) => estimateTokens({ type: "UserMessage", source: "user", content }))
    .reduce((sum, tokens) => sum + tokens, 0);
  return json({ object: "response.input_tokens", input_tokens });
}

const compactSchema = z.object({
  model: commonShape.model,
  input: responseSchema.shape.input,
  previous_response_id: z.string().nullish(),
});

/**
 * `POST /responses/compact`: an item that stands for the conversation. No model is called: a team keeps its conversation, and
 * shortens by itself what its models get.
 *
 * @throws ProblemError
 */
export async function compactResponse(call: OpenAICall): Promise<Response> {
  const { value } = await readJson(call.raw, call.services.limits);
  const { model, input = [], previous_response_id } = parseRequest(compactSchema, value);
  await findModel(call, model);
  if (previous_response_id != null) await findResponse(call, previous_response_id);
  const { items, after = previous_response_id } = withoutCompaction(
    typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input,
  );
  const id = crypto.randomUUID();
  return json({
    id: `resp_${id}`,
    object: "response.compaction",
    created_at: Math.floor(Date.now() / 1000),
    output: [
      {
        id: `cmp_${id}`,
        type: "compaction",
        encrypted_content: compactionOf({ items, ...(after != null && { after }) }),
      },
    ],
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    },
  });
}

interface Found {
  place: AnswerPlace;
  team: TeamGateway;
  run: RunInfo;
}

/** @throws ProblemError 404 */
async function findResponse(request: OpenAIRequest, id: string): Promise<Found> {
  const address = parseResponseId(id);
  if (address !== undefined) {
    const team = teamOf(request, address.team);
    const run = await team.run(address.run);
    if (run.ok) return { place: address, team, run: run.value };
    if (run.problem.status !== 404) unwrap(run);
  }
  throw new ProblemError({
    status: 404,
    code: "response_not_found",
    detail: `There is no response ${JSON.stringify(beginningOf(id, 200))}.`,
  });
}

/** The response as it is now. */
async function present({ raw }: OpenAICall, found: Found): Promise<Response> {
  const input = streamOf(found, { form: "whole", now: true });
  const open = async (): Promise<OpenedStream> => unwrap(await found.team.stream(input));
  return completeResponse(await open(), open, raw.signal);
}

function streamOf({ place, run }: Found, options: Partial<AnswerOptions>): StreamInput {
  const { team, after } = place;
  return {
    run: run.id,
    after,
    format: {
      name: RESPONSE_FORMAT,
      options: answerOptions(settingsOf(run), { team, after }, options),
    },
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
      parts.length === 0 ? [{ type: "input_text", text: toText(message) }] : parts.map(inputPart),
  };
}

function inputPart(part: UserPart): ResponseInputMessageItem["content"][number] {
  if (typeof part === "string") return { type: "input_text", text: part };
  return isFile(part)
    ? { type: "input_file", filename: part.name, file_data: fileDataUri(part) }
    : { type: "input_image", image_url: imageDataUri(part), detail: "auto" };
}

/**
 * `GET /responses` with `Upgrade: websocket`: a socket that the tenant's object holds, over which responses are created one after the other.
 *
 * @throws ProblemError 426 without the upgrade
 */
export async function connectResponses(call: OpenAICall): Promise<Response> {
  const { services, principal, raw } = call;
  if (raw.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    const detail = "Send Upgrade: websocket, or POST a request for a response.";
    throw new ProblemError(
      { status: 426, code: "upgrade_required", detail },
      { upgrade: "websocket" },
    );
  }
  const { origin } = new URL(raw.url);
  const tenant = tenantOf(services, principal.tenant);
  return unwrap(await tenant.responseSocket(principal as unknown as JsonObject, origin));
}
