import { type Refused, refuse } from "../../contract/result.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";

/** The size of the data in objects of one kind, as they have reported it. */
interface Reported {
  readonly storedBytes: number;
}

/** The bytes that all objects of a tenant store: its teams and its memories. */
export class StoredBytes {
  readonly #parts: readonly Reported[];

  constructor(...parts: readonly Reported[]) {
    this.#parts = parts;
  }

  get total(): number {
    return this.#parts.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
  }

  /** The refusal of what would store more; undefined below the limit. */
  refuse({ stored_bytes: value }: TenantLimits): Refused | undefined {
    // The sum is not made for a tenant without the limit.
    if (value === null) return undefined;
    const { total } = this;
    if (total < value) return undefined;
    return refuse(
      507,
      "too_many_stored_bytes",
      `The tenant stores ${total} bytes in all; its limit stored_bytes is ${value}. Delete teams, collections or memories that are not used, or have the limit raised.`,
      { limit: "stored_bytes", value },
    );
  }
}
