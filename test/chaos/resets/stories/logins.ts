import { LoginServer } from "../../../components/mcp/support/login-server.ts";
import { LoginBrowser } from "../../../components/mcp/support/login-browser.ts";
import type { Session } from "../session.ts";
import { same, type Story } from "./story.ts";

interface Connections {
  connections: { id: string; status: string }[];
}

/** Logs in by the pages of a login. A page that answers 503 is loaded again; one whose login is used up begins another. */
async function logIn(session: Session, server: string): Promise<void> {
  const browser = new LoginBrowser();
  await session.until("the login succeeds", async () => {
    const { authorization_url: url } = await session.call<{ authorization_url: string }>(
      "POST",
      "/connections",
      { server },
      [200, 201],
    );
    const before = session.refusals;
    try {
      const page = await browser.logIn(url);
      const text = await page.text();
      if (page.status === 200) return true;
      session.passed(page, text);
    } catch (error) {
      session.refusedOrBroken(error);
    }
    if (session.refusals === before)
      throw new Error("the login was refused, and nothing was reset");
    return isConnected(session);
  });
}

async function isConnected(session: Session): Promise<boolean> {
  const { connections } = await session.get<Connections>("/connections");
  return connections.some(({ status }) => status === "connected");
}

/** A human logs in at an MCP server for the tenant, and the login is forgotten. */
export const LOGINS: Story = {
  name: "a login at an MCP server",
  async happens(session) {
    await using server = await LoginServer.start();
    await logIn(session, server.mcp.url);
    const { connections } = await session.get<Connections>("/connections");
    same(
      "the connections",
      connections.map(({ status }) => status),
      ["connected"],
    );
    await session.delete(`/connections/${connections[0]?.id}`);
    same("the connections at the end", await session.get("/connections"), {
      connections: [],
      next_cursor: null,
    });
  },
};
