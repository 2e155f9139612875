import type { ComponentModel } from "../../../core/component/component-model.ts";
import { ComponentError, StateError, TroupeError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import { addCosts, totalCost } from "../../../contract/usage/model-usage.ts";
import { shownConversation } from "../../../contract/team/shown-conversation.ts";
import { addUsage } from "../../../core/models/request-usage.ts";
import type { MessagePage, MessageQuery, TeamInfo } from "../../../contract/team.ts";
import {
  componentReplaced,
  ok,
  refuseInput,
  type Result,
  stateTooLarge,
  teamBusy,
} from "../../../contract/result.ts";
import { InMemoryHost } from "../../../core/run/in-memory-host.ts";
import type { Runnable } from "../../../core/run/runnable.ts";
import { TurnScope } from "../../../core/turn/turn-scope.ts";
import { migrateState } from "../../../core/state/migrate-state.ts";
import type { ComponentSecrets } from "../../../secrets/component-secrets.ts";
import type { RunEngine } from "../../engine/run-engine.ts";
import {
  type BuildReadable,
  type BuildTeam,
  type LoadedTeam,
  loadTeam,
  type TeamCache,
  runPartsOf,
} from "../../engine/team-cache.ts";
import type { StateTarget } from "../../state-parts/state-target.ts";
import { isDocumentSized, isSmallDocument, requireKind, requireNone } from "./state-fit.ts";
import { lastCommit, lastTurn, standsAtCancellation } from "../../storage/log/commits.ts";
import { TeamState } from "../../storage/team-state.ts";
import type { Stores } from "../../storage/stores.ts";

export interface TeamServiceOptions {
  stores: Stores;
  engine: RunEngine;
  cache: TeamCache;
  build: BuildTeam;
  buildReadable: BuildReadable;
  secrets: ComponentSecrets;
  stateParts: StateTarget;
}

/** The team operations of the gateway: component, state, conversation. */
export class TeamService {
  readonly #stores: Stores;
  readonly #engine: RunEngine;
  readonly #cache: TeamCache;
  readonly #build: BuildTeam;
  readonly #buildReadable: BuildReadable;
  readonly #secrets: ComponentSecrets;
  readonly #stateParts: StateTarget;

  constructor({
    stores,
    engine,
    cache,
    build,
    buildReadable,
    secrets,
    stateParts,
  }: TeamServiceOptions) {
    this.#stores = stores;
    this.#engine = engine;
    this.#cache = cache;
    this.#build = build;
    this.#buildReadable = buildReadable;
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
      turn: lastTurn(this.#stores.db),
      forked_from: record.forked_from,
      conversation: shownConversation(record.conversation),
      user: record.user ?? null,
      expires_in: record.expires_in ?? null,
      created_at: record.created_at,
      updated_at: record.updated_at,
    };
  }

  /**
   * Replaces the component; the new one takes over the state.
   *
   * @param versions those it may replace. Another one is refused, unless it is this component already: the request was repeated
   */
  async replaceComponent(
    component: ComponentModel,
    versions?: readonly string[],
  ): Promise<Result<TeamInfo>> {
    const { component_version } = this.#stores.team.record;
    if (versions !== undefined && !versions.includes(String(component_version))) {
      return (await this.#has(component)) ? ok(this.info()) : componentReplaced(component_version);
    }
    return this.#whileIdle(async () => {
      const { announcer, team, questions } = this.#stores;
      const sealed = await this.#secrets.seal(component, team.component);
      const runnable = await this.#build(sealed);
      const state = await this.#takeOver(runnable, sealed.provider);
      const open = { runnable, state, runs: true, ...runPartsOf(runnable) };
      return () => {
        this.#store(open, "same", (turn) => {
          team.replaceComponent(sealed, turn);
          questions.withdrawApprovals();
          announcer.team();
        });
        return this.info();
      };
    });
  }

  /** True if the stored component is this one, with the same secrets. */
  async #has(component: ComponentModel): Promise<boolean> {
    const stored = this.#stores.team.component;
    try {
      const given = await this.#secrets.seal(component, stored);
      const both = await Promise.all([given, stored].map((one) => this.#secrets.open(one)));
      return new Set(both.map((one) => JSON.stringify(one))).size === 1;
    } catch (error) {
      if (error instanceof TroupeError) return false;
      throw error;
    }
  }

  async reset(): Promise<Result<TeamInfo>> {
    return this.#whileIdle(async () => {
      const open = await this.#fresh();
      await resetAlone(open.runnable);
      return () => {
        this.#store(open, "none", () => this.#newEpoch());
        return this.info();
      };
    });
  }

  async loadState(state: JsonObject): Promise<Result<null>> {
    return this.#whileIdle(async () => {
      const open = await this.#fresh();
      requireKind(state, open.runnable.saveState());
      open.runnable.loadState(state);
      return () => {
        this.#store(open, "loaded", (turn) => {
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
    return this.#whileIdle(async () => () => {
      const { db } = this.#stores;
      this.#stores.transaction(
        () => {
          this.#newEpoch();
          this.#stateParts.commit(lastTurn(db) + 1);
        },
        () => this.#stateParts.forget(),
      );
      this.#cache.drop();
      return null;
    });
  }

  /** The state of the last commit, even in the middle of a turn. Refused while the component cannot be built. */
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

  /** A second instance at the last commit: the one in memory may be in the middle of a turn. */
  #fresh(state?: "committed"): Promise<LoadedTeam> {
    return loadTeam(this.#stores, this.#buildReadable, state);
  }

  async #savedState(): Promise<JsonObject> {
    const { runnable } = await this.#fresh();
    const state = runnable.saveState();
    await runnable.close();
    return state;
  }

  /** Transfers the state to the team of another component. @throws StateError */
  async #takeOver(runnable: Runnable, provider: string): Promise<TeamState> {
    const { db, texts, team } = this.#stores;
    const state = new TeamState(this.#stores, runnable, "replaced");
    const commit = lastCommit(db, texts);
    if (commit === undefined) return state;
    let present: Runnable;
    let blank: Runnable;
    try {
      // As it was committed, for a retry.
      present = (await this.#fresh("committed")).runnable;
      blank = (await this.#buildReadable(team.component)).runnable;
    } catch (error) {
      // After a deploy, for example: then the stored state has to fit as it is.
      if (!(error instanceof ComponentError)) throw error;
      if (provider !== team.component.provider) {
        throw new StateError(
          `the present component cannot be built (${error.message}); then its state fits only a component of the same provider, "${team.component.provider}"`,
        );
      }
      const stored = new TeamState(this.#stores, runnable, "continued");
      stored.requireFit();
      return stored;
    }
    // State that a reset removed from the present component cannot get lost any more.
    if (commit.empty) await resetAlone(blank);
    const issues = migrateState(runnable, present, blank);
    await Promise.all([present.close(), blank.close()]);
    requireNone(issues);
    return state;
  }

  /** Prepares a change (may await) and applies it (must not await), unless a run is active or queued. */
  async #whileIdle<T>(prepare: () => Promise<() => T>): Promise<Result<T>> {
    const { occupant } = this.#engine;
    if (occupant) return teamBusy(occupant.id);
    try {
      const change = await prepare();
      return ok(change());
    } catch (error) {
      return refuseInput(error);
    }
  }

  #store(
    open: LoadedTeam,
    conversation: "same" | "none" | "loaded",
    more: (turn: number) => void,
  ): void {
    const { db, texts, log } = this.#stores;
    const last = lastCommit(db, texts);
    const turn = (last?.turn ?? 0) + 1;
    const same = conversation === "same";
    const since = same ? (last?.since ?? 0) : log.last;
    const empty = same ? (last?.empty ?? true) : conversation === "none";
    const cancelled = same && standsAtCancellation(this.#stores);
    this.#stores.transaction(() => {
      more(turn);
      open.state.write({
        turn,
        run: 0,
        next: 0,
        time: { at: Date.now(), ran: 0 },
        usage: { prompt_tokens: 0, completion_tokens: 0 },
        event: log.last,
        since,
        empty,
        ...(cancelled && { cancelled }),
      });
    });
    open.state.committed();
    // The stored state is that of the cancelled run; the next use loads it again.
    if (cancelled) this.#cache.drop();
    else this.#cache.replace(open);
  }

  #newEpoch(): void {
    const { team, steps } = this.#stores;
    steps.clear();
    team.save({ epoch: team.record.epoch + 1 });
  }
}

/** Resets a team outside of any run. */
function resetAlone(runnable: Runnable): Promise<void> {
  return runnable.reset(TurnScope.root(new InMemoryHost({}).turn(0)));
}
