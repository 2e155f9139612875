import * as z from "zod";
import type { StreamFormat } from "../../../../contract/gateways/team-gateway.ts";

/** The headers of a stream. */
export const HEADERS = { "x-vercel-ai-ui-message-stream": "v1" };

const idsSchema = z.array(z.string()).exactOptional();

/** The part of a run that a stream writes. With `part` alone it is the first message of the run. */
export const streamOptionsSchema = z.object({
  /**
   * `new`: the whole message. `rest`: what follows in the message that the client has. `replay`: the last message of the run
   * from its beginning, which is after the last answer of a user.
   */
  part: z.enum(["new", "rest", "replay"]),
  /** True if the stream ends with the present state. */
  now: z.boolean().exactOptional(),
  /** The id of a new message; default: the run's. */
  message: z.string().exactOptional(),
  /** Ids of the questions that are being answered. */
  answering: idsSchema,
  /** Ids of the other questions that were open then: the client has them already. */
  asked: idsSchema,
  /** With `rest`: the tool calls in the client's message that have no result. */
  calls: idsSchema,
  /** Those of `calls` whose output the client has made itself. */
  own: idsSchema,
  /** Those of `calls` that the client's user did not approve. */
  denied: idsSchema,
  /** Questions shown as tool calls that the client's user has decided about, with the decision. */
  decided: z.record(z.string(), z.boolean()).exactOptional(),
});
export type ChatStreamOptions = z.output<typeof streamOptionsSchema>;

export function chatFormat(options: ChatStreamOptions): StreamFormat {
  return { name: "ai-sdk", options: { ...options } };
}
