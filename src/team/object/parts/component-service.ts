import type { ComponentModel } from "../../../core/component/component-model.ts";
import { ComponentError, StateError, TroupeError } from "../../../core/errors.ts";
import type { Runnable } from "../../../core/run/runnable.ts";
import { migrateState } from "../../../core/state/migrate-state.ts";
import {
  componentReplaced,
  invalidCursor,
  ok,
  type Result,
  versionNotFound,
} from "../../../contract/result.ts";
import type { ReplaceOptions } from "../../../contract/gateways/team-gateway.ts";
import type { TeamInfo } from "../../../contract/team.ts";
import type {
  TeamVersion,
  TeamVersionPage,
  VersionChanges,
  VersionWithComponent,
} from "../../../contract/team/version.ts";
import type { ComponentSecrets } from "../../../secrets/component-secrets.ts";
import { type BuildReadable, type BuildTeam, runPartsOf } from "../../engine/team-cache.ts";
import type { Stores } from "../../storage/stores.ts";
import { TeamState } from "../../storage/team-state.ts";
import { type IdleChanges, resetAlone } from "./idle-changes.ts";
import { requireNone } from "./state-fit.ts";

export interface ComponentServiceOptions {
  stores: Stores;
  changes: IdleChanges;
  build: BuildTeam;
  buildReadable: BuildReadable;
  secrets: ComponentSecrets;
  info: () => TeamInfo;
}

/** The team's component and its versions. */
export class ComponentService {
  readonly #stores: Stores;
  readonly #changes: IdleChanges;
  readonly #build: BuildTeam;
  readonly #buildReadable: BuildReadable;
  readonly #secrets: ComponentSecrets;
  readonly #info: () => TeamInfo;

  constructor({ stores, changes, build, buildReadable, secrets, info }: ComponentServiceOptions) {
    this.#stores = stores;
    this.#changes = changes;
    this.#build = build;
    this.#buildReadable = buildReadable;
    this.#secrets = secrets;
    this.#info = info;
  }

  /**
   * Replaces the component; the new one takes over the state. A version that may not be replaced is refused, unless it is this
   * component already: the request was repeated.
   */
  replace(component: ComponentModel, options: ReplaceOptions = {}): Promise<Result<TeamInfo>> {
    const seal = (): Promise<ComponentModel> =>
      this.#secrets.seal(component, this.#stores.team.component);
    return this.#replace(seal, null, options);
  }

  /** Replaces the component by that of a version. */
  async restore(version: string, options: ReplaceOptions = {}): Promise<Result<TeamInfo>> {
    const earlier = this.#stores.versions.component(numberOf(version));
    if (earlier === undefined) return versionNotFound();
    const seal = (): Promise<ComponentModel> =>
      this.#secrets.restore(earlier, this.#stores.team.component);
    return this.#replace(seal, `Version ${version} restored.`, options);
  }

  page({ cursor, limit }: { cursor?: string | undefined; limit: number }): Result<TeamVersionPage> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : numberOf(cursor);
    if (before === 0) return invalidCursor();
    const found = this.#stores.versions.before(before, limit + 1);
    const versions = found.slice(0, limit);
    const last = versions.at(-1);
    const more = found.length > limit && last !== undefined;
    return ok({ versions, next_cursor: more ? String(last.component_version) : null });
  }

  version(version: string): Result<VersionWithComponent> {
    const found = this.sealedVersion(version);
    if (!found.ok) return found;
    return ok({ ...found.value, component: this.#secrets.redact(found.value.component) });
  }

  sealedVersion(version: string): Result<VersionWithComponent> {
    const { versions } = this.#stores;
    const n = numberOf(version);
    const found = versions.get(n);
    const component = versions.component(n);
    return found && component ? ok({ ...found, component }) : versionNotFound();
  }

  changeVersion(version: string, changes: VersionChanges): Result<TeamVersion> {
    const changed = this.#stores.db.transaction(() =>
      this.#stores.versions.change(numberOf(version), changes),
    );
    return changed ? ok(changed) : versionNotFound();
  }

  async #replace(
    seal: () => Promise<ComponentModel>,
    note: string | null,
    { by, versions }: ReplaceOptions,
  ): Promise<Result<TeamInfo>> {
    const { component_version } = this.#stores.team.record;
    if (versions !== undefined && !versions.includes(String(component_version))) {
      return (await this.#has(seal)) ? ok(this.#info()) : componentReplaced(component_version);
    }
    return this.#changes.whileIdle(async () => {
      const { announcer, questions } = this.#stores;
      const sealed = await seal();
      const runnable = await this.#build(sealed);
      const state = await this.#takeOver(runnable, sealed.provider);
      const open = { runnable, state, runs: true, ...runPartsOf(runnable, this.#stores) };
      return () => {
        this.#changes.store(open, "same", (turn) => {
          this.#stores.versions.replace(sealed, turn, { by: by ?? null, note });
          questions.withdrawApprovals();
          announcer.team();
        });
        return this.#info();
      };
    });
  }

  /** True if the stored component is this one, with the same secrets. */
  async #has(seal: () => Promise<ComponentModel>): Promise<boolean> {
    try {
      const both = [await seal(), this.#stores.team.component];
      const opened = await Promise.all(both.map((one) => this.#secrets.open(one)));
      return new Set(opened.map((one) => JSON.stringify(one))).size === 1;
    } catch (error) {
      if (error instanceof TroupeError) return false;
      throw error;
    }
  }

  /** Transfers the state to the team of another component. @throws StateError */
  async #takeOver(runnable: Runnable, provider: string): Promise<TeamState> {
    const { commits, team } = this.#stores;
    const state = new TeamState(this.#stores, runnable, "replaced");
    const commit = commits.last;
    if (commit === undefined) return state;
    let present: Runnable;
    let blank: Runnable;
    try {
      // As it was committed, for a retry.
      present = (await this.#changes.fresh("committed")).runnable;
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
}

/** The number of a version; 0, which none has, for anything else. */
function numberOf(version: string): number {
  return /^[1-9]\d{0,15}$/.test(version) ? Number(version) : 0;
}
