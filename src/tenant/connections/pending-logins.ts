import type {
  ContinuedLogin,
  LoginKey,
  LoginPage,
  LoginReturn,
} from "../../contract/gateways/tenant-gateway.ts";
import type { ConnectionInfo } from "../../contract/tenant/connection.ts";
import { issuerName, loginPageUrl } from "../../contract/tenant/oauth-client.ts";
import { toBase64Url } from "../../core/base64.ts";
import { TroupeError } from "../../core/errors.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Sealer, UnreadableWords } from "../../secrets/sealer.ts";
import { type ConnectionStore, type PendingLogin, shownConnection } from "./connection-store.ts";
import { type BegunLogin, clientForm, connected, type OAuth } from "./grants.ts";
import type { LoginAnswers } from "./login-answers.ts";

/** The validity of a login's address: a run may wait over a weekend. */
const LOGIN_MS = 7 * 86_400_000;

const SECRET_BYTES = 32;

/** Browsers that may have continued a login and not come back yet; above that the first one is forgotten. */
const MOST_BROWSERS = 5;

/** Digits of a hash in the name of a cookie: a browser may have several logins under way. */
const NAME_LENGTH = 16;

export interface PendingOptions {
  tenant: string;
  store: ConnectionStore;
  sealer: Sealer;
  oauth: () => OAuth;
  answers: LoginAnswers;
}

/** Runs one thing at a time for each login. */
type InTurn = <T>(key: LoginKey, run: () => Promise<T>) => Promise<T>;

/**
 * Logins that have begun. Each has a page, whose address holds a ticket. Whoever has the address may open it, with any browser.
 * The one that continues there gets a `state` and a cookie of its own, and only it can bring back an answer.
 */
export class PendingLogins {
  readonly #options: PendingOptions;
  readonly #store: ConnectionStore;
  readonly #inTurn: InTurn;

  constructor(options: PendingOptions, inTurn: InTurn) {
    this.#options = options;
    this.#store = options.store;
    this.#inTurn = inTurn;
  }

  /** A login with its page. `add` stores it, in the caller's transaction. */
  async prepare(
    key: LoginKey,
    { url, issuer, shared }: BegunLogin,
    { grant, started_by, base_url }: { grant: JsonObject; started_by: string; base_url: string },
  ): Promise<{ add: () => void; authorization_url: string; expires_at: string }> {
    const { sealer, tenant } = this.#options;
    const ticket = `${tenant}.${newSecret()}`;
    const now = Date.now();
    const until = now + LOGIN_MS;
    const pending: PendingLogin = {
      ...key,
      started_by,
      base_url,
      grant: await sealer.seal(JSON.stringify(grant)),
      until,
      page: {
        url: await sealer.seal(url),
        issuer,
        callback: shared ? null : await issuerName(issuer),
        browsers: [],
      },
    };
    const hash = await sha256Hex(ticket);
    return {
      add: () => this.#store.addPending(hash, pending, now),
      authorization_url: loginPageUrl(base_url, ticket),
      expires_at: new Date(until).toISOString(),
    };
  }

  async page(ticket: string): Promise<LoginPage> {
    const { server, user, page } = this.#withPage(await sha256Hex(ticket));
    const { tenant } = this.#options;
    return { tenant, server, user, issuer: new URL(page.issuer).origin };
  }

  async continue(ticket: string): Promise<ContinuedLogin> {
    const key = await sha256Hex(ticket);
    const state = `${this.#options.tenant}.${key}.${newSecret()}`;
    const value = newSecret();
    const browser = { state: await sha256Hex(state), cookie: await sha256Hex(value) };
    const url = new URL(await this.#options.sealer.read(this.#withPage(key).page.url, LOGIN));
    url.searchParams.set("state", state);
    // The login may have ended while the address was read.
    const pending = this.#withPage(key);
    const { page, base_url } = pending;
    const browsers = [...page.browsers, browser].slice(-MOST_BROWSERS);
    this.#store.putPending(key, { ...pending, page: { ...page, browsers } });
    const secure = base_url.startsWith("https:");
    const cookie = { name: cookieName(browser.state, secure), value, secure };
    return { url: url.href, cookie };
  }

  /** Ends a login that a human has made. Each is taken once, whether or not it succeeds. */
  async redeem(back: LoginReturn): Promise<ConnectionInfo> {
    const pending = await this.#take(back);
    const { oauth, sealer, answers } = this.#options;
    const { server, user = null, base_url, started_by } = pending;
    const key = { server, user };
    return this.#inTurn(key, async () => {
      const begun = await openGrant(sealer, pending.grant);
      const { code, iss, error, callback } = back;
      const form = clientForm(base_url, callback);
      const grant = await oauth().redeem(begun, { ...form, code, iss, error, server });
      const sealed = await sealer.seal(JSON.stringify(grant));
      const before = this.#store.get(key);
      if (before === undefined) {
        // The connection was deleted meanwhile.
        await oauth().revoke(server, grant);
        throw unknownLogin();
      }
      const record = {
        ...connected(before, grant, sealed),
        login: newSecret(),
        connected_at: new Date().toISOString(),
        started_by,
      };
      this.#store.transaction(() => {
        this.#store.put(key, record);
        answers.loggedIn(key);
      });
      return shownConnection(key, record);
    });
  }

  /** Takes the login that a browser comes back from, so that no other request can take it. */
  async #take({ state, callback, cookies }: LoginReturn): Promise<PendingLogin> {
    const [, named = "", secret] = state.split(".");
    const stateHash = await sha256Hex(state);
    // Logins that earlier versions have begun are found by the whole of their state.
    const key = secret === undefined ? stateHash : named;
    const brought = await Promise.all(
      [true, false].map(async (secure) => {
        const value = cookieValue(cookies, cookieName(stateHash, secure));
        return value && sha256Hex(value);
      }),
    );
    const pending = this.#valid(key);
    const { page } = pending;
    if ((page === undefined) !== (secret === undefined)) throw unknownLogin();
    if (page !== undefined) {
      const browser = page.browsers.find((one) => one.state === stateHash);
      if (browser === undefined) throw unknownLogin();
      if (!brought.includes(browser.cookie)) throw otherBrowser();
    }
    this.#store.dropPending(key);
    if (callback !== (page?.callback ?? null)) throw foreignAnswer();
    return pending;
  }

  #withPage(key: string): PendingLogin & Required<Pick<PendingLogin, "page">> & LoginKey {
    const { page, user = null, ...pending } = this.#valid(key);
    if (page === undefined) throw unknownLogin();
    return { ...pending, user, page };
  }

  #valid(key: string): PendingLogin {
    const pending = this.#store.pending(key);
    if (pending === undefined || pending.until <= Date.now()) throw unknownLogin();
    return pending;
  }
}

/** @throws TroupeError when the key of the deployment is another one */
export async function openGrant(sealer: Sealer, sealed: string): Promise<JsonObject> {
  return JSON.parse(await sealer.read(sealed, LOGIN)) as JsonObject;
}

const LOGIN: UnreadableWords = {
  what: "The login at the MCP server",
  remedy: "delete the connection (DELETE /v1/connections/{connection}) and log in again",
};

function newSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
}

/** Browsers take cookies of the first kind from this host alone, over https. @param state the hash of `state` */
function cookieName(state: string, secure: boolean): string {
  return `${secure ? "__Host-" : ""}troupe-login-${state.slice(0, NAME_LENGTH)}`;
}

function cookieValue(header: string, name: string): string | undefined {
  for (const pair of header.split(";")) {
    const [given = "", value] = pair.trim().split("=");
    if (given === name) return value;
  }
  return undefined;
}

export function unknownLogin(): TroupeError {
  return new TroupeError(
    "login_not_found",
    "This login is unknown, over, or was already used. Begin another one on the page Connections, or with POST /v1/connections: runs that wait for a login at the server continue after it.",
  );
}

function otherBrowser(): TroupeError {
  return new TroupeError(
    "login_in_other_browser",
    "The login was continued in another browser: only that one can end it. Open the address of the login in this browser, and continue there.",
  );
}

function foreignAnswer(): TroupeError {
  return new TroupeError(
    "mcp_refused",
    "The answer does not come from the authorization server at which the login was begun.",
  );
}
