import { readJson } from "../../http/input/body.ts";
import { streamAnswer } from "../../http/sse.ts";
import { parseChatRequest } from "./request/chat-request.ts";
import { begin } from "./run/begin.ts";
import { identified, type OpenAICall } from "./run/services.ts";
import { wholeAnswer } from "./run/whole.ts";

/** `POST /chat/completions`. @throws ProblemError */
export async function createCompletion(call: OpenAICall): Promise<Response> {
  const body = await readJson(call.raw, call.services.limits);
  const parsed = parseChatRequest(body.value);
  const { model, entries, tools, metadata, troupe, form, stream_options } = parsed;
  const streams = parsed.stream === true;
  const { opened, reopen } = await begin(await identified(call, body), {
    model,
    entries,
    field: "messages",
    tools,
    metadata: metadata ?? {},
    troupe,
    form,
    format: "openai-chat",
    options: {
      form: streams ? "stream" : "whole",
      ignored: parsed.ignored,
      usage: stream_options?.include_usage === true,
    },
  });
  return streams ? streamAnswer(opened) : wholeAnswer(opened, reopen, call.raw.signal);
}
