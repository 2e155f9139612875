"use client";
// React hooks on the client: `troupe/react`.
export { TroupeProvider, type TroupeProviderProps, useTroupe } from "./provider.ts";
export { type Inbox, useInbox, type UseInboxOptions } from "./use-inbox.ts";
export { type Memories, useMemories, type UseMemoriesOptions } from "./use-memories.ts";
export { type TeamView, useTeam, type UseTeamOptions } from "./use-team.ts";
