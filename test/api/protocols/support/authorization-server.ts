import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "../../../peers/oidc-provider.ts";

/** Where the document of a client without registration is. */
export const CLIENT_DOCUMENT = "https://client.example/oauth.json";
/** Where it gets codes. Nothing listens there: the test reads the address. */
export const REDIRECT = "http://127.0.0.1:7/callback";

/** An OpenID provider that registers any client, at which `ada` signs in and agrees to everything by herself. */
export interface AuthorizationServer extends AsyncDisposable {
  issuer: string;
  /** Signs in with the page that a client opens, and gives what the client's own address gets: the code, and who gives it. */
  signIn: (page: URL) => Promise<URLSearchParams>;
  /** Signs in with the page, and opens the client's own address, as a browser does. */
  browse: (page: URL) => Promise<void>;
}

/** Documents of clients by their addresses, which are not places that answer. */
type Documents = { readonly [url: string]: () => Response | Promise<Response> };

const TEST_CLIENT: Documents = { [CLIENT_DOCUMENT]: () => Response.json(clientDocument()) };

/** @param scopes those that there are for tokens of a resource */
export async function startAuthorizationServer(
  scopes: readonly string[],
  documents: Documents = TEST_CLIENT,
): Promise<AuthorizationServer> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    scopes: ["openid", "offline_access", ...scopes],
    cookies: { keys: ["a key of the test"] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    fetch: async (input, init) => documents[new Request(input).url]?.() ?? fetch(input, init),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope: scopes.join(" "),
          audience: resource,
          accessTokenFormat: "jwt",
        }),
        useGrantedResource: () => true,
      },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    clientBasedCORS: () => true,
  });
  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return void answer(request, response);
    void provider
      .interactionDetails(request, response)
      .then(async ({ prompt, params, grantId }) => {
        if (prompt.name === "login") {
          const result = { login: { accountId: "ada" } };
          return provider.interactionFinished(request, response, result);
        }
        const grant =
          (grantId === undefined ? undefined : await provider.Grant.find(grantId)) ??
          new provider.Grant({ accountId: "ada", clientId: String(params["client_id"]) });
        grant.addOIDCScope(String(params["scope"]));
        grant.addResourceScope(String(params["resource"]), String(params["scope"]));
        const consent = { consent: { grantId: await grant.save() } };
        return provider.interactionFinished(request, response, consent);
      });
  });
  return {
    issuer,
    signIn: async (page) => (await followToClient(page)).searchParams,
    async browse(page) {
      await (await fetch(await followToClient(page))).text();
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export function clientMetadata(name: string) {
  return {
    client_name: name,
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

function clientDocument(): object {
  return { client_id: CLIENT_DOCUMENT, ...clientMetadata("Client with a document") };
}

/** Follows the pages as a browser does, with its cookies, to the client's own address. */
async function followToClient(page: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = page;
  while (at.origin === page.origin) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(at, { redirect: "manual", headers: { cookie } });
    for (const one of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${at.href}: ${await response.text()}`);
    at = new URL(location, at);
  }
  return at;
}
