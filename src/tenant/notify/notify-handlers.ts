import type { TenantGateway } from "../../contract/gateways/tenant-gateway.ts";
import { ok } from "../../contract/result.ts";
import type { NotifyInfo } from "../../contract/notify.ts";
import type { Sealer } from "../../secrets/sealer.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import type { NotifyStore, TeamReceiver } from "./notify-store.ts";

/** Access to the receivers for the commands. */
export interface NotifySource {
  /** Undefined while nothing is stored for the tenant. */
  stored: () => NotifyStore | undefined;
  /** Creates the tenant's tables first when they do not exist. */
  hold: () => NotifyStore;
  sealer: Sealer;
}

/** The receivers of messages about teams. */
export const notifyHandlers = {
  async putNotify({ notify: { stored, hold, sealer } }, team, given) {
    const { sealReceivers } = await import("../../notify/seal-receivers.ts");
    const sealed = await sealReceivers(given, stored()?.of(team) ?? [], sealer);
    if (!sealed.ok) return sealed;
    const store = hold();
    store.put(team, sealed.value);
    return ok(shown(store.of(team)));
  },

  notify: async ({ notify: { stored } }, team) => shown(stored()?.of(team) ?? []),

  async dropNotify({ notify: { stored } }, team) {
    stored()?.drop(team);
  },
} satisfies Handlers<
  Pick<TenantGateway, "putNotify" | "notify" | "dropNotify">,
  { notify: NotifySource }
>;

function shown(receivers: readonly TeamReceiver[]): NotifyInfo {
  return {
    notify: receivers.map((one) => one.shown),
    states: receivers.map(({ shown: { id }, origin, disabled_reason, disabled_at }) => ({
      id,
      links: origin.answers,
      disabled_reason,
      disabled_at,
    })),
  };
}
