import * as z from "zod";
import { BaseChatAgent, createMessage } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { PNG } from "./teams.ts";
import type {
  AgentResponse,
  ChatMessage,
  ComponentDefinition,
  JsonObject,
  Message,
  MultiModalMessage,
  TextMessage,
  TurnContext,
} from "troupe";

const configSchema = z.strictObject({
  name: z.string(),
  /** What it does with its task, which is the arguments of the suite's call as JSON. */
  does: z.enum(["greet", "show", "attach", "fail", "sleep", "ask", "code"]),
  /** What it asks for, if it asks. */
  fields: z.record(z.string(), z.json()).optional(),
});
type Config = z.infer<typeof configSchema>;

/** An agent that does what a tool of the suite's example server does. */
export class Fixture extends BaseChatAgent {
  static readonly component: ComponentDefinition<Config, Fixture> = {
    provider: "conformance.Fixture",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema,
    fromConfig: (config) => new Fixture(config),
  };

  readonly definition = Fixture.component;
  readonly producedMessageTypes = ["TextMessage", "MultiModalMessage"];
  readonly #config: Config;

  constructor(config: Config) {
    super(config.name, "Stands in for a tool of the suite.");
    this.#config = config;
  }

  // oxlint-disable-next-line require-yield
  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const given = argumentsIn(messages);
    const says = (content: string): AgentResponse => ({
      chatMessage: createMessage<TextMessage>(ctx, {
        type: "TextMessage",
        source: this.name,
        content,
      }),
      innerMessages: null,
    });
    switch (this.#config.does) {
      case "greet":
        return says(`Hello, ${typeof given.name === "string" ? given.name : "world"}!`);
      case "show":
        return this.#shows(ctx, [{ data: PNG }]);
      case "attach":
        return this.#shows(ctx, [
          { data: PNG },
          { data: btoa("An embedded text."), name: "embedded.txt", media_type: "text/plain" },
        ]);
      case "code":
        return says("```sh\nbeep > beep.wav\n```");
      case "fail":
        throw new Error("This tool is failing.");
      case "ask": {
        const message = "Please fill in the form.";
        const properties = this.#config.fields ?? {};
        const { content } = (await ctx.ask({
          id: ctx.id(),
          kind: "input",
          source: this.name,
          prompt: message,
          form: { message, schema: { type: "object", properties } },
        })) as { content: string };
        return says(`Elicitation completed: ${content}`);
      }
      case "sleep":
        await ctx.step("sleep", () => slept(Number(given.seconds ?? 0), ctx.signal));
        return says("Computed.");
    }
  }

  #shows(ctx: TurnContext, parts: MultiModalMessage["content"]): AgentResponse {
    const chatMessage = createMessage<MultiModalMessage>(ctx, {
      type: "MultiModalMessage",
      source: this.name,
      content: ["Here it is.", ...parts],
    });
    return { chatMessage, innerMessages: null };
  }

  onReset(): Promise<void> {
    return Promise.resolve();
  }

  toConfig(): JsonObject {
    return { ...this.#config };
  }
}

function argumentsIn(messages: readonly ChatMessage[]): JsonObject {
  const task = messages.findLast(({ source }) => source === "user");
  const given: unknown = task?.type === "TextMessage" ? JSON.parse(task.content) : undefined;
  return isJsonObject(given) ? given : {};
}

function slept(seconds: number, signal: AbortSignal): Promise<null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), seconds * 1000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
