import type { StoredMemories, TenantOfMemories } from "../../contract/gateways/tenant-gateway.ts";
import type { Refused, Result } from "../../contract/result.ts";

export interface TenantLedgerOptions {
  /** The object's name, without the tenant. */
  name: string;
  tenant: () => TenantOfMemories;
  /** The present size of the object's data. */
  stored: () => StoredMemories;
}

/** Reports to the tenant what an object of memories stores, and asks before it stores more. */
export class TenantLedger {
  readonly #options: TenantLedgerOptions;
  /** The last report of this instance to the tenant. */
  #sent: StoredMemories | undefined;
  /** Reports follow each other: a later one must not arrive before an earlier one. */
  #reporting: Promise<void> = Promise.resolve();

  constructor(options: TenantLedgerOptions) {
    this.#options = options;
  }

  /** Before a change. Refused while the tenant is being deleted and, if the change adds contents, over a limit. */
  async announce({ adds }: { adds: boolean }): Promise<Result<null>> {
    const { name, tenant, stored } = this.#options;
    await this.#reporting;
    const announcement = { bytes: stored().bytes, empty: !adds };
    const announced = await tenant().noteMemories(name, announcement);
    if (announced.ok) this.#sent = announcement;
    return announced;
  }

  /** Why an object that stores nothing may not begin to; undefined if it may. */
  async refusal(): Promise<Refused | undefined> {
    const { name, tenant } = this.#options;
    try {
      return (await tenant().refuseMemories(name)) ?? undefined;
    } catch {
      // A tenant that cannot be asked refuses nothing yet.
      return undefined;
    }
  }

  /** After a change. A report that is lost is made up for by the next one. */
  changed(): void {
    const { name, tenant, stored } = this.#options;
    const { bytes, empty } = stored();
    if (this.#sent?.bytes === bytes && this.#sent.empty === empty) return;
    this.#sent = { bytes, empty };
    this.#reporting = this.#reporting
      .then(() => tenant().memoriesChanged(name, { bytes, empty }))
      .catch(() => {
        this.#sent = undefined;
      });
  }

  /** The object no longer exists. */
  async withdraw(): Promise<void> {
    const { name, tenant } = this.#options;
    await this.#reporting;
    this.#sent = undefined;
    await tenant().dropMemories(name);
  }
}
