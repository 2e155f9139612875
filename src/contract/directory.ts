import * as z from "zod";
import type { JsonObject } from "../core/json.ts";
import type { TraceContext } from "../core/run/turn-context.ts";
import { describedObject, idSchema, timeSchema } from "./common.ts";
import { type HumanRequest, humanRequestSchema, type RunStatus } from "./run.ts";
import { conversationSchema, expiresInSchema, type TeamInfo } from "./team.ts";
import type { Caller } from "./gateways/team-gateway.ts";
import type { SecretPushConfig } from "./webhooks/push.ts";
import { usageByModelSchema, tokenUsageSchema } from "./usage/usage-schemas.ts";
import type { StoredRunWebhook } from "./webhooks/webhook.ts";

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

/** A team in the list of a tenant's teams: without its component. */
export const listedTeamSchema = z.object({
  id: idSchema,
  label: z.string().nullable(),
  metadata: describedObject("Kept as it is."),
  provider: z.string().describe("Of its component."),
  component_version: z.number().int().min(1),
  status: z.enum(TEAM_STATUSES),
  active_run: z.string().nullable(),
  usage: tokenUsageSchema,
  conversation: conversationSchema,
  expires_in: expiresInSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
});

export type ListedTeam = z.output<typeof listedTeamSchema>;

/** A run in the list over all teams: without its task and result. */
export const listedRunSchema = z.object({
  id: z.string(),
  team_id: idSchema,
  status: z.enum(RUN_STATUSES),
  stop_reason: z.string().nullable(),
  error: z.object({ type: z.string(), message: z.string() }).nullable(),
  usage: tokenUsageSchema,
  models: usageByModelSchema.describe("The usage by model."),
  turns: z.number().int().min(0),
  retry_of: z.string().nullable(),
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
    task: z.string().nullable().default(null).describe("Of the run, its beginning as text."),
    said: z
      .object({ source: z.string(), text: z.string() })
      .nullable()
      .default(null)
      .describe("The last message before the question, its beginning as text."),
    truncated: z
      .boolean()
      .describe("Whether the prompt was cut, or code or arguments were left out, for their size."),
  })
  .describe("As GET .../requests shows it, with the last message instead of the conversation.");

export type ListedRequest = z.output<typeof listedRequestSchema>;

const next_cursor = z.string().nullable().describe("Pass as cursor; null at the end.");

export const teamListSchema = z.object({ teams: z.array(listedTeamSchema), next_cursor });
export const runListSchema = z.object({ runs: z.array(listedRunSchema), next_cursor });
export const requestListSchema = z.object({ requests: z.array(listedRequestSchema), next_cursor });

export type TeamList = z.output<typeof teamListSchema>;
export type RunList = z.output<typeof runListSchema>;
export type RequestList = z.output<typeof requestListSchema>;

export interface TeamQuery {
  status?: TeamStatus;
  /** A part of the label or the id, in any case. */
  q?: string;
  metadata: Readonly<Record<string, string>>;
  /** Conversations with this team; left out, all teams that are no conversations. */
  agent?: string;
  /** Only teams that stay until they are deleted. */
  lasting?: boolean;
  /** By last activity. */
  order: "newest" | "oldest";
  limit: number;
  cursor?: string;
}

export interface RunQuery {
  status?: RunStatus;
  team?: string;
  /** Created at or after, epoch milliseconds. */
  since?: number;
  limit: number;
  cursor?: string;
}

/** The runs in all conversations that a caller has with a team, latest change first. */
export interface ConversationRunQuery {
  agent: string;
  owner: string;
  statuses: readonly RunStatus[];
  limit: number;
  cursor?: string;
}

/** @property total of all pages */
export type ConversationRunList = RunList & { total: number };

export interface RequestQuery {
  kind?: HumanRequest["kind"];
  limit: number;
  cursor?: string;
}

/**
 * What a team tells its tenant: the present state of its subject. Numbers increase within the team, also when an earlier
 * state of its storage is restored; they may have gaps.
 */
export type OutboxEntry = { number: number } & OutboxChange;

export type OutboxChange =
  | { kind: "team"; team: TeamFacts }
  | ({
      kind: "run";
      run: ListedRun;
      team_usage: ListedTeam["usage"];
      push?: RunPush;
    } & ForWebhooks)
  | ({ kind: "request"; request: ListedRequest } & ForWebhooks)
  /** @property message as GET .../messages shows it */
  | ({ kind: "message"; run_id: string; message: JsonObject } & ForWebhooks)
  | { kind: "push_deleted"; run_id: string; id: string }
  | { kind: "request_closed"; created_at: string; id: string }
  /** Comes before `deleted`, as often as it takes: all runs of the team. */
  | { kind: "runs_deleted"; runs: readonly RunKey[] }
  /** @property idempotency the key of the request that created the team */
  | { kind: "deleted"; idempotency: string | null };

/** Who is told of a change of a run in the words of a protocol, and what the run does not say itself. */
export interface RunPush {
  configs: readonly SecretPushConfig[];
  requests: readonly ListedRequest[];
  answer: JsonObject | null;
}

interface ForWebhooks {
  /** Of the run. */
  webhook?: StoredRunWebhook;
  /** Of the request that started the run. */
  trace?: TraceContext;
  /** It happened before the team had an outbox: no webhook is told. */
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
  component_version: number;
  /** As in the record of the team. */
  conversation?: Conversation;
  expires_in?: number;
  created_at: string;
  updated_at: string;
}

/** Whose conversation with which team a team is. */
export interface Conversation extends Caller {
  agent: string;
}

/** Entries in the order of their numbers. */
export interface Delivery {
  team: string;
  /** Where the tenant last put the team; null if that is not known. */
  place: number | null;
  entries: readonly OutboxEntry[];
  /** The open streams of the team, when the tenant counts others. */
  streams?: number;
}

export interface Acknowledgement {
  /** The last entry applied. */
  number: number;
  /** Where the team is now. */
  place: number;
  /** Whether the tenant knows nothing of the team itself and asks for that entry again. */
  resync: boolean;
}
