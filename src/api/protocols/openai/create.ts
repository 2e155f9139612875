import { type Asker, askerOf } from "../../http/access/access-control.ts";
import { readJson } from "../../http/input/body.ts";
import { streamAnswer } from "../../http/endpoint/sse.ts";
import { openConversation } from "./conversations.ts";
import { RESPONSE_FORMAT } from "./encoder/answer-options.ts";
import { type ChatRequest, parseChatRequest } from "./request/chat-request.ts";
import { parseResponseRequest } from "./request/response-request.ts";
import { placeInChat } from "./run/chat-team.ts";
import { startOrContinue } from "./run/start-or-continue.ts";
import { identified, type OpenAICall } from "./run/services.ts";
import { withNamedFiles } from "./run/named-files.ts";
import { completeResponse } from "./run/complete-response.ts";

/** OpenAI's `user`, or the parameter that is to replace it. @throws ProblemError 403 */
function askerNamedBy(
  { principal }: OpenAICall,
  { user, safety_identifier }: Pick<ChatRequest, "user" | "safety_identifier">,
): Asker {
  return askerOf(principal, user || safety_identifier || undefined);
}

/** `POST /chat/completions`. @throws ProblemError */
export async function createCompletion(call: OpenAICall): Promise<Response> {
  const { value } = await readJson(call.raw, call.services.limits);
  const parsed = parseChatRequest(await withNamedFiles(call, value));
  const { model, tools, metadata, troupe, form, stream_options } = parsed;
  const streams = parsed.stream === true;
  const asker = askerNamedBy(call, parsed);
  const request = await identified(call, parsed.identity, asker.user);
  const conversing = await placeInChat(
    request,
    call.raw,
    { model, user: asker.user },
    parsed.entries,
  );
  const { opened, reopen } = await startOrContinue(request, {
    model,
    entries: conversing.entries,
    history: parsed.entries,
    field: parsed.field,
    tools,
    metadata: metadata ?? {},
    ...asker,
    troupe,
    form,
    kept: true,
    ...conversing.team,
    format: "openai-chat",
    options: {
      form: streams ? "stream" : "whole",
      ignored: parsed.ignored,
      usage: stream_options?.include_usage === true,
      stop: parsed.stop,
    },
  });
  await conversing.note();
  return streams ? streamAnswer(opened) : completeResponse(opened, reopen, call.raw.signal);
}

/** `POST /responses`. @throws ProblemError */
export async function createResponse(call: OpenAICall): Promise<Response> {
  const { value } = await readJson(call.raw, call.services.limits);
  const parsed = parseResponseRequest(await withNamedFiles(call, value));
  const { model, tools, metadata, troupe, form, kept, instructions, conversation } = parsed;
  const { previous_response_id: previous } = parsed;
  const streams = parsed.stream === true;
  const background = parsed.background === true;
  const asker = askerNamedBy(call, parsed);
  const request = await identified(call, parsed.identity, asker.user);
  const opening =
    conversation === undefined ? undefined : await openConversation(request, conversation, model);
  const namesConversation = conversation !== undefined || previous != null;
  const conversing = namesConversation
    ? undefined
    : await placeInChat(request, call.raw, { model, user: asker.user }, parsed.entries);
  const { opened, reopen } = await startOrContinue(request, {
    model,
    entries: [...(opening?.entries ?? []), ...(conversing?.entries ?? parsed.entries)],
    history: parsed.entries,
    field: "input",
    tools,
    metadata: metadata ?? {},
    ...asker,
    troupe,
    form,
    kept,
    format: RESPONSE_FORMAT,
    ...(instructions && { instructions }),
    ...(previous && { previous }),
    ...(conversation !== undefined && { conversation }),
    ...conversing?.team,
    options: {
      form: streams ? "stream" : "whole",
      ignored: parsed.ignored,
      given: parsed.given,
      background,
      now: background && !streams,
    },
  });
  if (opening !== undefined && opening.entries.length > 0) await opening.given();
  await conversing?.note();
  return streams ? streamAnswer(opened) : completeResponse(opened, reopen, call.raw.signal);
}
