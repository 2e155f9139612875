import type { TenantGateway, TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import { ok, refuse, type Result } from "../../contract/result.ts";
import { TroupeError } from "../../core/errors.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import { connectionId } from "./connection-store.ts";
import type { Connections } from "./connections.ts";

/** Access to the connections for the commands. */
export interface ConnectionSource {
  /** Undefined while nothing is stored for the tenant. */
  stored: () => Connections | undefined;
  /** Creates the tenant's tables first when they do not exist. Refused while the tenant is being deleted. */
  hold: () => Result<Connections>;
}

type ConnectionMethods = Pick<
  TenantGateway,
  "startConnection" | "connections" | "deleteConnection" | "redeemLogin"
> &
  Pick<TenantOfTeam, "token">;

/** The statuses of errors that have one of their own. */
const STATUSES: Readonly<Record<string, number>> = {
  login_not_found: 404,
  too_many_connections: 409,
};

/** Commands on the connections of a tenant. */
export const connectionHandlers = {
  async startConnection({ connections: source }, input, by) {
    const held = source.hold();
    return held.ok ? attempt(() => held.value.start(input, by)) : held;
  },

  async connections({ connections: source }) {
    return ok({ connections: source.stored()?.store.list() ?? [] });
  },

  async deleteConnection({ connections: source }, id) {
    const store = source.stored()?.store;
    const found = store?.list().find(({ server }) => connectionId(server) === id);
    if (found === undefined || store === undefined) {
      return refuse(404, "connection_not_found", "There is no such connection.");
    }
    store.transaction(() => store.remove(found.server));
    return ok(null);
  },

  async redeemLogin({ connections: source }, back) {
    const connections = source.stored();
    if (connections === undefined) {
      return refuse(404, "login_not_found", "This login is unknown.");
    }
    return attempt(() => connections.redeem(back));
  },

  async token({ connections: source }, wanted) {
    const held = source.hold();
    return held.ok ? attempt(() => held.value.token(wanted)) : held;
  },
} satisfies Handlers<ConnectionMethods, { connections: ConnectionSource }>;

async function attempt<T>(run: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await run());
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    const { code, message, data } = error;
    const temporary = "retryable" in error && error.retryable === true;
    return refuse(STATUSES[code] ?? (temporary ? 502 : 422), code, message, data);
  }
}
