import * as z from "zod";
import {
  BaseChatAgent,
  type ChatMessage,
  createMessage,
  registerComponent,
  type AgentResponse,
  type TurnContext,
} from "troupe";
import app, { MemoryObject, TeamObject, TenantObject } from "troupe/worker";

/** Twice the time that the kit waits for a stream, in milliseconds. */
const LONG_MS = 5_000;

type Answer = Pick<ChatMessage, "type" | "content">;

const HELLO: Answer = { type: "TextMessage", content: "Hello from TCK" };

/** What is answered, by the beginning of a message's id. */
const ANSWERS: readonly [string, Answer][] = [
  ["tck-artifact-text", { type: "TextMessage", content: "Generated text content" }],
  ["tck-artifact-data", { type: "StructuredMessage[Kit]", content: { key: "value", count: 42 } }],
  [
    "tck-artifact-file",
    {
      type: "MultiModalMessage",
      content: [{ data: btoa("Generated"), name: "output.txt", media_type: "text/plain" }],
    },
  ],
];

/** An agent that does what the A2A kit asks for by the beginning of a message's id. */
class KitAgent extends BaseChatAgent {
  static readonly component = {
    provider: "test.KitAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema: z.object({ name: z.string() }),
    fromConfig: ({ name }: { name: string }) => new KitAgent(name, "Does what the kit asks for."),
  } as const;

  readonly definition = KitAgent.component;
  readonly producedMessageTypes = ["TextMessage", "MultiModalMessage", "StructuredMessage[Kit]"];

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<never, AgentResponse> {
    yield* [];
    const asked = messages.at(-1)?.id ?? "";
    const is = (beginning: string): boolean => asked.startsWith(beginning);
    if (is("tck-input-required")) {
      await ctx.ask({ id: ctx.id(), kind: "input", source: this.name, prompt: "What else?" });
    }
    if (is("tck-reject-task")) throw new Error("rejected");
    if (is("test-resubscribe-message-id")) {
      await ctx.step("long", async () => {
        await new Promise((resolve) => setTimeout(resolve, LONG_MS));
        return null;
      });
    }
    const { type, content } = ANSWERS.find(([beginning]) => is(beginning))?.[1] ?? HELLO;
    const chatMessage = createMessage<ChatMessage>(ctx, { type, source: this.name, content });
    return { chatMessage, innerMessages: null };
  }

  onReset(): Promise<void> {
    return Promise.resolve();
  }

  toConfig(): { name: string } {
    return { name: this.name };
  }
}

registerComponent(KitAgent.component);

export { MemoryObject, TeamObject, TenantObject };
export default app;
