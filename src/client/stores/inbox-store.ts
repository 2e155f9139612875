import type { TroupeClient } from "../teams/client.ts";
import { type ApiError, type ConnectionError } from "../http/errors.ts";
import { isHidden } from "../http/event-source.ts";
import { Store, type StoreOptions } from "./store.ts";
import { delay, isTemporary, pause } from "../http/transport.ts";
import type { Answer, AnsweredRun, ListedRequest } from "../http/wire.ts";

/** The open questions to humans, as a page shows them. */
export interface InboxState {
  /** `connecting` until the questions are loaded; `unavailable` if loading fails, see `error`. */
  status: "connecting" | "open" | "unavailable";
  /** False while the connection is lost and no changes arrive. */
  connected: boolean;
  /** Open questions over all teams, in the order of the store. */
  requests: readonly ListedRequest[];
  /** True if there are more pages. */
  hasMore: boolean;
  error: ApiError | ConnectionError | null;
}

export const CONNECTING_INBOX: InboxState = {
  status: "connecting",
  connected: false,
  requests: [],
  hasMore: false,
  error: null,
};

export interface InboxStoreOptions extends StoreOptions {
  /** Only questions of this kind. */
  kind?: ListedRequest["kind"] | undefined;
  /** Only questions of the team with this id. */
  team?: string | undefined;
  /** `created_at`: oldest first, `expires_at`: those that expire soonest first, then the others by age. Default `created_at`. */
  order?: "created_at" | "expires_at" | undefined;
  /** Questions per page, at most 200. Default 50. */
  pageSize?: number | undefined;
}

/** The interval at which a hidden page checks for questions, because its title may still show a count. */
const HIDDEN_MS = 30_000;

/**
 * The open questions to humans over all teams, for a credential with the scopes `teams:read` and `runs:read`, or one that may answer.
 * It is connected while it has subscribers.
 */
export class InboxStore extends Store<InboxState> {
  readonly #client: TroupeClient;
  readonly #kind: ListedRequest["kind"] | undefined;
  readonly #team: string | undefined;
  readonly #order: InboxStoreOptions["order"];
  readonly #pageSize: number;
  #state = CONNECTING_INBOX;
  #pages = 1;
  #refresh: () => void = () => undefined;

  constructor(client: TroupeClient, options: InboxStoreOptions = {}) {
    super(CONNECTING_INBOX, options);
    this.#client = client;
    this.#kind = options.kind;
    this.#team = options.team;
    this.#order = options.order;
    this.#pageSize = options.pageSize ?? 50;
  }

  /** Answers a question: `{ content }` for an input, `{ approved }` for an approval. */
  answer(
    { id, run_id, team_id }: Pick<ListedRequest, "id" | "run_id" | "team_id">,
    answer: Answer,
  ): Promise<AnsweredRun> {
    return this.#client.team(team_id).answer(run_id, id, answer);
  }

  /** Loads one more page of questions. */
  loadMore(): void {
    this.#pages++;
    this.#refresh();
  }

  protected override connect(signal: AbortSignal): void {
    this.#state = CONNECTING_INBOX;
    this.#pages = 1;
    const fail = (error: unknown): void => {
      if (signal.aborted) return;
      const reason = error as ApiError | ConnectionError;
      this.#set({ status: "unavailable", connected: false, error: reason });
    };
    this.#refresh = oneAtATime(() => this.#load(signal).catch(fail));
    void this.#follow(signal).catch(fail);
    if (!this.background) this.#refreshWhileHidden(signal);
  }

  protected override read(): InboxState {
    return this.#state;
  }

  /** Loads the list again after every change, whatever the change was. */
  async #follow(signal: AbortSignal): Promise<void> {
    const onConnection = (state: "open" | "lost"): void => {
      if (signal.aborted) return;
      this.#set({ connected: state === "open" });
      if (state === "open") this.#refresh();
    };
    const { background } = this;
    const changes = this.#client.events({ signal, patienceMs: Infinity, background, onConnection });
    for await (const { kind } of changes) {
      if (kind === "request" || kind === "request_closed" || kind === "team_deleted") {
        this.#refresh();
      }
    }
  }

  #refreshWhileHidden(signal: AbortSignal): void {
    const refresh = (): void => {
      if (isHidden()) this.#refresh();
    };
    const timer = setInterval(refresh, HIDDEN_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
    refresh();
  }

  async #load(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        const { requests, hasMore } = await this.#list();
        if (!signal.aborted) this.#set({ status: "open", requests, hasMore });
        return;
      } catch (error) {
        if (!isTemporary(error)) throw error;
        await pause(delay(attempt), signal);
      }
    }
  }

  async #list(): Promise<Pick<InboxState, "requests" | "hasMore">> {
    const requests: ListedRequest[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < this.#pages && (page === 0 || cursor !== null); page++) {
      const list = await this.#client.requests.list({
        kind: this.#kind,
        team: this.#team,
        order: this.#order,
        limit: this.#pageSize,
        cursor: cursor ?? undefined,
      });
      requests.push(...list.requests);
      cursor = list.next_cursor;
    }
    return { requests: this.#same(requests), hasMore: cursor !== null };
  }

  /** Only approvals by rule change; other questions that were listed before stay the same objects. */
  #same(requests: readonly ListedRequest[]): ListedRequest[] {
    const known = new Map(this.#state.requests.map((request) => [key(request), request]));
    return requests.map((request) => {
      const before = known.get(key(request));
      return before && isSame(before, request) ? before : request;
    });
  }

  #set(changes: Partial<InboxState>): void {
    this.#state = { ...this.#state, ...changes };
    this.changed();
  }
}

function isSame(before: ListedRequest, now: ListedRequest): boolean {
  const [counted, counts] = [before.approvals?.length, now.approvals?.length];
  return counted === counts && before.revision === now.revision;
}

function key({ team_id, run_id, id }: ListedRequest): string {
  return `${team_id} ${run_id} ${id}`;
}

/** Runs the task again after it ends if it was called in the meantime, so that no call is lost. */
function oneAtATime(task: () => Promise<void>): () => void {
  let again = false;
  let running = false;
  const run = async (): Promise<void> => {
    running = true;
    do {
      again = false;
      await task();
    } while (again);
    running = false;
  };
  return () => {
    again = true;
    if (!running) void run();
  };
}
