import type * as z from "zod";
import type {
  ListedTeam,
  ListedRun,
  ListedRequest,
  RequestList,
  RunList,
  TeamList,
} from "../contract/directory.ts";
import type {
  createdKeySchema,
  createKeySchema,
  createTokenSchema,
  KeyInfo,
  keysSchema,
  tokenSchema,
  whoamiSchema,
} from "../contract/key.ts";
import type { ProblemDocument } from "../contract/problem.ts";
import type {
  answerSchema,
  HumanRequest,
  RunInfo,
  RunPage,
  startRunSchema,
} from "../contract/run.ts";
import type {
  createScheduleSchema,
  patchScheduleSchema,
  ScheduleInfo,
  SchedulePage,
} from "../contract/schedule.ts";
import type {
  componentsSchema,
  createTeamSchema,
  forkTeamSchema,
  MessagePage,
  NotedTeam,
  TeamInfo,
  templatesSchema,
  validSchema,
} from "../contract/team.ts";
import type { RunTrace, TraceSpan } from "../contract/trace.ts";
import type { UsageReport } from "../contract/usage/usage-report.ts";
import type {
  createdWebhookSchema,
  DeliveryPage,
  putWebhookSchema,
  rotateSecretSchema,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
} from "../contract/webhooks/webhook.ts";
import type { stagedStateSchema } from "../contract/state-parts.ts";
import type { filePageSchema, fileSchema } from "../contract/workspace-files.ts";
import type { ChatMessage } from "../core/messages/message.ts";

// What the API takes and answers, inferred from the schemas that the server checks with. Fields are in snake_case, as on
// the wire.

/** A text, a chat message without what the server fills in, several of them, or null to continue. */
export type Task = string | TaskMessage | readonly TaskMessage[] | null;
export type TaskMessage = ChatMessage extends infer Message
  ? Message extends ChatMessage
    ? Pick<Message, "type" | "source" | "content"> & Partial<Message>
    : never
  : never;

export type CreateTeam = z.input<typeof createTeamSchema>;
export type ForkTeam = z.input<typeof forkTeamSchema>;
export type RunOptions = Omit<z.input<typeof startRunSchema>, "task">;
export type Answer = z.input<typeof answerSchema>;
export type CreateSchedule = z.input<typeof createScheduleSchema>;
export type ChangeSchedule = z.input<typeof patchScheduleSchema>;
export type CreateKey = z.input<typeof createKeySchema>;
export type CreateToken = z.input<typeof createTokenSchema>;
export type PutWebhook = z.input<typeof putWebhookSchema>;
export type RotateSecret = z.input<typeof rotateSecretSchema>;
/** What a file is written from; it can be sent again when a connection is lost, which a stream cannot. */
export type FileContent = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string;

export type CreatedKey = z.output<typeof createdKeySchema>;
export type Keys = z.output<typeof keysSchema>;
export type TeamToken = z.output<typeof tokenSchema>;
export type WhoAmI = z.output<typeof whoamiSchema>;
/** A webhook that was stored: with its `secret` if it is new. */
export type StoredWebhook = z.output<typeof createdWebhookSchema>;
/** A file of a team's workspace. */
export type FileInfo = z.output<typeof fileSchema>;
export type FilePage = z.output<typeof filePageSchema>;
export type StagedState = z.output<typeof stagedStateSchema>;

/** A team that can be created by its name. */
export type Template = z.output<typeof templatesSchema>["templates"][number];
/** A class that component JSON can name as `provider`, with the JSON Schema of its config. */
export type KnownComponent = z.output<typeof componentsSchema>["components"][number];
/** That a component can be loaded, with remarks on it. */
export type Validity = z.output<typeof validSchema>;

/** A message of the thread, with its place in it. */
export type ThreadMessage = MessagePage["messages"][number];

export type {
  ProblemDocument as Problem,
  DeliveryPage,
  HumanRequest,
  KeyInfo,
  ListedRequest,
  ListedRun,
  ListedTeam,
  MessagePage,
  NotedTeam,
  RequestList,
  RunInfo,
  RunList,
  RunPage,
  RunTrace,
  ScheduleInfo,
  SchedulePage,
  TeamInfo,
  TeamList,
  TraceSpan,
  UsageReport,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
};
