import * as z from "zod";
import { MAX_CLIENT_TOOLS, MAX_QUEUED_RUNS } from "./constants.ts";
import { describedJson, describedObject, idSchema, textSchema, timeSchema } from "./common.ts";
import { approvalFields, givenApprovalSchema } from "./approval.ts";
import { messageSchema } from "./message.ts";
import { metadataSchema } from "./team.ts";
import { userSchema } from "./user.ts";
import { costSchema, usageByModelSchema, tokenUsageSchema } from "./usage/usage-schemas.ts";
import { runWebhookSchema } from "./webhook.ts";

/** Upper limit of timeout_seconds: 30 days of running time. */
const LONGEST_TIMEOUT = 30 * 24 * 3600;

const chatMessage = {
  type: "object",
  description:
    "A chat message: TextMessage, MultiModalMessage, StopMessage, HandoffMessage, ToolCallSummaryMessage or StructuredMessage[...]. id, created_at, models_usage and metadata may be left out.",
  properties: { type: { type: "string" }, source: { type: "string" }, content: {} },
  required: ["type", "source"],
  additionalProperties: true,
} as const;

/** A tool that the client of a run has. */
export const clientToolSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, underscores or hyphens"),
  description: z.string().max(10_000).optional(),
  parameters: describedObject("JSON Schema of its arguments, of the type object.").optional(),
  strict: z.boolean().optional(),
});

export const startRunSchema = z.strictObject({
  task: z
    .unknown()
    .default(null)
    .meta({
      description: "A text said by user, a chat message, several, or null to continue.",
      oneOf: [
        { type: "string" },
        chatMessage,
        { type: "array", minItems: 1, items: chatMessage },
        { type: "null" },
      ],
    }),
  output_task_messages: z.boolean().default(true),
  on_conflict: z
    .enum(
      ["reject", "queue", "interrupt", "steer"],
      'must be "reject", "queue", "interrupt" or "steer"',
    )
    .default("reject")
    .describe(
      `While the team is busy: refuse the run, let it wait for its turn (at most ${MAX_QUEUED_RUNS} runs per team), cancel the active run and start before the queued ones, or send the task as a message into the active run (steer).`,
    ),
  timeout_seconds: z.number().positive().max(LONGEST_TIMEOUT).nullable().default(null),
  max_total_tokens: z
    .number()
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe("The tokens of all model calls; a run that uses more fails."),
  max_cost: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe("In the currency of MODEL_PRICES; a run that costs more fails."),
  user: userSchema
    .optional()
    .describe(
      "For whom the run is: memories of the scope user are those of this user. A user token cannot name another user.",
    ),
  metadata: metadataSchema.default({}),
  webhook: runWebhookSchema.nullable().default(null).describe("Gets the events of this run."),
  tools: z
    .array(clientToolSchema)
    .max(MAX_CLIENT_TOOLS)
    .superRefine((tools, context) => {
      for (const [index, { name }] of tools.entries()) {
        if (tools.findIndex((tool) => tool.name === name) === index) continue;
        context.addIssue({ code: "custom", path: [index, "name"], message: "is given twice" });
      }
    })
    .default([])
    .describe(
      "Tools of the client, for the team's assistant agents. A call makes the run wait with a request of the kind tool.",
    ),
});

/** A change of a queued run. */
export const runMessageSchema = z.strictObject({
  content: z
    .string("must be a text")
    .min(1, "must not be empty")
    .describe("The text that the agents read at their next step."),
  to: textSchema(1_000)
    .optional()
    .describe(
      "The agent that gets it: a name, or a path as in outer/inner for one inside a nested team. Left out: all agents.",
    ),
});

export const sentMessageSchema = z.object({
  id: z.string().describe("The id of the message in the log."),
});

export const changeRunSchema = startRunSchema.pick({ task: true }).extend({
  task: startRunSchema.shape.task.removeDefault(),
});

export const stopRunSchema = z.strictObject({ mode: z.enum(["after_turn", "now"]) });

/** The body of calls without arguments: nothing, or an empty object. */
export const nothingSchema = z.strictObject({});

/** The fields of an answer that belong to an approval. */
const APPROVAL_ONLY = ["reason", "arguments", "allow", "revision"] as const;

/** One object instead of a union of the two kinds, so that a mistake is reported at the field where it is. */
export const answerSchema = z
  .strictObject({
    content: z
      .unknown()
      .meta({
        description: "The answer to an input, or the result of a tool of the client.",
        oneOf: [{ type: "string" }, chatMessage],
      })
      .optional(),
    is_error: z.boolean().describe("True if the tool of the client failed.").optional(),
    approved: z.boolean().describe("The answer to an approval.").optional(),
    reason: z.string().max(10_000).describe("Why the approval is given or refused.").optional(),
    arguments: describedObject(
      "Replace the arguments of the tool call that is approved; must fit its parameters.",
    ).optional(),
    allow: z
      .enum(["run", "team"], 'must be "run" or "team"')
      .describe(
        "The approval counts for equal calls of the agent as well: those of the run, or of the team, which needs teams:write.",
      )
      .optional(),
    revision: z
      .number()
      .int()
      .min(1)
      .describe("That of the request as it was shown: refused if the arguments have changed since.")
      .optional(),
  })
  .superRefine((body, context) => {
    const issue = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: [path], message });
    if (body.content === undefined && body.approved === undefined) {
      const extra = APPROVAL_ONLY.find((name) => name in body);
      if (body.is_error !== undefined) issue("content", "is missing: is_error belongs to it");
      else if (extra !== undefined)
        issue("approved", `is missing: ${extra} belongs to an approval`);
      else issue("content", 'is missing: answer with "content", or an approval with "approved"');
    }
    if (body.content === undefined) return;
    for (const name of ["approved", ...APPROVAL_ONLY] as const) {
      if (body[name] !== undefined) issue(name, "belongs to an approval, which has no content");
    }
  })
  .meta({ oneOf: [{ required: ["content"] }, { required: ["approved"] }] });

export const humanRequestSchema = z.object({
  id: z.string().describe("The id of the request; for an input, the request_id of its event."),
  kind: z
    .enum(["input", "approval", "tool"])
    .describe("tool: the client makes the call, and answers with its result."),
  source: z.string(),
  prompt: z.string(),
  code: z.string().describe("The code to be approved, as Markdown.").optional(),
  tool_call: z
    .object({
      name: z.string(),
      arguments: describedObject("As the model wrote them."),
      call_id: z.string().optional(),
      parameters: describedObject("JSON Schema of the arguments.").optional(),
    })
    .describe("The tool call to be approved, or to be made.")
    .optional(),
  form: z
    .object({
      message: z.string().describe("What is asked, without how to write the answer."),
      schema: describedObject("JSON Schema of the type object."),
      cancel: z.literal(true).describe("Whether cancel is an answer beside decline.").optional(),
      url: z.string().describe("A page that the human opens before answering.").optional(),
    })
    .describe(
      "The fields that an input asks for: its content is the text of a JSON object with these, or decline.",
    )
    .optional(),
  login: z
    .object({
      server: z.string().describe("The name of the MCP server."),
      user: z
        .string()
        .nullable()
        .describe("Whose login it is; null for the tenant's, which runs without a user use."),
    })
    .describe("The login that is needed. The request is answered by itself when it was made.")
    .optional(),
  url: z
    .string()
    .describe(
      "The page of the login, which a human opens in a browser. Shown to credentials of the user whose login it is, and that of the tenant to credentials with teams:write.",
    )
    .optional(),
  ...approvalFields,
  context: z
    .object({
      messages: z.array(messageSchema).describe("Oldest first."),
      truncated: z
        .boolean()
        .describe("Whether earlier messages were left out or a long text was cut."),
    })
    .describe(
      "What was said since the run, or the one it retries, began: the last 20 messages, at most about 32 KB.",
    ),
  default_answer: describedObject("The answer that counts after expires_at.").optional(),
  created_at: timeSchema,
  expires_at: timeSchema.nullable(),
});

export const askedRequestSchema = humanRequestSchema.omit({ context: true, url: true }).extend({
  status: z
    .enum(["open", "answered", "expired"])
    .describe("expired: nobody answered in time, and the default answer counts."),
  answer: z
    .looseObject({})
    .nullable()
    .describe("As it was given: content, or approved with reason and arguments; null while open."),
  answered_at: timeSchema.nullable(),
  answered_by: z
    .string()
    .nullable()
    .describe(
      "The name or subject of the credential that answered; null for none, and in answers of earlier versions.",
    ),
});

/** A question with its answer. */
export type AskedRequest = z.infer<typeof askedRequestSchema>;

/** An open question as the API shows it. */
export type HumanRequest = z.infer<typeof humanRequestSchema>;

export const humanRequestsSchema = z.object({ requests: z.array(humanRequestSchema) });

export const runNoteSchema = z.object({
  agent: z.string().nullable().describe("Null for the team's manager."),
  message: z.string(),
});

/** The parts left out of an agent's requests to its model. */
export type RunNote = z.infer<typeof runNoteSchema>;

export const runSchema = z.object({
  id: idSchema,
  team_id: idSchema,
  status: z.enum(["queued", "running", "waiting", "paused", "completed", "cancelled", "failed"]),
  queue_position: z
    .number()
    .int()
    .min(1)
    .nullable()
    .describe("The place of a queued run: 1 for the one that starts next. Otherwise null."),
  component_version: z
    .number()
    .int()
    .min(1)
    .nullable()
    .describe(
      "The version of the team's component with which it started; null while it is queued, and in runs that started before it was recorded.",
    ),
  task: describedJson("The messages it was given."),
  stop_reason: z.string().nullable(),
  error: z
    .object({
      type: z.string().describe("Stable code; branch on this one."),
      message: z.string(),
      agent: z
        .string()
        .nullable()
        .describe("The innermost agent that threw; null for the team's manager and for limits."),
      turn: z.number().int().min(0).nullable().describe("The team's turn that failed."),
      step: z
        .string()
        .nullable()
        .describe("Path of the model call, tool call or other step that threw, below the turn."),
      attempts: z
        .number()
        .int()
        .min(1)
        .nullable()
        .describe("Attempts at that step; null if no step threw."),
    })
    .nullable(),
  usage: tokenUsageSchema.describe("Tokens of all model calls, also those in no message."),
  cost: costSchema,
  models: usageByModelSchema.describe("Usage by model."),
  turns: z
    .number()
    .int()
    .min(0)
    .describe("Turns it has finished, the one that takes the task not counted."),
  turn: z
    .number()
    .int()
    .min(0)
    .describe(
      "The team's last finished turn, as the run found or left it: fork there to continue from its end.",
    ),
  requests: z.array(humanRequestSchema),
  notes: z
    .array(runNoteSchema)
    .optional()
    .describe(
      "What was left out of requests to models: images for one that does not see, thinking that its maker refused. Each once for an agent, the first 20; missing where there is nothing.",
    ),
  pause_requested: z
    .boolean()
    .describe("Whether the run pauses once the steps under way have ended, or has paused."),
  stop_requested: z
    .enum(["after_turn", "now"])
    .nullable()
    .describe("How it was asked to stop. With after_turn, it completes after its turn."),
  retry_of: z.string().nullable(),
  user: z.string().optional().describe("For whom it is; missing for no user."),
  subject: z
    .string()
    .optional()
    .describe("The name or subject of the credential that started it; missing for one without."),
  metadata: metadataSchema,
  created_at: timeSchema,
  next_attempt_at: timeSchema
    .nullable()
    .describe(
      "While the run waits for a model or another dependency that is away: when it is tried again. Waits of less than 30 seconds are shown by streams only.",
    ),
  started_at: timeSchema.nullable().describe("Null while queued, or when it was cancelled then."),
  ended_at: timeSchema.nullable(),
  result: z
    .object({ stop_reason: z.string().nullable(), messages: z.array(messageSchema) })
    .nullable()
    .optional()
    .describe("Only when one run is asked for; null above 1 MB, then page the messages."),
});

export type RunInfo = z.infer<typeof runSchema>;

/** A run after an answer. */
export const answeredRunSchema = runSchema.extend({
  approvals: z
    .array(givenApprovalSchema)
    .describe("After an answer to an approval of a call: all that were given to it so far.")
    .optional(),
});

export type AnsweredRun = z.infer<typeof answeredRunSchema>;
export type RunStatus = RunInfo["status"];
/** Why a run failed, and in which component. */
export type RunError = NonNullable<RunInfo["error"]>;

/** The current progress of a run. */
export function runLocation({ team_id, id }: Pick<RunInfo, "team_id" | "id">): string {
  return `/v1/teams/${team_id}/runs/${id}`;
}

export const runPageSchema = z.object({
  runs: z.array(runSchema),
  next_cursor: z.string().nullable(),
});

export type RunPage = z.infer<typeof runPageSchema>;
