import type { JsonObject } from "../../../core/json.ts";
import type { AboutAnswer } from "../about.ts";
import type { AnswerPlace } from "../ids.ts";

/** The options of the formats `openai-chat` and `openai-response`. */
export interface AnswerOptions extends AboutAnswer {
  team: string;
  after: AnswerPlace["after"];
  /** `stream`: events. `whole`: one event at the end, with the status and the body of the response. */
  form: "stream" | "whole";
  /** End with what there is now. */
  now: boolean;
  /** Questions that are being answered. */
  answering: string[];
  /** Of chat completions: whether the stream ends with the usage. */
  usage: boolean;
  /** Of responses: the number of the last event that the client has. */
  startingAfter: number;
  background: boolean;
  /** Names of the request's parameters that have no effect. */
  ignored: string[];
  /** Of a response that is just made: what its request has, which the response repeats. */
  given: JsonObject;
}

export function answerOptions(
  about: AboutAnswer,
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
    startingAfter: -1,
    background: false,
    ignored: [],
    given: {},
    ...more,
  };
}

/** Reads what {@link answerOptions} made. Of a whole answer nothing is shown before the end. */
export function readOptions(options: JsonObject): AnswerOptions {
  const read = options as unknown as AnswerOptions;
  return read.form === "whole" ? { ...read, live: null } : read;
}
