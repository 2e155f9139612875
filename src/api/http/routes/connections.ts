import { connectionCommands } from "../../../contract/commands/connections.ts";
import {
  oauthClientAddresses,
  oauthClientMetadata,
} from "../../../contract/tenant/oauth-client.ts";
import type { Problem } from "../../../contract/problem.ts";
import { isLocalHost } from "../../auth/local.ts";
import { isTenantId } from "../../auth/principal.ts";
import { commandEndpoints } from "../command-endpoints.ts";
import { type Endpoint, json } from "../endpoint.ts";
import { ProblemError, unwrap } from "../problem.ts";
import { type Services, tenantOf } from "../services.ts";

/** Logins of the tenant at MCP servers. */
export function connectionEndpoints(services: Services): Endpoint[] {
  const { baseUrl } = services;

  const endpoints = commandEndpoints(connectionCommands, services, {
    async createConnection({ body, principal, c }) {
      const base = baseUrl(c.req.raw);
      requireReachable(base);
      const credential = principal.name ?? principal.id;
      const tenant = tenantOf(services, principal.tenant);
      const by = { baseUrl: base, credential };
      return json(unwrap(await tenant.startConnection(body, by)), 201);
    },

    async finishLogin({ query: { state = "", code = null, iss = null, error = null } }) {
      const tenant = state.slice(0, Math.max(0, state.indexOf(".")));
      if (!isTenantId(tenant)) {
        const detail = "The address is not that of a login: it has no valid state.";
        throw new ProblemError({ status: 404, code: "login_not_found", detail });
      }
      const back = { state, code, iss, error };
      const { server } = unwrap(await tenantOf(services, tenant).redeemLogin(back));
      const text = `Teams of the tenant "${tenant}" can use it now. Runs that wait for it continue. You can close this page.`;
      return page(200, `Connected to ${new URL(server).host}`, text);
    },

    async clientMetadata({ c }) {
      const { redirectUrl, clientMetadataUrl } = oauthClientAddresses(baseUrl(c.req.raw));
      return json({
        client_id: clientMetadataUrl,
        ...oauthClientMetadata(redirectUrl),
        token_endpoint_auth_method: "none",
      });
    },
  });
  // A human reads it in a browser.
  return endpoints.map((one) =>
    one.path.endsWith("/callback") ? { ...one, refusal: { media: PAGE, write: problemPage } } : one,
  );
}

const PAGE = "text/html";

function problemPage({ status, detail }: Problem): Response {
  return page(status, "The login was not completed", `${detail} Begin a new login.`);
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

/** A page without scripts. */
function page(status: number, title: string, text: string): Response {
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>body{font:16px/1.5 system-ui;max-width:36rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}</style><h1>${escaped(title)}</h1><p>${escaped(text)}</p></html>`;
  return new Response(body, {
    status,
    headers: {
      "content-type": `${PAGE}; charset=utf-8`,
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
