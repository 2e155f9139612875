import type { MemoryEventFrame } from "../../../contract/stream/stream-frame.ts";
import { ok, type Result } from "../../../contract/result.ts";
import { loadStemmers } from "../../../core/search/stem.ts";
import { memoryNotFound } from "../../../sqlite/recall/memory-entries.ts";
import type { TeamHolder } from "../parts/team-holder.ts";
import type { TeamParts } from "../parts/team-parts.ts";
import type { TeamHandlers } from "./team-methods.ts";

/** The team's memories, as a person sees and changes them. A change is an entry of the team's log, also during a run. */
export const memoryHandlers = {
  memories: ({ team }, query) => team.with(({ stores }) => stores.memory.entries.page(query)),

  async searchMemories({ team }, query) {
    const asked =
      query.embedding === undefined ? await team.parts?.embeddings.question(query.text) : {};
    await loadStemmers();
    const { embedding = query.embedding, note } = asked ?? {};
    return team.with(({ stores }) => {
      const found = stores.memory.entries.recall({ ...query, embedding });
      return ok({ ...found, ...(note !== undefined && { note }) });
    });
  },

  memory: ({ team }, id) =>
    team.with(({ stores }) => {
      const entry = stores.memory.entries.entry(id);
      return entry === null ? memoryNotFound() : ok(entry);
    }),

  addMemories: ({ team }, contents) =>
    indexing(
      team,
      (parts) =>
        parts.stores.memory.entries.addedBefore(contents) ??
        parts.quota.refuseStored() ??
        change(parts, ({ memory }, at, turn) => {
          const added = memory.add(contents, at, turn);
          return [ok(added), { change: "added", memories: added.map(({ id }) => id) }];
        }),
    ),

  changeMemory: ({ team }, id, changes) =>
    indexing(
      team,
      (parts) =>
        parts.quota.refuseStored() ??
        change(parts, ({ memory }, at, turn) => [
          memory.correct(id, changes, at, turn),
          { change: "corrected", memories: [id] },
        ]),
    ),

  embedTexts: async ({ team }, request) =>
    (await team.parts?.embeddings.embedFor(request)) ?? { is: "unused" },

  forgetMemory: ({ team }, id) =>
    team.with((parts) =>
      change(parts, ({ memory }, at) => [
        memory.take(id, at),
        { change: "forgotten", memories: [id] },
      ]),
    ),

  forgetRun: ({ team }, run) =>
    indexing(team, (parts) =>
      change(parts, ({ memory, unfinished }, at) => {
        const forgotten = memory.takeRun(run, at);
        unfinished.drop(run);
        return [ok({ forgotten }), { change: "run_forgotten", memories: [], run_id: run }];
      }),
    ),

  eraseMemories: ({ team }) =>
    team.with((parts) =>
      change(parts, ({ memory }, at) => {
        const forgotten = memory.takeAll(at);
        return [ok({ forgotten }), { change: "erased", memories: [] }];
      }),
    ),
} satisfies Partial<TeamHandlers>;

/** Makes a change of what is indexed by words, once what that needs is imported. */
async function indexing<T>(
  team: TeamHolder,
  make: (parts: TeamParts) => Result<T>,
): Promise<Result<T>> {
  await loadStemmers();
  return team.with(make);
}

/** Makes a change together with its entry in the log, which streams show. */
function change<T>(
  { stores, live, embeddings }: Pick<TeamParts, "stores" | "live" | "embeddings">,
  make: (
    stores: TeamParts["stores"],
    at: number,
    turn: number,
  ) => [Result<T>, Omit<MemoryEventFrame, "run_id"> & { run_id?: string }],
): Result<T> {
  stores.memory.create();
  const turn = stores.commits.turn;
  const [result, event] = stores.db.transaction(() => {
    const [made, frame] = make(stores, Date.now(), turn);
    if (!made.ok) return [made, undefined] as const;
    const body = JSON.stringify({ run_id: null, ...frame } satisfies MemoryEventFrame);
    return [made, stores.log.append(0, turn, "memory", null, body)] as const;
  });
  if (event !== undefined) live.event(event);
  embeddings.wake();
  return result;
}
