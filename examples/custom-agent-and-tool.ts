// An agent class of your own beside one with a function as a tool.
import {
  AssistantAgent,
  BaseChatAgent,
  type ChatMessage,
  type Component,
  createMessage,
  FunctionTool,
  isChatMessage,
  type JsonObject,
  type Message,
  ReplayChatCompletionClient,
  type AgentResponse,
  RoundRobinGroupChat,
  run,
  type TextMessage,
  toText,
  type TurnContext,
} from "troupe";
import * as z from "zod";

/** Repeats the last message in capital letters, and counts how often it did. */
class Herald extends BaseChatAgent {
  readonly definition: Component["definition"] = {
    provider: "examples.Herald",
    componentType: "agent",
    role: "agent",
    version: 1,
  };
  readonly producedMessageTypes = ["TextMessage"];
  #announced = 0;

  constructor(name: string) {
    super(name, "Announces what was said.");
  }

  // oxlint-disable-next-line require-yield
  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    this.#announced++;
    const last = messages.at(-1);
    const content = last ? toText(last).toUpperCase() : "NOTHING";
    const message = createMessage<TextMessage>(ctx, {
      type: "TextMessage",
      source: this.name,
      content: `${this.#announced}. ${content}!`,
    });
    return { chatMessage: message, innerMessages: null };
  }

  onReset(): Promise<void> {
    this.#announced = 0;
    return Promise.resolve();
  }

  override saveState(): JsonObject {
    return { announced: this.#announced };
  }

  override loadState(state: JsonObject): void {
    this.#announced = Number(state["announced"] ?? 0);
  }

  toConfig(): JsonObject {
    return { name: this.name };
  }
}

const add = new FunctionTool({
  name: "add",
  description: "Adds two numbers.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
  policy: "retry",
});

const accountant = new AssistantAgent({
  name: "accountant",
  tools: [add],
  modelClient: new ReplayChatCompletionClient(
    [
      {
        finish_reason: "function_calls",
        content: [{ id: "1", name: "add", arguments: '{"a": 19, "b": 23}' }],
        usage: { prompt_tokens: 0, completion_tokens: 0 },
        cached: false,
        logprobs: null,
        thought: null,
      },
    ],
    {
      modelInfo: {
        vision: false,
        functionCalling: true,
        jsonOutput: false,
        structuredOutput: false,
        family: "unknown",
      },
    },
  ),
});

const team = new RoundRobinGroupChat([accountant, new Herald("herald")], { maxTurns: 2 });
const { messages, stop_reason } = await run(team, { task: "What is 19 plus 23?" });
for (const message of messages) {
  const kind = isChatMessage(message) ? "says" : message.type;
  process.stdout.write(`${message.source} ${kind}: ${toText(message)}\n`);
}
process.stdout.write(`Stopped: ${stop_reason}\n`);
