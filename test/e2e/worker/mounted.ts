// A site with a service of teams under one of its paths, its own sessions, and routes that use the teams.
import { Hono } from "hono";
import { createTroupe, type Env } from "troupe/worker";
import { catalog } from "./greeter.ts";

const troupe = createTroupe({
  catalog,
  basePath: "/agents",
  limits: { teams: 2 },
  authenticate(request) {
    const user = /(?:^|; )user=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    return user === undefined ? undefined : { tenant: user, name: user };
  },
});

export const { MemoryObject, TeamObject, TenantObject } = troupe;

const site = new Hono<{ Bindings: Env }>();
site.get("/", (c) => c.text("home"));
site.get("/greet/:user", async (c) => {
  const user = c.req.param("user");
  const team = await troupe.client(user).teams.create({ template: "greeter" });
  const { messages } = await team.run("Greet me.").result();
  return c.json({ team: team.id, said: messages.at(-1) });
});
site.mount("/mounted", (request, env: Env) => troupe.fetch(request, env));
site.all("/agents/*", (c) => troupe.fetch(c.req.raw, c.env));

export default site;
