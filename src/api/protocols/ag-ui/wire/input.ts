import { beginningOf } from "../../../../core/cut.ts";
import * as z from "zod";
import { clientToolSchema, startRunSchema } from "../../../../contract/run.ts";
import { withoutNulls } from "../../../../core/component/component.ts";
import { issuesOf } from "../../../../core/issues.ts";
import { isJsonObject, type Json } from "../../../../core/json.ts";
import { invalid } from "../../../http/endpoint/problem.ts";

// The members of a RunAgentInput that are read. Other members are ignored.

/** Every stream repeats the ids, so they are short. */
const MOST_ID = 255;
const idSchema = z.string().min(1).max(MOST_ID);

const sourceSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("data"), value: z.string(), mimeType: z.string().optional() }),
  z.object({ type: z.literal("url"), value: z.string(), mimeType: z.string().optional() }),
  z.object({ type: z.literal("file") }),
]);

const partSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.enum(["image", "document"]),
    source: sourceSchema,
    metadata: z.unknown().optional(),
  }),
  // Images and files of clients before AG-UI 1.0.
  z.object({
    type: z.literal("binary"),
    mimeType: z.string(),
    data: z.string().optional(),
    url: z.string().optional(),
    filename: z.string().optional(),
  }),
  z.object({ type: z.enum(["audio", "video"]) }),
]);
export type InputPart = z.infer<typeof partSchema>;

const contentSchema = z.union([z.string(), z.array(partSchema)]);

/** Messages to the agents. */
const givenSchema = z.looseObject({
  id: idSchema,
  role: z.enum(["user", "system", "developer"]),
  content: contentSchema,
});
export type InputMessage = z.infer<typeof givenSchema>;

const toolMessageSchema = z.looseObject({
  id: idSchema,
  role: z.literal("tool"),
  toolCallId: z.string(),
  content: contentSchema,
  error: z.string().optional(),
});
export type ToolMessage = z.infer<typeof toolMessageSchema>;

const messageSchema = z.discriminatedUnion("role", [
  givenSchema,
  toolMessageSchema,
  z.looseObject({ id: idSchema, role: z.enum(["assistant", "reasoning", "activity"]) }),
]);

const resumeSchema = z.discriminatedUnion("status", [
  z.object({
    interruptId: z.string(),
    status: z.literal("resolved"),
    payload: z.unknown(),
  }),
  z.object({ interruptId: z.string(), status: z.literal("cancelled") }),
]);
export type ResumeEntry = z.infer<typeof resumeSchema>;

/** `forwardedProps.troupe`: what the protocol has no field for. */
const ownSchema = z
  .strictObject({
    /** Left out, messages while a run is active go into the run. */
    on_conflict: startRunSchema.shape.on_conflict.removeDefault().default("steer"),
    ...startRunSchema.pick({
      timeout_seconds: true,
      max_total_tokens: true,
      user: true,
    }).shape,
    raw: z.boolean().default(false),
    reasoning: z.boolean().default(true),
    interrupts: z.boolean().default(true),
    /** Left out, clients of AG-UI 1.0 get them: those of the oldest versions refuse events that they do not know. */
    subagents: z.boolean().optional(),
    activity: z.boolean().optional(),
  })
  .prefault({});

const inputSchema = z.object({
  threadId: idSchema,
  runId: idSchema,
  parentRunId: idSchema.optional(),
  /** Clients before AG-UI 1.0 do not say theirs. */
  protocolVersion: z.string().optional(),
  state: z.unknown().optional(),
  messages: z.array(messageSchema),
  tools: z
    .array(clientToolSchema.strip())
    .default([])
    .pipe(startRunSchema.shape.tools.removeDefault()),
  context: z.array(z.object({ description: z.string(), value: z.string() })).default([]),
  forwardedProps: z
    .preprocess((props) => (isJsonObject(props) ? props : {}), z.object({ troupe: ownSchema }))
    .prefault({}),
  resume: z.array(resumeSchema).default([]),
});

/** A request to run the team, as far as it is read. */
export interface RunInput extends z.infer<typeof inputSchema> {
  /** The messages with all their members. */
  given: unknown[];
}

/** @throws ProblemError 422 */
export function readInput(body: unknown): RunInput {
  const complete = completed(body);
  const parsed = inputSchema.safeParse(complete);
  if (parsed.success)
    return { ...parsed.data, given: (complete as { messages: unknown[] }).messages };
  throw invalid(
    "invalid_request",
    "The body is not a RunAgentInput of AG-UI 1.0.",
    issuesOf(parsed.error),
  );
}

/**
 * Clients in Python write null for a field without a value, which means the same as leaving it out. The .NET client sends messages
 * without ids.
 *
 * @returns the body without these nulls, and with {@link placeId} where an id is missing
 */
function completed(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  const fields = withoutNulls(body);
  const { messages, tools, runId } = fields;
  const identified = (item: unknown, index: number): unknown =>
    isJsonObject(item) && typeof runId === "string" ? { id: placeId(runId, index), ...item } : item;
  return {
    ...fields,
    ...(Array.isArray(messages) && { messages: messages.map(completedMessage).map(identified) }),
    ...(Array.isArray(tools) && { tools: tools.map(completedFields) }),
  };
}

/** The parts of a message and their sources have optional fields, too. */
function completedMessage(message: Json): Json {
  const completedOne = completedFields(message);
  if (!isJsonObject(completedOne) || !Array.isArray(completedOne.content)) return completedOne;
  return { ...completedOne, content: completedOne.content.map(completedPart) };
}

function completedPart(part: Json): Json {
  const completedOne = completedFields(part);
  if (!isJsonObject(completedOne) || completedOne.source === undefined) return completedOne;
  return { ...completedOne, source: completedFields(completedOne.source) };
}

function completedFields(value: Json): Json {
  return isJsonObject(value) ? withoutNulls(value) : value;
}

/** The id of a message that came without one: the request is recognized when it is sent again with its `runId`. */
export function placeId(runId: string, index: number): string {
  return beginningOf(`${index}.${runId}`, MOST_ID);
}
