import { MAX_PUSH_CONFIGS } from "../../../contract/constants.ts";
import type { PushConfig, SecretPushConfig } from "../../../contract/push.ts";
import { ok, refuse, type Result, runNotFound } from "../../../contract/result.ts";
import { shownWebhookUrl } from "../../../secrets/webhook-url.ts";
import type { StoredRun } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";
import type { RunEngine } from "../run-engine.ts";
import { pushedTo } from "../run-state.ts";

/** The push notification configs of runs, with sealed headers. */
export class RunPushConfigs {
  readonly #stores: Stores;
  readonly #engine: Pick<RunEngine, "active">;

  constructor(stores: Stores, engine: Pick<RunEngine, "active">) {
    this.#stores = stores;
    this.#engine = engine;
  }

  /** Adds a config, or replaces the one with its id. */
  put(id: string, config: SecretPushConfig): Result<null> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const others = (run.record.push ?? []).filter((one) => one.id !== config.id);
    if (others.length >= MAX_PUSH_CONFIGS) {
      return refuse(
        409,
        "too_many_push_configs",
        `The run has ${MAX_PUSH_CONFIGS} push notification configs, the most that are allowed.`,
      );
    }
    this.#set(run, [...others, config]);
    return ok(null);
  }

  /** The configs of a run, without their headers. */
  of(id: string): Result<PushConfig[]> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok(
      (run.record.push ?? []).map(({ headers: _headers, url, ...config }) => ({
        ...config,
        url: shownWebhookUrl(url),
      })),
    );
  }

  delete(id: string, config: string): Result<null> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const { push = [] } = run.record;
    const others = push.filter((one) => one.id !== config);
    if (others.length < push.length) {
      this.#stores.db.transaction(() => {
        this.#set(run, others);
        this.#stores.announcer.pushDeleted(id, config);
      });
    }
    return ok(null);
  }

  #set({ seq, record }: StoredRun, push: readonly SecretPushConfig[]): void {
    // The record of the active run is ahead of the stored one.
    const { active } = this.#engine;
    if (active?.record.id === record.id) active.store(pushedTo(active.record, push));
    else this.#stores.runs.update({ seq, record: pushedTo(record, push) });
  }
}
