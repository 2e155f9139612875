// Many customers, one desk: a handbook for all, and for each customer their own conversation, their own memories and a tool that
// knows who they are (docs/desk.md). On this machine:
// echo "SESSION_SECRET=$(openssl rand -base64 32)" > examples/desk/.dev.vars
// npm start -- --config examples/desk/wrangler.toml
import { Hono } from "hono";
import {
  AssistantAgent,
  defineTeam,
  dumpComponent,
  FunctionTool,
  OpenAIChatCompletionClient,
  registerTool,
  SearchCollection,
  type ToolRun,
  VectorMemory,
} from "troupe";
import { createTroupe, type Env } from "troupe/worker";
import * as z from "zod";
import { sessionFor, userOf } from "./session.ts";

interface Bindings extends Env {
  /** Signs the sessions: 32 random bytes or more. */
  SESSION_SECRET: string;
}

/** Stands in for a database. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  ann: ["teapot, sent on Monday"],
  bob: ["kettle, waits for its lid"],
};

const myOrders = new FunctionTool({
  name: "my_orders",
  description: "The orders of the customer.",
  parameters: z.object({}),
  // The user comes with the run. No argument of the model can name another one.
  execute: (_, { run }: ToolRun<Bindings>) => ORDERS[run.user ?? ""]?.join("\n") ?? "No orders.",
  policy: "retry", // a read
});
registerTool(myOrders);

const modelClient = new OpenAIChatCompletionClient({
  model: "gpt-5-mini",
  apiKey: "env:OPENAI_API_KEY",
});
defineTeam({
  name: "desk",
  description: "Answers customers.",
  task: "Where is my order?",
  component: dumpComponent(
    new AssistantAgent({
      name: "clerk",
      systemMessage:
        "You help customers of a shop. Look orders up with my_orders and rules in the handbook.",
      modelClient,
      tools: [myOrders, new SearchCollection({ collection: "handbook" })],
      memory: [new VectorMemory({ scope: "user", extract: { modelClient } })],
      maxToolIterations: 5,
    }),
  ),
});

const TENANT = "shop";

const troupe = createTroupe<Bindings>({
  basePath: "/agents",
  // A user without further rights: the own conversations, to read and to continue.
  async authenticate(request, { SESSION_SECRET }) {
    const user = await userOf(request, SESSION_SECRET);
    return user === undefined ? undefined : { tenant: TENANT, user };
  },
});
export class TeamObject extends troupe.TeamObject {}
export class TenantObject extends troupe.TenantObject {}
export class MemoryObject extends troupe.MemoryObject {}

const site = new Hono<{ Bindings: Bindings }>();

site.post("/sign-in", async (c) => {
  // A real site checks a password or asks an identity provider here.
  const { user } = z.object({ user: z.string().min(1).max(200) }).parse(await c.req.json());
  return c.body(null, 204, { "set-cookie": await sessionFor(user, c.env.SESSION_SECRET) });
});

/** A new conversation of the customer. */
site.post("/conversations", async (c) => {
  const user = await userOf(c.req.raw, c.env.SESSION_SECRET);
  if (user === undefined) return c.body(null, 401);
  // The Worker may make teams for any user; the customer reaches only the own ones.
  const { id } = await troupe.client(TENANT).teams.create({ template: "desk", user });
  return c.json({ id }, 201);
});

site.all("/agents/*", (c) => troupe.fetch(c.req.raw, c.env));

export default { fetch: site.fetch } satisfies ExportedHandler<Bindings>;
