import type * as z from "zod";
import { connectionCommands } from "../../../contract/commands/connections.ts";
import type { LoginCookie } from "../../../contract/gateways/tenant-gateway.ts";
import {
  isIssuerName,
  oauthClientAddresses,
  oauthClientMetadata,
} from "../../../contract/tenant/oauth-client.ts";
import { isLocalHost } from "../../auth/local.ts";
import { isTenantId, type Principal } from "../../auth/principal.ts";
import { userOf } from "../access/access-control.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type CheckedRequest, type Endpoint, json } from "../endpoint/endpoint.ts";
import { ProblemError, unwrap } from "../endpoint/problem.ts";
import { type Services, tenantOf } from "../endpoint/services.ts";
import { PAGE } from "./html-page.ts";
import { connectedPage, loginPage, problemPage } from "./login-pages.ts";

/** Logins of the tenant and its users at MCP servers. */
export function connectionEndpoints(services: Services): Endpoint[] {
  const { baseUrl } = services;

  const finish = async ({ query, c }: FinishCall, callback: string | null): Promise<Response> => {
    const { state = "", code = null, iss = null, error = null } = query;
    const tenant = tenantIn(state);
    const cookies = c.req.header("cookie") ?? "";
    const back = { state, callback, cookies, code, iss, error };
    const { server, user } = unwrap(await tenantOf(services, tenant).redeemLogin(back));
    return connectedPage({ tenant, server, user });
  };

  const endpoints = commandEndpoints(connectionCommands, services, {
    async createConnection({ body, principal, c }) {
      const base = baseUrl(c.req.raw);
      requireReachable(base);
      const user = userOf(principal, body.user);
      const credential = principal.name ?? principal.id;
      const tenant = tenantOf(services, principal.tenant);
      const by = { baseUrl: base, credential };
      return json(unwrap(await tenant.startConnection({ ...body, user }, by)), 201);
    },

    async connections({ query: { user, ...page }, principal }) {
      const named = user === undefined ? undefined : userOf(principal, user);
      const users = named === undefined ? usersOf(principal) : [named];
      return json(
        unwrap(await tenantOf(services, principal.tenant).connections({ ...page, users })),
      );
    },

    async deleteConnection({ param, principal }) {
      const tenant = tenantOf(services, principal.tenant);
      unwrap(await tenant.deleteConnection(param("connection"), usersOf(principal)));
      return new Response(null, { status: 204 });
    },

    async loginPage({ query: { ticket } }) {
      const tenant = tenantOf(services, tenantIn(ticket));
      return loginPage(unwrap(await tenant.loginPage(ticket)));
    },

    async continueLogin({ query: { ticket }, c }) {
      requireOwnPage(c.req.raw, new URL(baseUrl(c.req.raw)).origin);
      const tenant = tenantOf(services, tenantIn(ticket));
      const { url, cookie } = unwrap(await tenant.continueLogin(ticket));
      return new Response(null, {
        status: 303,
        headers: {
          location: url,
          "set-cookie": cookieHeader(cookie),
          "cache-control": "no-store",
          "referrer-policy": "no-referrer",
        },
      });
    },

    finishLogin: (call) => finish(call, null),

    finishLoginAt: (call) => finish(call, call.param("issuer")),

    async clientMetadata({ c }) {
      return json(clientDocument(baseUrl(c.req.raw), null));
    },

    async clientMetadataAt({ c, param }) {
      const document = param("document");
      const name = document.replace(/\.json$/, "");
      if (name === document || !isIssuerName(name)) {
        const detail = "There is no such document: it is named ISSUER.json.";
        throw new ProblemError({ status: 404, code: "client_not_found", detail });
      }
      return json(clientDocument(baseUrl(c.req.raw), name));
    },
  });
  // A human reads them in a browser.
  return endpoints.map((one) =>
    one.scope === null && !one.path.includes("/client")
      ? { ...one, refusal: { media: PAGE, write: problemPage } }
      : one,
  );
}

type FinishCall = Pick<CheckedRequest, "c"> & {
  query: z.output<ReturnType<typeof connectionCommands.finishLogin.query>>;
};

/**
 * The users whose logins a credential may see and delete, null for the tenant's; undefined for one that may speak for
 * anybody. Records of the tenant's logins name the teams and runs that asked for them.
 */
function usersOf({ user, own_teams_of }: Principal): (string | null)[] | undefined {
  if (own_teams_of !== undefined) return [own_teams_of];
  if (user === undefined) return undefined;
  return user === null ? [null] : [null, user];
}

/** @throws ProblemError 404 for a text without a tenant */
function tenantIn(secret: string): string {
  const tenant = secret.slice(0, Math.max(0, secret.indexOf(".")));
  if (isTenantId(tenant)) return tenant;
  const detail = "The address is not that of a login.";
  throw new ProblemError({ status: 404, code: "login_not_found", detail });
}

function clientDocument(base: string, name: string | null) {
  const { redirectUrl, clientMetadataUrl } = oauthClientAddresses(base, name);
  return {
    client_id: clientMetadataUrl,
    ...oauthClientMetadata(redirectUrl),
    token_endpoint_auth_method: "none",
  };
}

/** Authorization servers send browsers to https:// addresses, and to this machine. */
function requireReachable(base: string): void {
  const { protocol, hostname } = new URL(base);
  if (protocol === "https:" || isLocalHost(hostname)) return;
  throw new ProblemError({
    status: 503,
    code: "public_url_not_configured",
    detail: `A browser cannot come back from a login to ${base}, because it is not an https:// address. Set PUBLIC_URL to the address at which browsers reach this service.`,
  });
}

/**
 * Only a human who reads the page may continue: another page could send its visitors on, who would log in for whomever it likes.
 * Browsers say which page a form was sent from.
 */
function requireOwnPage({ headers, url }: Request, base: string): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isOwn =
    site === null
      ? origin === null || origin === base || origin === new URL(url).origin
      : site === "same-origin";
  if (isOwn) return;
  throw new ProblemError({
    status: 403,
    code: "foreign_page",
    detail: "A login is continued on its own page only. Open its address, and continue there.",
  });
}

/** Seconds that a human may take at the authorization server. Its page can be opened again after that. */
const LOGIN_SECONDS = 3_600;

function cookieHeader({ name, value, secure }: LoginCookie): string {
  const attributes = [`${name}=${value}`, "Path=/", `Max-Age=${LOGIN_SECONDS}`, "HttpOnly"];
  if (secure) attributes.push("Secure");
  return [...attributes, "SameSite=Lax"].join("; ");
}
