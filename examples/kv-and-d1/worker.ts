// Tools and an agent that use bindings of the Worker: a KV namespace and a D1 database. On this machine:
// npx wrangler d1 migrations apply shop --local --config examples/kv-and-d1/wrangler.toml --persist-to .troupe/state
// npx wrangler kv key put greeting "Welcome!" --binding HOUSE --local --config examples/kv-and-d1/wrangler.toml --persist-to .troupe/state
// npm start -- --config examples/kv-and-d1/wrangler.toml
import {
  type AgentResponse,
  AssistantAgent,
  BaseChatAgent,
  type ChatMessage,
  type ComponentDefinition,
  createMessage,
  defineTeam,
  dumpComponent,
  FunctionTool,
  type Message,
  registerComponent,
  registerTool,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  type TextMessage,
  type ToolRun,
  type TurnContext,
} from "troupe";
import { createTroupe, type Env } from "troupe/worker";
import * as z from "zod";

/** "wrangler types" writes such an interface from wrangler.toml. */
interface Bindings extends Env {
  HOUSE: KVNamespace;
  SHOP: D1Database;
}

const inStock = new FunctionTool({
  name: "in_stock",
  description: "How many of an item there are.",
  parameters: z.object({ item: z.string() }),
  execute: ({ item }, { env }: ToolRun<Bindings>) =>
    env.SHOP.prepare("SELECT count FROM stock WHERE item = ?").bind(item).first("count"),
  policy: "retry", // a read
});

const order = new FunctionTool({
  name: "order",
  description: "Orders one of an item.",
  parameters: z.object({ item: z.string() }),
  async execute({ item }, { env, idempotencyKey }: ToolRun<Bindings>) {
    // The key is the same after a crash, so that the order is written once.
    const placed = env.SHOP.prepare("INSERT OR IGNORE INTO orders (key, item) VALUES (?, ?)");
    await placed.bind(idempotencyKey, item).run();
    return `Ordered: ${item}.`;
  },
  policy: "retry",
});

/** Says what the house says to its guests. */
class Greeter extends BaseChatAgent {
  static readonly component: ComponentDefinition<{ name: string }, Greeter> = {
    provider: "examples.Greeter",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema: z.object({ name: z.string() }),
    fromConfig: ({ name }) => new Greeter(name),
  };
  readonly definition = Greeter.component;
  readonly producedMessageTypes = ["TextMessage"];

  constructor(name: string) {
    super(name, "Greets.");
  }

  // oxlint-disable-next-line require-yield -- it says nothing before its answer
  async *onMessagesStream(
    _messages: readonly ChatMessage[],
    ctx: TurnContext<Bindings>,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const greeting = await ctx.step("greeting", () => ctx.env.HOUSE.get("greeting"));
    const chatMessage = createMessage<TextMessage>(ctx, {
      type: "TextMessage",
      source: this.name,
      content: greeting ?? "Hello.",
    });
    return { chatMessage, innerMessages: null };
  }

  async onReset() {}

  toConfig() {
    return { name: this.name };
  }
}

// The replay client stands in for a model: put an OpenAIChatCompletionClient in its place for a real one.
const calls = ["in_stock", "order"].map((name, index) => ({
  finish_reason: "function_calls" as const,
  content: [{ id: String(index), name, arguments: '{"item": "teapot"}' }],
  usage: { prompt_tokens: 0, completion_tokens: 0 },
  cached: false,
}));
const clerk = new AssistantAgent({
  name: "clerk",
  modelClient: new ReplayChatCompletionClient([...calls, "There are some; one is yours."], {
    modelInfo: {
      vision: false,
      functionCalling: true,
      jsonOutput: false,
      structuredOutput: false,
      family: "unknown",
    },
  }),
  tools: [inStock, order],
  maxToolIterations: 3,
});

registerTool(inStock);
registerTool(order);
registerComponent(Greeter.component);
defineTeam({
  name: "shop",
  description: "Greets, and sells what is in stock.",
  component: dumpComponent(new RoundRobinGroupChat([new Greeter("door"), clerk], { maxTurns: 2 })),
});

const troupe = createTroupe<Bindings>();
export class TeamObject extends troupe.TeamObject {}
export class TenantObject extends troupe.TenantObject {}
export class MemoryObject extends troupe.MemoryObject {}

export default { fetch: troupe.fetch } satisfies ExportedHandler<Bindings>;
