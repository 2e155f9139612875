import type { TroupeClient } from "../teams/client.ts";
import type { ApiError, ConnectionError } from "../http/errors.ts";
import { Store } from "./store.ts";
import { delay, isTemporary, pause } from "../http/transport.ts";
import type { ChangeMemory, Memory } from "../http/wire.ts";

/** The memories of a place, as a page shows them. */
export interface MemoriesState {
  /** `connecting` until the memories are loaded; `unavailable` if loading fails, see `error`. */
  status: "connecting" | "open" | "unavailable";
  /** Newest first; with `q` the best first. */
  memories: readonly Memory[];
  /** True if there are more pages. */
  hasMore: boolean;
  error: ApiError | ConnectionError | null;
}

export const CONNECTING_MEMORIES: MemoriesState = {
  status: "connecting",
  memories: [],
  hasMore: false,
  error: null,
};

export interface MemoriesStoreOptions {
  /** Default: that of `team` or `user`. */
  scope?: Memory["scope"] | undefined;
  team?: string | undefined;
  /** A token has its own. */
  user?: string | undefined;
  /** Shows what an agent would find. */
  q?: string | undefined;
  /** Memories per page, at most 200. Default 50. */
  pageSize?: number | undefined;
}

/**
 * The memories of a team, a user or the tenant. They are loaded with the first subscriber, and again after each change made
 * here.
 */
export class MemoriesStore extends Store<MemoriesState> {
  readonly #client: TroupeClient;
  readonly #options: MemoriesStoreOptions;
  #state = CONNECTING_MEMORIES;
  #pages = 1;
  #signal: AbortSignal | undefined;

  constructor(client: TroupeClient, options: MemoriesStoreOptions) {
    super(CONNECTING_MEMORIES, {});
    this.#client = client;
    this.#options = options;
  }

  async add(content: string): Promise<void> {
    const { scope, team, user } = this.#options;
    const named = team === undefined ? "user" : "team";
    await this.#client.memories.add({ scope: scope ?? named, team, user, content });
    await this.#load();
  }

  /** Corrects an entry. */
  async change(id: string, changes: ChangeMemory): Promise<void> {
    await this.#client.memories.change(id, changes);
    await this.#load();
  }

  /** Forgets an entry for good. */
  async forget(id: string): Promise<void> {
    await this.#client.memories.forget(id);
    await this.#load();
  }

  /** Loads one more page. */
  async loadMore(): Promise<void> {
    this.#pages++;
    await this.#load();
  }

  protected override connect(signal: AbortSignal): void {
    this.#signal = signal;
    this.#state = CONNECTING_MEMORIES;
    this.#pages = 1;
    void this.#load();
  }

  protected override read(): MemoriesState {
    return this.#state;
  }

  async #load(): Promise<void> {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted) return;
    for (let attempt = 0; ; attempt++) {
      try {
        const loaded = await this.#list();
        if (!signal.aborted) this.#set({ status: "open", ...loaded, error: null });
        return;
      } catch (error) {
        if (!isTemporary(error)) {
          const reason = error as ApiError | ConnectionError;
          if (!signal.aborted) this.#set({ ...this.#state, status: "unavailable", error: reason });
          return;
        }
        await pause(delay(attempt), signal);
      }
    }
  }

  async #list(): Promise<Pick<MemoriesState, "memories" | "hasMore">> {
    const { pageSize, ...place } = this.#options;
    const memories: Memory[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < this.#pages && (page === 0 || cursor !== null); page++) {
      const query = { ...place, limit: pageSize ?? 50, cursor: cursor ?? undefined };
      const list = await this.#client.memories.list(query);
      memories.push(...list.memories);
      cursor = list.next_cursor;
    }
    return { memories, hasMore: cursor !== null };
  }

  #set(state: MemoriesState): void {
    this.#state = state;
    this.changed();
  }
}
