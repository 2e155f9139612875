// The client of the HTTP API: `troupe/client`. What the files of requests and answers export is part of it as a whole, so that the type
// of an answer is named beside the method that returns it and nowhere else.
export type { ActivityFrame, RetryingFrame, TurnFrame } from "../contract/stream/stream-frame.ts";
export type { Message } from "../core/messages/message.ts";
export { beginningOf, endOf } from "../core/cut.ts";
export type { RequestUsage } from "../core/models/request-usage.ts";
export * from "./teams/client.ts";
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
export * from "./teams/team.ts";
export { CONNECTING, type TeamState } from "./stores/team-state.ts";
export { TeamStore, type TeamStoreOptions } from "./stores/team-store.ts";
export type { Call, CallOptions, Transport, TransportOptions, Wake } from "./http/transport.ts";
export * from "./http/wire.ts";
