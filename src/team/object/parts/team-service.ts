import type { JsonObject } from "../../../core/json.ts";
import { addCosts, totalCost } from "../../../contract/usage/model-usage.ts";
import { shownConversation } from "../../../contract/team/shown-conversation.ts";
import { addUsage } from "../../../core/models/request-usage.ts";
import type { MessagePage, MessageQuery, TeamInfo } from "../../../contract/team.ts";
import { ok, refuseInput, type Result, stateTooLarge } from "../../../contract/result.ts";
import type { ComponentSecrets } from "../../../secrets/component-secrets.ts";
import type { RunEngine } from "../../engine/run-engine.ts";
import type { TeamCache } from "../../engine/team-cache.ts";
import type { StateTarget } from "../../state-parts/state-target.ts";
import { type IdleChanges, resetAlone } from "./idle-changes.ts";
import { isDocumentSized, isSmallDocument, requireKind } from "./state-fit.ts";
import { type Stores, sentToEndedRuns } from "../../storage/stores.ts";

export interface TeamServiceOptions {
  stores: Stores;
  engine: RunEngine;
  cache: TeamCache;
  changes: IdleChanges;
  secrets: ComponentSecrets;
  stateParts: StateTarget;
}

/** The team operations of the gateway: state, conversation. */
export class TeamService {
  readonly #stores: Stores;
  readonly #engine: RunEngine;
  readonly #cache: TeamCache;
  readonly #changes: IdleChanges;
  readonly #secrets: ComponentSecrets;
  readonly #stateParts: StateTarget;

  constructor({ stores, engine, cache, changes, secrets, stateParts }: TeamServiceOptions) {
    this.#stores = stores;
    this.#engine = engine;
    this.#cache = cache;
    this.#changes = changes;
    this.#secrets = secrets;
    this.#stateParts = stateParts;
  }

  info(): TeamInfo {
    const { record, component } = this.#stores.team;
    const active = this.#engine.active;
    const status = active?.record.status;
    const used = active?.usage;
    const cost = record.cost ?? null;
    return {
      id: record.id,
      label: record.label,
      metadata: record.metadata,
      component: this.#secrets.redact(component),
      component_version: record.component_version,
      status: status === "running" || status === "waiting" || status === "paused" ? status : "idle",
      active_run: active?.record.id ?? null,
      usage: used ? addUsage(record.usage, used.usage) : record.usage,
      cost: used ? addCosts(cost, totalCost(used.models)) : cost,
      turn: this.#stores.commits.turn,
      forked_from: record.forked_from,
      conversation: shownConversation(record.conversation),
      user: record.user ?? null,
      expires_in: record.expires_in ?? null,
      created_at: record.created_at,
      updated_at: record.updated_at,
    };
  }

  async reset(): Promise<Result<TeamInfo>> {
    return this.#changes.whileIdle(async () => {
      const open = await this.#changes.fresh();
      await resetAlone(open.runnable);
      return () => {
        // A reset keeps the board as people see it, with the changes that no agent has read.
        open.board?.readIncoming();
        this.#changes.store(open, "none", () => this.#newEpoch());
        return this.info();
      };
    });
  }

  async loadState(state: JsonObject): Promise<Result<null>> {
    return this.#changes.whileIdle(async () => {
      const open = await this.#changes.fresh();
      requireKind(state, open.runnable.saveState());
      open.runnable.loadState(state);
      return () => {
        this.#changes.store(open, "loaded", (turn) => {
          this.#newEpoch();
          this.#stores.log.adopt(turn, open.runnable.conversation());
        });
        return null;
      };
    });
  }

  /** Makes the parts that are staged the state. Once they are, the same request finds it done. */
  async commitStagedState(state: string): Promise<Result<null>> {
    const refused = this.#stateParts.refuseCommit(state);
    if (refused !== undefined) return refused === "done" ? ok(null) : refused;
    return this.#changes.whileIdle(async () => () => {
      const { board, commits, db, steering } = this.#stores;
      db.transaction(
        () => {
          this.#newEpoch();
          steering.remove(steering.all);
          board.clear();
          this.#stateParts.commit(commits.turn + 1);
        },
        () => this.#stateParts.forget(),
      );
      this.#cache.drop();
      return null;
    });
  }

  /**
   * The state of the last commit, even in the middle of a turn, with what people have sent and changed since and the next run
   * reads first. Refused while the component cannot be built.
   */
  async saveState(): Promise<Result<JsonObject>> {
    try {
      if (!isDocumentSized(this.#stores)) return stateTooLarge();
      const state = await this.#savedState();
      return isSmallDocument(state) ? ok(state) : stateTooLarge();
    } catch (error) {
      return refuseInput(error);
    }
  }

  /** Loads the team into memory, if it can be built. */
  async load(): Promise<void> {
    await this.#cache.open().catch(() => undefined);
  }

  /** The visible state of the team, as of its last commit; `{}` until it was loaded. */
  visibleState(): JsonObject {
    return this.#cache.visibleState;
  }

  messages(query: MessageQuery): MessagePage {
    const { log } = this.#stores;
    const messages = log.messages(query);
    const turn = query.turn === undefined ? {} : { turn: query.turn };
    const isMore = (cursor: { after: number } | { before: number }): boolean =>
      log.messages({ ...turn, ...cursor, limit: 1 }).length > 0;
    const first = messages.at(0);
    const last = messages.at(-1);
    return {
      messages,
      next_after: last && isMore({ after: last.seq }) ? last.seq : null,
      next_before: first && isMore({ before: first.seq }) ? first.seq : null,
    };
  }

  async #savedState(): Promise<JsonObject> {
    const { runnable, board } = await this.#changes.fresh();
    const sent = sentToEndedRuns(this.#stores);
    if (sent.length > 0) runnable.hear?.(sent.map(({ message }) => message));
    board?.readIncoming();
    const state = runnable.saveState();
    await runnable.close();
    return state;
  }

  #newEpoch(): void {
    const { team, steps } = this.#stores;
    steps.clear();
    team.save({ epoch: team.record.epoch + 1 });
  }
}
