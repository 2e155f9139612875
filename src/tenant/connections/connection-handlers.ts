import type { TenantGateway, TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import { ok, refuse, type Result } from "../../contract/result.ts";
import { TroupeError } from "../../core/errors.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import { invalidCursor } from "../directory/cursor.ts";
import type { Connections } from "./connections.ts";
import { type PendingLogins, unknownLogin } from "./pending-logins.ts";

/** Access to the connections for the commands. */
export interface ConnectionSource {
  /** Undefined while nothing is stored for the tenant. */
  stored: () => Connections | undefined;
  /** Creates the tenant's tables first when they do not exist. Refused while the tenant is being deleted. */
  hold: () => Result<Connections>;
}

type ConnectionMethods = Pick<
  TenantGateway,
  | "startConnection"
  | "connections"
  | "deleteConnection"
  | "loginPage"
  | "continueLogin"
  | "redeemLogin"
> &
  Pick<TenantOfTeam, "token" | "login">;

/** The statuses of errors that have one of their own. */
const STATUSES: Readonly<Record<string, number>> = {
  login_not_found: 404,
  login_in_other_browser: 403,
  too_many_connections: 409,
};

/** Commands on the connections of a tenant. */
export const connectionHandlers = {
  async startConnection({ connections: source }, input, by) {
    const held = source.hold();
    return held.ok ? attempt(() => held.value.start(input, by)) : held;
  },

  async connections({ connections: source }, query) {
    const stored = source.stored();
    if (stored !== undefined) return stored.store.page(query);
    return query.cursor === undefined
      ? ok({ connections: [], next_cursor: null })
      : invalidCursor();
  },

  async deleteConnection({ connections: source }, id, users) {
    const connections = source.stored();
    const found = connections?.store.find(id, users);
    if (found === undefined || connections === undefined) {
      return refuse(404, "connection_not_found", "There is no such connection.");
    }
    await connections.remove(found);
    return ok(null);
  },

  loginPage: ({ connections: source }, ticket) => ofLogin(source, (login) => login.page(ticket)),

  continueLogin: ({ connections: source }, ticket) =>
    ofLogin(source, (login) => login.continue(ticket)),

  redeemLogin: ({ connections: source }, back) => ofLogin(source, (login) => login.redeem(back)),

  async login({ connections: source }, key) {
    const connections = source.stored();
    return connections === undefined ? ok(null) : attempt(() => connections.held(key));
  },

  async token({ connections: source }, wanted) {
    const held = source.hold();
    return held.ok ? attempt(() => held.value.token(wanted)) : held;
  },
} satisfies Handlers<ConnectionMethods, { connections: ConnectionSource }>;

/** Does something with a login that has begun. */
async function ofLogin<T>(
  source: ConnectionSource,
  run: (pending: PendingLogins) => Promise<T>,
): Promise<Result<T>> {
  const connections = source.stored();
  return attempt(() => {
    if (connections === undefined) throw unknownLogin();
    return run(connections.pending);
  });
}

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
