import { type Arming, MARK, type Marker } from "./protocol.ts";

/**
 * Spins about this often. Date.now() stands still while code runs, so time cannot be measured; on a fast machine it
 * is half a second, far more than the harness needs to kill the process.
 */
const SPINS = 1_000_000_000;

/** Observes a storage from outside: labels each write, reports its durability, and stops at the armed point. */
export class StorageProbe {
  readonly #arming: Arming;
  readonly #storage: DurableObjectStorage;
  readonly #prefix: string;
  readonly #counts = new Map<string, number>();
  readonly #onWrite: (what: string) => void;

  /**
   * @param prefix what the labels begin with
   * @param onWrite called with each write, without the prefix
   */
  constructor(
    storage: DurableObjectStorage,
    arming: Arming,
    prefix: string,
    onWrite: (what: string) => void,
  ) {
    this.#storage = storage;
    this.#arming = arming;
    this.#prefix = prefix;
    this.#onWrite = onWrite;
  }

  /** The same storage, observed. */
  wrap(): DurableObjectStorage {
    const storage = this.#storage;
    const sql = overlay(storage.sql, {
      exec: (query: string, ...bindings: unknown[]) => {
        const cursor = storage.sql.exec(query, ...bindings);
        this.#executed(query, bindings);
        return cursor;
      },
    });
    return overlay(storage, {
      sql,
      // Alarms may come early and more than once; in production the heartbeat is too slow to wait for.
      setAlarm: (time: number | Date, options?: DurableObjectSetAlarmOptions) => {
        const soon = Date.now() + this.#arming.heartbeatMs;
        const done = storage.setAlarm(Math.min(Number(time), soon), options);
        this.#wrote("set alarm");
        return done;
      },
      deleteAlarm: (options?: DurableObjectSetAlarmOptions) => {
        const done = storage.deleteAlarm(options);
        this.#wrote("delete alarm");
        return done;
      },
    });
  }

  #executed(query: string, bindings: readonly unknown[]): void {
    const [, verb, table] =
      /^\s*(insert|update|delete|replace)\s+(?:or\s+\w+\s+)?(?:into\s+|from\s+)?"?(\w+)/i.exec(
        query,
      ) ?? [];
    if (verb === undefined || table === undefined) return;
    if (table === "step" && verb === "insert") this.#step(bindings);
    else this.#wrote(`${verb.toLowerCase()} ${table}`);
  }

  /** Columns of the table: key, state, attempt, policy, fingerprint, result. */
  #step([key, state, , policy, , result]: readonly unknown[]): void {
    this.#wrote(`step ${String(state)} ${String(policy)}`);
    if (state !== "done") return;
    void this.#storage
      .sync()
      .then(() => emit({ kind: "recorded", key: String(key), result: String(result) }));
  }

  #wrote(what: string): void {
    this.#onWrite(what);
    const label = this.#prefix + what;
    const occurrence = (this.#counts.get(label) ?? 0) + 1;
    this.#counts.set(label, occurrence);
    emit({ kind: "write", label, occurrence });
    const { point } = this.#arming;
    if (point?.label !== label || point.occurrence !== occurrence) return;
    if (point.mode === "lost") stop();
    else void this.#storage.sync().then(stop);
  }
}

function stop(): void {
  emit({ kind: "kill" });
  let spun = 0;
  while (spun < SPINS) spun++;
}

export function emit(marker: Marker): void {
  console.log(MARK + JSON.stringify(marker));
}

/** A proxy, because methods of the runtime's objects insist on their real `this`. */
function overlay<T extends object>(target: T, replaced: Record<string, unknown>): T {
  return new Proxy(target, {
    get(_target, property) {
      if (typeof property === "string" && Object.hasOwn(replaced, property)) {
        return replaced[property];
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
