import type { LoginKey, LoginPage } from "../../../contract/gateways/tenant-gateway.ts";
import type { Problem } from "../../../contract/problem.ts";
import { escaped, htmlPage } from "./html-page.ts";

/** Asks a human whether to log in, for whom it is and what can use it then. */
export function loginPage({ tenant, server, user, issuer }: LoginPage): Response {
  const { host, href } = new URL(server);
  const facts = [
    ["Server", href],
    ["Tenant", tenant],
    ["User", user ?? "none: the login is the tenant's"],
    ["You log in at", issuer],
  ];
  const list = facts
    .map(([name, value]) => `<dt>${escaped(name ?? "")}</dt><dd>${escaped(value ?? "")}</dd>`)
    .join("");
  return page(
    200,
    `Log in at ${host}?`,
    `<dl>${list}</dl><p>${escaped(useOf({ server, user }, tenant))} They will act there with your account. Continue only if you want that, and know who sent you this address.</p><p>Continue?</p><form method="post"><button>Continue</button></form>`,
  );
}

export function connectedPage({ tenant, server, user }: LoginKey & { tenant: string }): Response {
  const text = `${useOf({ server, user }, tenant)} Those that wait for it continue. You can close this page.`;
  return page(200, `Connected to ${new URL(server).host}`, `<p>${escaped(text)}</p>`);
}

export function problemPage({ status, detail }: Problem): Response {
  const text = `${detail} If nothing else helps, begin a new login.`;
  return page(status, "The login was not completed", `<p>${escaped(text)}</p>`);
}

function useOf({ user }: LoginKey, tenant: string): string {
  return user === null
    ? `All runs of the tenant "${tenant}" that have no user can use this login.`
    : `Runs for the user "${user}" of the tenant "${tenant}" can use this login, and no others.`;
}

/**
 * A page of a login. It has no `form-action`: browsers apply that to where a form is redirected, and an authorization server
 * may redirect anywhere. Browsers name the page in `Origin` only if it may send a referrer.
 */
function page(status: number, title: string, content: string): Response {
  return htmlPage(status, title, content, { "referrer-policy": "same-origin" });
}
