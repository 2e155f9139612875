import type * as z from "zod";
import type {
  ListedTeam,
  ListedRun,
  ListedRequest,
  RequestList,
  RunList,
  RunTotals,
  TeamList,
} from "../../contract/directory.ts";
import type { FailureGroup, FailureList } from "../../contract/run-failures.ts";
import type { createConnectionSchema } from "../../contract/tenant/connection.ts";
import type {
  createdKeySchema,
  createKeySchema,
  createTokenSchema,
  KeyInfo,
  keysSchema,
  tokenSchema,
  tokensSchema,
  whoamiSchema,
} from "../../contract/tenant/key.ts";
import type {
  collectionPageSchema,
  collectionResultSchema,
  putCollectionSchema,
  searchCollectionSchema,
} from "../../contract/files/collection.ts";
import type {
  changeMemorySchema,
  createMemoriesSchema,
  forgottenSchema,
} from "../../contract/memory.ts";
import type { TenantInfo, TenantList } from "../../contract/tenant/tenant.ts";
import type { ProblemDocument } from "../../contract/problem.ts";
import type {
  answerSchema,
  AnsweredRun,
  AskedRequest,
  HumanRequest,
  RunInfo,
  RunPage,
  startRunSchema,
} from "../../contract/run.ts";
import type {
  createScheduleSchema,
  patchScheduleSchema,
  ScheduleInfo,
  SchedulePage,
} from "../../contract/team/schedule.ts";
import type {
  componentsSchema,
  createTeamSchema,
  forkTeamSchema,
  MessagePage,
  SharedConversation,
  NotedTeam,
  TeamInfo,
  templatesSchema,
  validSchema,
} from "../../contract/team.ts";
import type { TurnInfo, TurnPage } from "../../contract/turn.ts";
import type { FoundInTeams, FoundMessages } from "../../contract/team/found-messages.ts";
import type { UsageReport } from "../../contract/usage/usage-report.ts";
import type {
  createdWebhookSchema,
  DeliveryPage,
  putWebhookSchema,
  rotateSecretSchema,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
} from "../../contract/webhook.ts";
import type { putTriggerSchema, rotateTriggerSchema } from "../../contract/team/trigger.ts";
import type { putTeamToolSchema } from "../../contract/team-tool.ts";
import type { changeVersionSchema } from "../../contract/team/version.ts";
import type { stagedStateSchema } from "../../contract/team/state-parts.ts";
import type { filePageSchema, fileSchema } from "../../contract/files/workspace-files.ts";
import type { MultiModalMessage } from "../../core/messages/chat-messages.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import type { UserPart } from "../../core/models/llm-messages.ts";

// The API's requests and responses: their types, inferred from the server's schemas. Fields are in snake_case, as on the wire.

/** A text, a chat message without the fields that the server fills in, several of them, or null to continue. */
export type Task = string | TaskMessage | readonly TaskMessage[] | null;
export type TaskMessage = ChatMessage extends infer Message
  ? Message extends MultiModalMessage
    ? Partial<Omit<Message, "content">> &
        Pick<Message, "type" | "source"> & { content: readonly (UserPart | TaskFile)[] }
    : Message extends ChatMessage
      ? Pick<Message, "type" | "source" | "content"> & Partial<Message>
      : never
  : never;

/** A file or an image of a task: base64, a path in the team's workspace, or a URL that the server fetches. */
export type TaskFile = { name?: string; media_type?: string } & (
  | { data: string }
  | { path: string }
  | { url: string }
);

/**
 * Turns a file of a web page, or other bytes, into a part of a message.
 *
 * @param name default: the file's name
 * @throws DOMException when the file cannot be read
 * @example
 * const content = ["What is the rent?", await attachmentOf(file)];
 * team.run({ type: "MultiModalMessage", source: "user", content });
 */
export async function attachmentOf(
  file: Blob & { readonly name?: string },
  name = file.name ?? "file",
): Promise<TaskFile & { data: string; name: string }> {
  let binary = "";
  for (const byte of new Uint8Array(await file.arrayBuffer())) binary += String.fromCharCode(byte);
  return { data: btoa(binary), name, ...(file.type !== "" && { media_type: file.type }) };
}

export type CreateTeam = z.input<typeof createTeamSchema>;
export type ForkTeam = z.input<typeof forkTeamSchema>;
export type RunOptions = Omit<z.input<typeof startRunSchema>, "task">;
export type Answer = z.input<typeof answerSchema>;
export type CreateSchedule = z.input<typeof createScheduleSchema>;
export type ChangeSchedule = z.input<typeof patchScheduleSchema>;
export type GivenTeamTool = z.input<typeof putTeamToolSchema>;
export type PutTrigger = z.input<typeof putTriggerSchema>;
export type RotateTrigger = z.input<typeof rotateTriggerSchema>;
export type ChangeVersion = z.input<typeof changeVersionSchema>;
export type CreateConnection = z.input<typeof createConnectionSchema>;
export type CreateKey = z.input<typeof createKeySchema>;
export type CreateToken = z.input<typeof createTokenSchema>;
export type PutWebhook = z.input<typeof putWebhookSchema>;
export type RotateSecret = z.input<typeof rotateSecretSchema>;
/** The content of a file to write. It can be sent again after a lost connection; a stream could not. */
export type FileContent = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string;

export type CreatedKey = z.output<typeof createdKeySchema>;
export type Keys = z.output<typeof keysSchema>;
export type TeamToken = z.output<typeof tokenSchema>;
export type TeamTokens = z.output<typeof tokensSchema>;
export type WhoAmI = z.output<typeof whoamiSchema>;
/** The answer of `GET /healthz`. */
export type { Health } from "../../contract/commands/health.ts";
/** A stored webhook, with its `secret` if it is new. */
export type StoredWebhook = z.output<typeof createdWebhookSchema>;
/** A file in a team's workspace. */
export type FileInfo = z.output<typeof fileSchema>;
export type FilePage = z.output<typeof filePageSchema>;
export type StagedState = z.output<typeof stagedStateSchema>;

export type CreateMemories = z.input<typeof createMemoriesSchema>;
export type ChangeMemory = z.input<typeof changeMemorySchema>;
export type Forgotten = { forgotten: z.output<typeof forgottenSchema>["forgotten"] | null };
export type PutCollection = z.input<typeof putCollectionSchema>;
export type SearchCollection = z.input<typeof searchCollectionSchema>;
export type CollectionList = z.output<typeof collectionPageSchema>;
export type CollectionResult = z.output<typeof collectionResultSchema>;
export type {
  ConnectionInfo,
  ConnectionList,
  StartedConnection,
} from "../../contract/tenant/connection.ts";
export type {
  ListedSkill,
  PutSkill,
  SkillInfo,
  SkillPage,
  SkillVersion,
  SkillVersionPage,
} from "../../contract/tenant/skill.ts";
export type { Memory, MemoryList } from "../../contract/memory.ts";
export type {
  ChunkPage,
  CollectionInfo,
  DocumentInfo,
  DocumentPage as DocumentList,
} from "../../contract/files/collection.ts";

/** A team that can be created by its name. */
export type Template = z.output<typeof templatesSchema>["templates"][number];
/** A class that component JSON can use as `provider`, with the JSON Schema of its config. */
export type KnownComponent = z.output<typeof componentsSchema>["components"][number];
/** The result for a valid component, with notes on it. */
export type Validity = z.output<typeof validSchema>;

/** A message of the thread, with its place in it. */
export type ThreadMessage = MessagePage["messages"][number];

export type {
  ProblemDocument as Problem,
  DeliveryPage,
  AnsweredRun,
  AskedRequest,
  HumanRequest,
  FailureGroup,
  FailureList,
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
  RunTotals,
  FoundInTeams,
  FoundMessages,
  ScheduleInfo,
  SchedulePage,
  SharedConversation,
  TeamInfo,
  TeamList,
  TenantInfo,
  TenantList,
  TurnInfo,
  TurnPage,
  UsageReport,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
};
