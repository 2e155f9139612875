import * as z from "zod";
import type { JsonObject } from "../core/json.ts";
import type { TraceContext } from "../core/steps/step-attempt.ts";
import { describedObject, idSchema, timeSchema } from "./common.ts";
import { type HumanRequest, humanRequestSchema, runSchema, type RunStatus } from "./run.ts";
import {
  conversationSchema,
  expiresInSchema,
  forkedFromSchema,
  type TeamInfo,
  teamUserSchema,
} from "./team.ts";
import { teamToolSchema } from "./team-tool.ts";
import type { SecretPushConfig } from "./push.ts";
import type { StoredReceiver } from "./notify.ts";
import { costSchema, tokenUsageSchema, usageByModelSchema } from "./usage/usage-schemas.ts";
import type { StoredRunWebhook } from "./webhook.ts";

type TeamStatus = TeamInfo["status"];

const TEAM_STATUSES = ["idle", "running", "waiting", "paused"] as const satisfies TeamStatus[];
const RUN_STATUSES = [
  "queued",
  "running",
  "waiting",
  "paused",
  "completed",
  "cancelled",
  "failed",
] as const satisfies RunStatus[];

const runErrorSchema = z
  .object({
    type: z.string(),
    message: z.string(),
    agent: z
      .string()
      .nullable()
      .describe(
        "The innermost agent that threw; null without one, and in runs of earlier versions.",
      ),
  })
  .nullable();

const answerSchema = z
  .object({ source: z.string(), text: z.string() })
  .nullable()
  .describe("The last message of an ended run, its beginning as text; null without one.");

/** A team in the list of a tenant's teams, without its component. */
export const listedTeamSchema = z.object({
  id: idSchema,
  label: z.string().nullable(),
  metadata: describedObject("Kept as it is."),
  provider: z.string().describe("The provider of the team's component."),
  description: z
    .string()
    .optional()
    .describe(
      "Its beginning: the component's own, or those of its agents; left out for teams of earlier versions until they change.",
    ),
  component_version: z.number().int().min(1),
  status: z.enum(TEAM_STATUSES),
  active_run: z.string().nullable(),
  participants: z
    .array(z.string())
    .describe("The names of its agents, the first 50; empty for teams of earlier versions."),
  last_run: z
    .object({
      id: z.string(),
      status: z.enum(["completed", "cancelled", "failed"]),
      error: runErrorSchema,
      answer: answerSchema,
      ended_at: timeSchema.nullable(),
    })
    .nullable()
    .describe("The run that ended last."),
  usage: tokenUsageSchema,
  forked_from: forkedFromSchema.describe(
    "Where its conversation comes from, if it is a fork; null for forks of earlier versions until their component changes.",
  ),
  conversation: conversationSchema,
  user: teamUserSchema,
  expires_in: expiresInSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
  tool: teamToolSchema
    .pick({ name: true, description: true, updated_at: true })
    .optional()
    .describe("Its own tool for clients of MCP; left out for none."),
});

export type ListedTeam = z.output<typeof listedTeamSchema>;

/** A run in the list over all teams, with the beginnings of its task and its last message. */
export const listedRunSchema = z.object({
  id: z.string(),
  team_id: idSchema,
  team_label: z.string().nullable().optional().describe("In lists: the label of its team."),
  status: z.enum(RUN_STATUSES),
  ...runSchema.pick({ component_version: true }).shape,
  task: z
    .string()
    .nullable()
    .describe(
      "Its beginning as text; null for a run that continues, and in runs of earlier versions.",
    ),
  answer: answerSchema,
  stop_reason: z.string().nullable(),
  error: runErrorSchema,
  usage: tokenUsageSchema,
  models: usageByModelSchema.describe("The usage by model."),
  cost: costSchema,
  turns: z.number().int().min(0),
  retry_of: z.string().nullable(),
  ...runSchema.pick({ user: true, subject: true }).shape,
  metadata: describedObject("Kept as it is."),
  created_at: timeSchema,
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
});

export type ListedRun = z.output<typeof listedRunSchema>;

/** An open question in the inbox. */
export const listedRequestSchema = humanRequestSchema
  .omit({ context: true })
  .extend({
    team_id: idSchema,
    team_label: z.string().nullable().default(null),
    run_id: idSchema,
    task: z.string().nullable().default(null).describe("The beginning of the run's task as text."),
    said: z
      .object({ source: z.string(), text: z.string() })
      .nullable()
      .default(null)
      .describe("The last message before the question, its beginning as text."),
    truncated: z
      .boolean()
      .describe(
        "Whether the prompt was cut, or code, arguments or a form were left out, for their size.",
      ),
  })
  .describe("As GET .../requests shows it, with the last message instead of the conversation.");

export type ListedRequest = z.output<typeof listedRequestSchema>;

const next_cursor = z.string().nullable().describe("Pass as cursor; null at the end.");

export const teamListSchema = z.object({ teams: z.array(listedTeamSchema), next_cursor });
const seconds = z.number().nonnegative();
const count = z.number().int().min(0);

export const runTotalsSchema = z
  .object({
    runs: count.describe("In a range of days or times, those that ended in it."),
    completed: count,
    failed: count,
    cancelled: count,
    turns: count,
    ...tokenUsageSchema.shape,
    cost: costSchema,
    seconds: seconds.describe("From start to end, of the runs that ended."),
    p50_seconds: seconds.nullable().describe("Half of the runs that ended took at most this long."),
    p95_seconds: seconds.nullable(),
    open: count.describe("Those that match and have not ended. No range has them."),
    complete: z
      .boolean()
      .describe(
        "False if only 10,000 runs were looked at. Always true where status, team, model and whole days are the only filters.",
      ),
    next_cursor: z
      .string()
      .nullable()
      .describe("Pass as totals_after for the totals of the runs that were not looked at."),
  })
  .describe(
    "The totals of all runs that match, on all pages. With model, the tokens and the cost of this model. Percentiles are exact to 2 %.",
  );

export type RunTotals = z.output<typeof runTotalsSchema>;

export const runListSchema = z.object({
  runs: z.array(listedRunSchema),
  totals: runTotalsSchema,
  complete: z
    .boolean()
    .describe(
      "False for a list sorted by cost or duration of which only the latest 10,000 runs were sorted.",
    ),
  next_cursor,
});
export const requestListSchema = z.object({ requests: z.array(listedRequestSchema), next_cursor });

export type TeamList = z.output<typeof teamListSchema>;
export type RunList = z.output<typeof runListSchema>;
export type RequestList = z.output<typeof requestListSchema>;

/** Selects what is of the teams of one user. */
interface OfUser {
  team_user?: string;
}

export interface TeamQuery extends OfUser {
  status?: TeamStatus;
  /** A substring of the label or the id, case-insensitive. */
  q?: string;
  metadata: Readonly<Record<string, string>>;
  /** Only conversations with this team; by default, all teams that are not conversations. */
  agent?: string;
  /** Only forks of the console's playground, or only other teams; by default, both. */
  playground?: boolean;
  /** Only teams that stay until they are deleted. */
  lasting?: boolean;
  /** By last activity. */
  order: "newest" | "oldest";
  limit: number;
  cursor?: string;
}

export interface RunQuery extends OfUser {
  status?: RunStatus;
  team?: string;
  /** A substring of the task, the answer, the error or an id, case-insensitive. */
  q?: string;
  /** Only runs that called this model. */
  model?: string;
  /** Only runs that failed with this type of error. */
  error?: string;
  min_cost?: number;
  /** Created then or later; epoch milliseconds. */
  since?: number;
  /** Ended in this range, both ends included; epoch milliseconds. */
  from?: number;
  to?: number;
  /** Highest first. */
  order?: "created_at" | "cost" | "seconds";
  limit: number;
  cursor?: string;
  /** The totals of the runs after this place. */
  totals_after?: string;
}

/** Selects the runs in all conversations of a caller with a team, latest change first. */
export interface ConversationRunQuery {
  agent: string;
  owner: string;
  statuses: readonly RunStatus[];
  limit: number;
  cursor?: string;
}

/** @property total the number of items on all pages */
export type ConversationRunList = Pick<RunList, "runs" | "next_cursor"> & { total: number };

export interface RequestQuery extends OfUser {
  /** By default, the oldest first. */
  order?: "created_at" | "expires_at";
  kind?: HumanRequest["kind"];
  team?: string;
  limit: number;
  cursor?: string;
}

/**
 * An entry that a team delivers to its tenant: the current state of its subject. Numbers increase within the team, even
 * when an earlier state of its storage is restored; they may have gaps.
 */
export type OutboxEntry = { number: number } & OutboxChange;

export type OutboxChange =
  | { kind: "team"; team: TeamFacts }
  | ({
      kind: "run";
      run: ListedRun;
      team_usage: ListedTeam["usage"];
      push?: RunPush;
      /** Its usage after its end, which is part of its usage now. */
      later?: LaterUsage;
    } & ForWebhooks)
  | ({ kind: "request"; request: ListedRequest } & ForWebhooks)
  /** @property message as GET .../messages shows it */
  | ({ kind: "message"; run_id: string; message: JsonObject } & ForWebhooks)
  | { kind: "push_deleted"; run_id: string; id: string }
  | { kind: "request_closed"; created_at: string; id: string }
  /** Comes before `deleted`, in as many entries as needed: all runs of the team. */
  | { kind: "runs_deleted"; runs: readonly RunKey[] }
  /** @property idempotency the key of the request that created the team */
  | { kind: "deleted"; idempotency: string | null };

/** A push notification config for the changes of a run, with protocol data that the run itself does not have. */
export interface RunPush {
  configs: readonly SecretPushConfig[];
  requests: readonly ListedRequest[];
  answer: JsonObject | null;
  /** The caller's own id of the conversation. */
  context?: string;
}

/** @property at ISO 8601 UTC */
export type LaterUsage = { at: string } & Pick<ListedRun, "usage" | "models">;

interface ForWebhooks {
  /** Receivers of messages about the run. */
  notify?: readonly StoredReceiver[];
  /** Idempotency key of the run. */
  webhook?: StoredRunWebhook;
  /** The trace context of the request that started the run. */
  trace?: TraceContext;
  /** It happened before the team had an outbox: no webhook gets it. */
  earlier?: true;
}

/** The place of a run in the list of runs of its status. */
export interface RunKey {
  status: RunStatus;
  /** Epoch milliseconds. */
  created: number;
  id: string;
}

/** The properties of a team that its list shows; status and usage come from its runs. */
export interface TeamFacts {
  label: string | null;
  metadata: JsonObject;
  provider: string;
  /** The beginning of its description. Missing in teams of earlier versions. */
  description?: string;
  /** Missing in teams of earlier versions. */
  participants?: readonly string[];
  component_version: number;
  /** Missing in teams that are not forks, and in forks of earlier versions. */
  forked_from?: NonNullable<TeamInfo["forked_from"]>;
  /** The same as in the record of the team. */
  conversation?: ConversationKey;
  user?: string;
  expires_in?: number;
  created_at: string;
  updated_at: string;
}

/** The owner of a conversation. */
export interface Caller {
  /** Distinguishes the caller from others of the tenant. Never shown. */
  owner: string;
  /** The caller's display name. */
  caller: string | null;
}

/** The caller of a conversation, and the team it is with. */
export interface ConversationKey extends Caller {
  agent: string;
  /** The caller's own id of it. Missing where the caller uses the team's. */
  context?: string;
}

/** Entries in the order of their numbers. */
export interface Delivery {
  team: string;
  /** The team's last known place at the tenant; null if unknown. */
  place: number | null;
  entries: readonly OutboxEntry[];
  /** The bytes that the team stores. Missing with its last entries, and in deliveries of earlier versions. */
  stored?: number;
  /** The open streams of the team, when the tenant's count differs. */
  streams?: number;
}

export interface Acknowledgement {
  /** The last entry applied. */
  number: number;
  /** The team's present place in the lists. */
  place: number;
  /** True if the tenant does not know the team itself and asks for that entry again. */
  resync: boolean;
}
