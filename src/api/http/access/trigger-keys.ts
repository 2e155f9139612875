import type { Tenants } from "../../../contract/gateways/tenant-gateway.ts";
import type { TriggerKeys } from "../../../contract/gateways/trigger-gateway.ts";

/** A change of a trigger holds in all isolates after this time. */
const REMEMBERED_MS = 10_000;
/** Above this number the oldest entry is removed. */
const MOST_ENTRIES = 10_000;

/** The place of a trigger. */
export interface TriggerPlace {
  tenant: string;
  team: string;
  trigger: string;
}

interface Entry {
  keys: Promise<TriggerKeys | null>;
  until: number;
}

/** An isolate's cache of the kinds and secrets of triggers, so that a flood of events asks a tenant rarely. */
export class KnownTriggers {
  readonly #entries = new Map<string, Entry>();
  readonly #tenants: Tenants;

  constructor(tenants: Tenants) {
    this.#tenants = tenants;
  }

  /** The cache over these tenants. */
  static of(tenants: Tenants): KnownTriggers {
    const known = caches.get(tenants) ?? new KnownTriggers(tenants);
    caches.set(tenants, known);
    return known;
  }

  /** Null for a trigger that does not exist. */
  keys(place: TriggerPlace, now: number): Promise<TriggerKeys | null> {
    const name = nameOf(place);
    const known = this.#entries.get(name);
    if (known !== undefined && known.until > now) return known.keys;
    const { tenant, team, trigger } = place;
    const keys = this.#tenants.tenant(tenant).triggerKeys(team, trigger);
    const entry = { keys, until: now + REMEMBERED_MS };
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    if (this.#entries.size > MOST_ENTRIES) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    // A tenant that could not be asked is asked again.
    keys.catch(() => this.#entries.get(name) === entry && this.#entries.delete(name));
    return keys;
  }

  /** Forgets a trigger that was changed here. */
  forget(place: TriggerPlace): void {
    this.#entries.delete(nameOf(place));
  }
}

const caches = new WeakMap<Tenants, KnownTriggers>();

/** One text for each place: no id has a slash. */
export function nameOf({ tenant, team, trigger }: TriggerPlace): string {
  return `${tenant}/${team}/${trigger}`;
}
