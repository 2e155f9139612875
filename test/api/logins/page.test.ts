// The page of a login: what it asks, which browser may come back, and from which authorization server.
import { afterAll, beforeAll, expect, test } from "vitest";
import { LoginBrowser } from "../../components/mcp/support/login-browser.ts";
import { LoginServer } from "../../components/mcp/support/login-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { bearer } from "../protocols/support/access.ts";
import { LoginStage } from "./support.ts";

const SERVERS = {
  plain: {},
  other: {},
  named: {
    metadata: () => ({ authorization_response_iss_parameter_supported: true }),
  },
  without: { metadata: () => ({ code_challenge_methods_supported: ["plain"] }) },
  silent: { metadata: () => ({ code_challenge_methods_supported: undefined }) },
  documents: { metadata: () => ({ client_id_metadata_document_supported: true }) },
};
type Name = keyof typeof SERVERS;

let stage: LoginStage;
let secure: LoginStage;
const servers = new Map<Name, LoginServer>();
beforeAll(async () => {
  for (const name of Object.keys(SERVERS) as Name[]) {
    servers.set(name, await LoginServer.start(SERVERS[name]));
  }
  const all = [...servers.values()];
  stage = await LoginStage.start(all);
  secure = await LoginStage.start(all, { PUBLIC_URL: "https://troupe.example" });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await secure[Symbol.asyncDispose]();
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
});

function the(name: Name): LoginServer {
  const server = servers.get(name);
  if (server === undefined) throw new TypeError(name);
  return server;
}

async function status(server: LoginServer): Promise<string | undefined> {
  const connections = await stage.connections();
  return connections.find((one) => one.server === server.mcp.url)?.status;
}

test("the page names the user of the login, and only the browser that continues ends it", async () => {
  const server = the("plain");
  const { authorization_url: page } = await stage.begin(server.mcp, 'ann <b>"x"</b>');
  const opened = await new LoginBrowser().read(page);
  const text = await opened.text();
  expect(opened.status).toBe(200);
  for (const part of [server.mcp.url, "acme", "ann &#60;b&#62;", server.issuer, "Continue?"]) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain("<b>");
  expect(opened.headers.get("set-cookie")).toBeNull();
  expect(opened.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");

  const human = new LoginBrowser();
  const asked = await human.continue(page);
  expect(human.setCookie).toMatch(
    /^troupe-login-\w+=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
  );
  // Another person has the address as well: each browser ends what it has begun.
  const stranger = new LoginBrowser();
  await stranger.continue(page);
  const back = (await human.read(asked.href)).headers.get("location") ?? "";
  for (const other of [new LoginBrowser(), stranger]) {
    const refused = await other.read(back);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("in another browser");
  }
  expect((await human.read(back)).status).toBe(200);
  expect((await human.read(back)).status).toBe(404);
  expect((await human.read(page)).status).toBe(404);
  expect(await stage.connections()).toMatchObject([
    { user: 'ann <b>"x"</b>', status: "connected" },
  ]);
});

test.each([
  { origin: "https://evil.example" },
  { origin: "null" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site", origin: "https://evil.example" },
])("a foreign page does not redirect its visitors: %o", async (headers) => {
  const { authorization_url: page } = await stage.begin(the("plain").mcp);
  const sent = await fetch(page, { method: "POST", redirect: "manual", headers: { ...headers } });
  expect(sent.status).toBe(403);
  expect(sent.headers.get("set-cookie")).toBeNull();
});

test("URLs that belong to no login are not found", async () => {
  const { authorization_url: page } = await stage.begin(the("plain").mcp);
  const ticket = new URL(page).searchParams.get("ticket") ?? "";
  for (const wrong of ["", "acme", "acme.x", ticket.replace("acme", "globex"), `${ticket}x`]) {
    const query = new URLSearchParams({ ticket: wrong }).toString();
    for (const method of ["GET", "POST"]) {
      const path = `/v1/connections/login?${query}`;
      expect((await stage.worker.fetch(path, { method })).status, wrong).toBe(404);
    }
  }
  // A ticket is not a state, with which logins of earlier versions came back.
  const state = new URLSearchParams({ state: ticket, code: "c" }).toString();
  expect((await stage.worker.fetch(`/v1/connections/callback?${state}`)).status).toBe(404);
});

test("the cookie belongs to one host over https", async () => {
  const { authorization_url } = await secure.begin(the("plain").mcp);
  const { pathname, search, origin } = new URL(authorization_url);
  expect(origin).toBe("https://troupe.example");
  const sent = await secure.worker.fetch(pathname + search, {
    method: "POST",
    redirect: "manual",
    headers: { origin },
  });
  expect(sent.headers.get("set-cookie")).toMatch(
    /^__Host-troupe-login-\w+=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Lax$/,
  );
});

test("each authorization server has its own callback, client and document", async () => {
  const [one, other] = [the("plain"), the("other")];
  const addresses: string[] = [];
  for (const server of [one, other]) {
    const page = (await stage.begin(server.mcp)).authorization_url;
    const asked = await new LoginBrowser().continue(page);
    const redirect = asked.searchParams.get("redirect_uri") ?? "";
    expect(redirect).toMatch(new RegExp(`^${stage.origin}/v1/connections/callback/[0-9a-f]{32}$`));
    expect(server.clients).toContainEqual(expect.objectContaining({ redirect_uris: [redirect] }));
    addresses.push(redirect);
  }
  expect(addresses[0]).not.toBe(addresses[1]);

  const page = (await secure.begin(the("documents").mcp)).authorization_url;
  const { pathname, search } = new URL(page);
  const sent = await secure.worker.fetch(pathname + search, { method: "POST", redirect: "manual" });
  const asked = new URL(sent.headers.get("location") ?? "").searchParams;
  const id = new URL(asked.get("client_id") ?? "");
  expect(id.pathname).toMatch(/^\/v1\/connections\/client\/[0-9a-f]{32}\.json$/);
  const document = await (await secure.worker.fetch(id.pathname)).json();
  expect(document).toMatchObject({
    client_id: id.href,
    redirect_uris: [asked.get("redirect_uri")],
    token_endpoint_auth_method: "none",
  });
  for (const wrong of ["x.json", "ABC", `${"a".repeat(32)}.txt`]) {
    expect((await secure.worker.fetch(`/v1/connections/client/${wrong}`)).status).toBe(404);
  }
});

test("a code of one authorization server never reaches another one", async () => {
  const [honest, attacker] = [the("plain"), the("other")];
  const human = new LoginBrowser();
  // The human believes to log in at the attacker's server, which sends the browser to the honest one.
  const asked = await human.continue((await stage.begin(attacker.mcp)).authorization_url);
  const state = asked.searchParams.get("state") ?? "";
  const honestPage = (await stage.begin(honest.mcp)).authorization_url;
  const forwarded = await new LoginBrowser().continue(honestPage);
  forwarded.searchParams.set("state", state);
  forwarded.searchParams.set("code_challenge", asked.searchParams.get("code_challenge") ?? "");
  const back = (await human.read(forwarded.href)).headers.get("location") ?? "";
  const before = attacker.asked.length;
  const refused = await human.read(back);
  expect(refused.status).toBe(422);
  expect(await refused.text()).toContain("does not come from the authorization server");
  // Nor at the address without a name.
  const again = await human.continue((await stage.begin(attacker.mcp)).authorization_url);
  const query = new URLSearchParams({
    state: again.searchParams.get("state") ?? "",
    code: new URL(back).searchParams.get("code") ?? "",
  }).toString();
  expect((await human.read(`${stage.origin}/v1/connections/callback?${query}`)).status).toBe(422);
  expect(attacker.asked.slice(before)).toEqual([]);
});

test.each([
  [undefined, 422],
  ["https://evil.example", 422],
  ["its own", 200],
])("a server that promises to identify itself has to do it: %s", async (iss, expected) => {
  const server = the("named");
  server.iss = iss === "its own" ? server.issuer : iss;
  const page = (await stage.begin(server.mcp)).authorization_url;
  const shown = await new LoginBrowser().logIn(page);
  expect(shown.status).toBe(expected);
  expect(await shown.text()).not.toContain("evil.example");
});

test.each(["without", "silent"] as const)(
  "an authorization server that does not support S256 is refused by its name: %s",
  async (name) => {
    const server = the(name);
    const init = jsonInit({ server: server.mcp.url }, "POST", bearer("acme"));
    const response = await stage.worker.fetch("/v1/connections", init);
    expect(response.status).toBe(422);
    expect(((await response.json()) as { detail: string }).detail).toContain(
      `The authorization server ${server.issuer} does not support PKCE with S256`,
    );
    expect(server.clients).toEqual([]);
  },
);

test("a client of an operator returns to the old callback URL if its issuer decides so", async () => {
  const server = the("other");
  const own = { server: server.mcp.url, client_id: "mine" };
  const init = jsonInit(own, "POST", bearer("acme"));
  const refused = await stage.worker.fetch("/v1/connections", init);
  expect(refused.status).toBe(422);
  expect(await refused.text()).toContain(`\\"issuer\\": \\"${server.issuer}\\"`);
  const begun = await stage.json<{ authorization_url: string }>("/v1/connections", {
    ...own,
    issuer: server.issuer,
  });
  const human = new LoginBrowser();
  const asked = await human.continue(begun.authorization_url);
  expect(asked.searchParams.get("redirect_uri")).toBe(`${stage.origin}/v1/connections/callback`);
  const back = (await human.read(asked.href)).headers.get("location") ?? "";
  expect((await human.read(back)).status).toBe(200);
  expect(await status(server)).toBe("connected");
});
