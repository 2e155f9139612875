// The client of the HTTP API: `troupe/client`.
export { TroupeClient } from "./client.ts";
export {
  Conversation,
  type RunResult,
  type StreamItem,
  type TextInProgress,
} from "./conversation.ts";
export { ApiError, ConnectionError, RunError } from "./errors.ts";
export { RunStream } from "./run-stream.ts";
export { type CallOptions, TeamClient } from "./team.ts";
export type { TransportOptions } from "./transport.ts";
export type {
  Answer,
  ChangeSchedule,
  CreatedKey,
  CreateKey,
  CreateSchedule,
  CreateTeam,
  CreateToken,
  ForkTeam,
  HumanRequest,
  KeyInfo,
  Keys,
  ListedRequest,
  ListedRun,
  ListedTeam,
  MessagePage,
  NotedTeam,
  Problem,
  RequestList,
  RunInfo,
  RunList,
  RunOptions,
  RunPage,
  ScheduleInfo,
  SchedulePage,
  Task,
  TaskMessage,
  TeamInfo,
  TeamList,
  TeamToken,
  ThreadMessage,
  UsageReport,
  WhoAmI,
} from "./wire.ts";
