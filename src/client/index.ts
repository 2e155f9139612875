// The client of the HTTP API: `troupe/client`.
export type { ActivityFrame, RetryingFrame, TurnFrame } from "../contract/stream/stream-frame.ts";
export type { Message } from "../core/messages/message.ts";
export type { RequestUsage } from "../core/models/request-usage.ts";
export { type NewDocument, type Query, TroupeClient } from "./client.ts";
export {
  Conversation,
  type RunResult,
  type StreamItem,
  type TextInProgress,
} from "./conversation.ts";
export type { DirectoryChange } from "./directory-changes.ts";
export type { ConnectionOptions } from "./event-source.ts";
export { ApiError, ConnectionError, RunError } from "./errors.ts";
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
export { type RunConnection, RunStream } from "./run-stream.ts";
export type { Store, StoreOptions } from "./stores/store.ts";
export {
  type ReplaceOptions,
  TeamClient,
  type TeamEventsOptions,
  type WatchOptions,
} from "./team.ts";
export { CONNECTING, type TeamState } from "./stores/team-state.ts";
export { TeamStore, type TeamStoreOptions } from "./stores/team-store.ts";
export type { Call, CallOptions, Transport, TransportOptions, Wake } from "./transport.ts";
export { attachmentOf } from "./wire.ts";
export type {
  Answer,
  ChangeMemory,
  ChangeSchedule,
  ChunkPage,
  CollectionInfo,
  CollectionList,
  CollectionResult,
  CreateMemories,
  DocumentInfo,
  DocumentList,
  Forgotten,
  Memory,
  MemoryList,
  PutCollection,
  SearchCollection,
  CreatedKey,
  ConnectionInfo,
  ConnectionList,
  CreateConnection,
  StartedConnection,
  CreateKey,
  CreateSchedule,
  CreateTeam,
  CreateToken,
  DeliveryPage,
  FileContent,
  FileInfo,
  FilePage,
  StagedState,
  ForkTeam,
  HumanRequest,
  KeyInfo,
  Keys,
  KnownComponent,
  ListedRequest,
  ListedRun,
  ListedTeam,
  MessagePage,
  NotedTeam,
  Problem,
  PutWebhook,
  RequestList,
  RunInfo,
  RunList,
  RunTotals,
  RunOptions,
  RunPage,
  ModelRequest,
  FoundInTeams,
  FoundMessages,
  RunTrace,
  ScheduleInfo,
  SchedulePage,
  SharedConversation,
  RotateSecret,
  StoredWebhook,
  Task,
  TaskFile,
  TaskMessage,
  TeamInfo,
  TeamList,
  TenantInfo,
  TenantList,
  TeamToken,
  Template,
  ThreadMessage,
  TraceSpan,
  TurnInfo,
  TurnPage,
  UsageReport,
  Validity,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
  WhoAmI,
} from "./wire.ts";
