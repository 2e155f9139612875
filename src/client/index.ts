// The client of the HTTP API: `troupe/client`.
export type { RetryingFrame } from "../contract/stream/stream-frame.ts";
export type { Message } from "../core/messages/message.ts";
export type { RequestUsage } from "../core/models/request-usage.ts";
export { type Query, TroupeClient } from "./client.ts";
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
} from "./inbox-store.ts";
export { type RunConnection, RunStream } from "./run-stream.ts";
export type { Store, StoreOptions } from "./store.ts";
export { TeamClient, type TeamEventsOptions } from "./team.ts";
export { CONNECTING, type TeamState } from "./team-state.ts";
export { TeamStore, type TeamStoreOptions } from "./team-store.ts";
export type { Call, CallOptions, Transport, TransportOptions, Wake } from "./transport.ts";
export type {
  Answer,
  ChangeSchedule,
  CreatedKey,
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
  RunOptions,
  RunPage,
  RunTrace,
  ScheduleInfo,
  SchedulePage,
  RotateSecret,
  StoredWebhook,
  Task,
  TaskMessage,
  TeamInfo,
  TeamList,
  TeamToken,
  Template,
  ThreadMessage,
  TraceSpan,
  UsageReport,
  Validity,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
  WhoAmI,
} from "./wire.ts";
