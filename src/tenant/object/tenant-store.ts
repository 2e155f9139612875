import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import type { Database } from "../../sqlite/database.ts";

/** The stored data of the tenant itself. */
export interface TenantRecord {
  id: string;
  label: string | null;
  /** Overrides of the deployment's limits. */
  limits: Partial<TenantLimits>;
  created_at: string;
  /** True if the registry knows it by this label. */
  registered: boolean;
  /** True while it is being deleted. Missing in tenants stored before tenants could be deleted. */
  deleting?: boolean;
  /** The last change when the teams were loaded because the clock had been ahead. */
  woken_after?: number;
}

/** The tenant's own row. */
export class TenantStore {
  readonly #db: Database;
  #record: TenantRecord | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  get exists(): boolean {
    return this.#read() !== undefined;
  }

  get record(): TenantRecord {
    const record = this.#read();
    if (record === undefined) throw new TypeError("nothing is stored of this tenant");
    return record;
  }

  create(id: string, label: string | null, now: number): void {
    this.#write({
      id,
      label,
      limits: {},
      created_at: new Date(now).toISOString(),
      registered: false,
    });
  }

  save(changes: Partial<TenantRecord>): void {
    this.#write({ ...this.record, ...changes });
  }

  #read(): TenantRecord | undefined {
    if (this.#record === undefined) {
      const row = this.#db.first<{ value: string }>("select value from meta where name = 'tenant'");
      this.#record = row && (JSON.parse(row.value) as TenantRecord);
    }
    return this.#record;
  }

  #write(record: TenantRecord): void {
    this.#db.write(
      "insert into meta values ('tenant', ?) on conflict (name) do update set value = excluded.value",
      JSON.stringify(record),
    );
    this.#record = record;
  }
}
