// The client of the HTTP API: `troupe/client`.
export type { ActivityFrame, RetryingFrame, TurnFrame } from "../contract/stream/stream-frame.ts";
export type { Message } from "../core/messages/message.ts";
export { beginningOf, endOf } from "../core/cut.ts";
export type { RequestUsage } from "../core/models/request-usage.ts";
export { type NewDocument, type Query, TroupeClient } from "./teams/client.ts";
export {
  Conversation,
  type RunResult,
  type StreamItem,
  type TextInProgress,
} from "./teams/conversation.ts";
export type { DirectoryChange } from "./teams/directory-changes.ts";
export type { ConnectionOptions } from "./http/event-source.ts";
export { ApiError, ConnectionError, RunError } from "./http/errors.ts";
export {
  CONNECTING_INBOX,
  type InboxState,
  InboxStore,
  type InboxStoreOptions,
} from "./stores/inbox-store.ts";
export {
  CONNECTING_MEMORIES,
  type MemoriesState,
  MemoriesStore,
  type MemoriesStoreOptions,
} from "./stores/memories-store.ts";
export { type RunConnection, RunStream } from "./teams/run-stream.ts";
export type { Store, StoreOptions } from "./stores/store.ts";
// As a whole: the type of an answer is named beside the method that returns it, and nowhere else.
export * from "./teams/team.ts";
export { CONNECTING, type TeamState } from "./stores/team-state.ts";
export { TeamStore, type TeamStoreOptions } from "./stores/team-store.ts";
export type { Call, CallOptions, Transport, TransportOptions, Wake } from "./http/transport.ts";
export {
  type Answer,
  type AskedRequest,
  attachmentOf,
  type ChangeMemory,
  type ChangeSchedule,
  type ChangeVersion,
  type ChunkPage,
  type CollectionInfo,
  type CollectionList,
  type CollectionResult,
  type ConnectionInfo,
  type ConnectionList,
  type CreateConnection,
  type CreatedKey,
  type CreateKey,
  type CreateMemories,
  type CreateSchedule,
  type CreateTeam,
  type CreateToken,
  type DeliveryPage,
  type DocumentInfo,
  type DocumentList,
  type FailureGroup,
  type FailureList,
  type FileContent,
  type FileInfo,
  type FilePage,
  type Forgotten,
  type ForkTeam,
  type FoundInTeams,
  type FoundMessages,
  type HumanRequest,
  type KeyInfo,
  type Keys,
  type KnownComponent,
  type ListedRequest,
  type ListedRun,
  type ListedTeam,
  type Memory,
  type MemoryList,
  type MessagePage,
  type NotedTeam,
  type Problem,
  type PutCollection,
  type PutWebhook,
  type RequestList,
  type RotateSecret,
  type RunInfo,
  type RunList,
  type RunOptions,
  type RunPage,
  type RunTotals,
  type ScheduleInfo,
  type SchedulePage,
  type SearchCollection,
  type SharedConversation,
  type StagedState,
  type StartedConnection,
  type StoredWebhook,
  type Task,
  type TaskFile,
  type TaskMessage,
  type TeamInfo,
  type TeamList,
  type TeamToken,
  type TeamTokens,
  type Template,
  type TenantInfo,
  type TenantList,
  type ThreadMessage,
  type TurnInfo,
  type TurnPage,
  type UsageReport,
  type Validity,
  type WebhookDelivery,
  type WebhookInfo,
  type WebhookSecret,
  type WebhookTest,
  type WhoAmI,
} from "./http/wire.ts";
