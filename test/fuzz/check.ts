import * as z from "zod";
import { problemSchema } from "#contract/problem.ts";
import type { Operation } from "./operations.ts";

const sentence = z.string().min(1);
/** An error in the shape of another protocol: of JSON-RPC, of OpenAI, or a problem under another media type. */
const foreignErrorSchema = z.union([
  z.object({
    jsonrpc: z.literal("2.0"),
    error: z.object({ code: z.number().int(), message: sentence }),
  }),
  z.object({ error: z.object({ message: sentence, type: sentence, code: sentence }) }),
  // google.rpc.Status, as A2A over HTTP+JSON has it.
  z.object({
    error: z.object({ code: z.number().int(), status: sentence, message: sentence }),
  }),
  problemSchema,
]);

/** What came back. */
export interface Answer {
  status: number;
  contentType: string | undefined;
  /** Empty for a stream. */
  body: string;
}

const PROBLEM = "application/problem+json";

/** Every path may turn out to be another one: a method that it lacks, or nothing. */
const OF_ANY_PATH: ReadonlySet<number> = new Set([404, 405]);

/** Whether the error of a protocol, or of a page for a human, says what is wrong. */
function explains(media: string, body: string): boolean {
  if (media === "text/plain") return body !== "";
  if (media === "text/html") return /<p>[A-Z][^<]+\.<\/p>/.test(body);
  return foreignErrorSchema.safeParse(parse(body)).success;
}

/** What is wrong with an answer, whatever the request was; undefined when nothing is. */
export function faultOf(
  { statuses, foreign }: Pick<Operation, "statuses" | "foreign">,
  answer: Answer,
): string | undefined {
  const { status, contentType, body } = answer;
  // The runtime refuses a path with DEL before the Worker sees the request.
  if (status === 400 && body === "invalid URI") return undefined;
  if (status >= 500 && status !== 502 && status !== 503) return `status ${status}`;
  if (!statuses.has(status) && !OF_ANY_PATH.has(status)) {
    return `status ${status}, which the OpenAPI document does not name`;
  }
  if (status < 400) return undefined;
  const isElsewhere = OF_ANY_PATH.has(status) && contentType === PROBLEM;
  // Another path below a protocol's answers in the shape of the protocol.
  const [elsewhere] = OF_ANY_PATH.has(status) ? foreign.values() : [];
  const media = foreign.get(status) ?? elsewhere;
  if (media !== undefined && !isElsewhere) {
    if (contentType?.startsWith(media) !== true) return `an error as ${contentType}`;
    return explains(media, body) ? undefined : "an error in no protocol's shape";
  }
  if (contentType !== PROBLEM) return `an error as ${contentType}`;
  const problem = problemSchema.loose().safeParse(parse(body));
  if (!problem.success) return "an error that is not a problem document";
  if (problem.data.status !== status) return "a problem document with another status";
  const { errors = [] } = problem.data;
  if (status !== 422) return undefined;
  if (errors.length === 0) return "a 422 that names no place";
  if (errors.some(({ path, message }) => path === "" || message === "")) {
    return "a 422 with an empty place or message";
  }
  return undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
