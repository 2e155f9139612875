import * as z from "zod";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { type ResponseSettings, settingsSchema } from "../request/response-settings.ts";

/** The name of the format of responses. */
export const RESPONSE_FORMAT = "openai-response";

/** The options of the formats `openai-chat` and `openai-response`. */
const optionsSchema = settingsSchema.extend({
  team: z.string(),
  /** The cursor after which the answer begins. */
  after: z.number(),
  /** `stream`: events. `whole`: one event at the end, with the status and the body of the response. */
  form: z.enum(["stream", "whole"]),
  /** End with what there is now. */
  now: z.boolean(),
  /** Questions that are being answered. */
  answering: z.array(z.string()),
  /** For chat completions: whether the stream ends with the usage. */
  usage: z.boolean(),
  /** For chat completions: texts before which the answer ends. */
  stop: z.array(z.string()),
  /** For responses: the number of the last event that the client has. */
  startingAfter: z.number(),
  background: z.boolean(),
  /** Names of the request's parameters that have no effect. */
  ignored: z.array(z.string()),
  /** For a new response: the fields of its request, which the response repeats. */
  given: z.custom<JsonObject>(isJsonObject),
});
export type AnswerOptions = z.output<typeof optionsSchema>;

export function answerOptions(
  about: ResponseSettings,
  place: { team: string; after?: number },
  more: Partial<AnswerOptions>,
): JsonObject {
  return {
    ...about,
    after: 0,
    ...place,
    form: "stream",
    now: false,
    answering: [],
    usage: false,
    stop: [],
    startingAfter: -1,
    background: false,
    ignored: [],
    given: {},
    ...more,
  };
}

/** Reads what {@link answerOptions} made. A whole answer has no text before its end. */
export function readOptions(options: JsonObject): AnswerOptions {
  const read = optionsSchema.parse(options);
  return read.form === "whole" ? { ...read, live: null } : read;
}
