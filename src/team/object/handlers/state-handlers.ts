import { ok, stillBeingDeleted } from "../../../contract/result.ts";
import { loadStemmers } from "../../../core/search/stem.ts";
import { ForkSource } from "../../fork/fork-source.ts";
import type { TeamHandlers } from "./team-methods.ts";

/** The state of a team: as one document, in parts, and as the pages that a fork copies. */
export const stateHandlers = {
  saveState: ({ team }) => team.change((parts) => parts.team.saveState()),

  loadState: ({ team }, state) => team.change((parts) => parts.team.loadState(state)),

  async visibleState({ team }) {
    await team.parts?.team.load();
    return team.with((parts) => ok(parts.team.visibleState()));
  },

  async statePage({ team }, cursor) {
    const { StateSource } = await import("../../state-parts/state-source.ts");
    return team.with(({ stores }) => new StateSource(stores).page(cursor));
  },

  beginStatePart: ({ team }, header) =>
    team.change(({ stateParts, quota }) => quota.refuseStored() ?? stateParts.begin(header)),

  addStateLines: ({ team }, attempt, lines) =>
    team.with(({ stateParts, quota }) => quota.refuseStored() ?? stateParts.add(attempt, lines)),

  endStatePart: ({ team }, attempt, end) =>
    team.with(({ stateParts }) => stateParts.end(attempt, end)),

  stagedState: ({ team }) => team.with(({ stateParts }) => ok(stateParts.info())),

  discardStagedState: ({ team }) =>
    team.change(({ stateParts }) => {
      stateParts.discard();
      return ok(null);
    }),

  commitStagedState: ({ team }, { state }) =>
    team.change((parts) => parts.team.commitStagedState(state)),

  forkPoint: ({ team }, turn) =>
    team.with(({ stores }) => new ForkSource(stores, "with references").point(turn)),

  forkPage: ({ team }, position, cursor) =>
    team.with(({ stores }) => {
      const source = new ForkSource(stores, "with references");
      switch (cursor.table) {
        case "blob":
          return source.blobs(position, cursor);
        case "memory":
          return source.memories(position, cursor);
        case "head":
        case "log":
        case "event":
          return source.page(position, cursor);
      }
    }),

  forkProgress: ({ team }, request) => team.create(() => team.forkTarget().progress(request)),

  beginFork: ({ team, listing }, request, point) =>
    team.create(async () => {
      if (!(await listing.isFree())) return stillBeingDeleted();
      return team.forkTarget().begin(request, point);
    }),

  continueFork: ({ team }, request, cursor, page) =>
    team.create(async () => {
      // Memories are indexed by their words.
      if (page.rows.some(({ table }) => table === "memory")) await loadStemmers();
      const progress = team.forkTarget().receive(request, cursor, page);
      if (team.parts === undefined) team.load();
      return progress;
    }),
} satisfies Partial<TeamHandlers>;
