import * as z from "zod";
import { type CodeResult, codeMetadata } from "../../code/code-block.ts";
import { extractCodeBlocks } from "../../code/markdown-code.ts";
import { type AnyComponentDefinition, componentDefinition } from "../../component/component.ts";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import { jsonObjectSchema } from "../../json-object.ts";
import type { JsonObject } from "../../json.ts";
import type { TextMessage } from "../../messages/chat-messages.ts";
import { createMessage } from "../../messages/create.ts";
import type { ChatMessage, Message } from "../../messages/message.ts";
import { modelClientPart } from "../../models/model-client-part.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import { baseStateSchema, parseState } from "../../state/load-state.ts";
import { type StateParts, within } from "../../state/stateful.ts";
import { formatNotes } from "../../text/check-format.ts";
import { BaseChatAgent } from "../base-chat-agent.ts";
import type { AgentResponse } from "../chat-agent.ts";
import { codeExecutorConfigSchema, configOf, optionsFromConfig } from "./config.ts";
import { type CodeExecutorAgentOptions, executorOptionsSchema } from "./options.ts";
import { runCode } from "./run-code.ts";
import { type ExecutorSettings, settingsOf } from "./settings.ts";
import { CoderTurn } from "./turn.ts";
import { checkOptions } from "../../options/options.ts";

const RUNNER = "Runs the code it finds in fenced Markdown blocks of messages, and nothing else.";
const CODER = "Solves tasks by writing code, running it and reading what it prints.";

const stateSchema = baseStateSchema.extend({
  troupe: z.object({ llm_context: jsonObjectSchema.optional() }).optional(),
});

/**
 * An agent that runs code (AutoGen `CodeExecutorAgent`). With a model it writes the code itself, rewrites it when it
 * fails, and reports on the result; without one it runs code from messages and answers with its output.
 *
 * @example
 * const coder = new CodeExecutorAgent({ name: "coder", codeExecutor, modelClient, maxRetriesOnError: 2 });
 */
export class CodeExecutorAgent extends BaseChatAgent {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.agents.CodeExecutorAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema: codeExecutorConfigSchema,
    fromConfig: (config, loader) => new CodeExecutorAgent(optionsFromConfig(config, loader)),
    notes({ executor_prompts }) {
      const { no_code_blocks: _, ...templates } = executor_prompts ?? {};
      return formatNotes("config.executor_prompts", templates, ([key]) => key === "exit_code");
    },
  });

  readonly definition = CodeExecutorAgent.component;
  readonly producedMessageTypes = ["TextMessage"];
  readonly #settings: ExecutorSettings;

  /** @throws ValueError for a bad name, bad prompts, and retries without a model that can decide about them */
  constructor(options: CodeExecutorAgentOptions) {
    checkOptions(executorOptionsSchema, options, "CodeExecutorAgent");
    super(options.name, options.description ?? (options.modelClient ? CODER : RUNNER));
    this.#settings = settingsOf(options);
  }

  get modelContext(): ChatCompletionContext {
    return this.#settings.modelContext;
  }

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const { modelClient } = this.#settings;
    if (modelClient !== undefined) {
      return yield* new CoderTurn({ ...this.#settings, modelClient }, ctx).respond(messages);
    }
    const id = ctx.id();
    const { output, ...made } = yield* this.#runGiven(messages, id, ctx);
    return {
      chatMessage: createMessage<TextMessage>(ctx, {
        type: "TextMessage",
        id,
        source: this.name,
        metadata: codeMetadata(made),
        content: output,
      }),
      innerMessages: null,
    };
  }

  /** The model context stays, as it does in AutoGen. */
  onReset(_ctx: TurnContext): Promise<void> {
    return Promise.resolve();
  }

  override async close(): Promise<void> {
    await this.#settings.codeExecutor.close();
  }

  /** AutoGen saves nothing of this agent; its model context is under `troupe`. */
  override saveState(): JsonObject {
    return {
      ...super.saveState(),
      troupe: { llm_context: this.#settings.modelContext.saveState() },
    };
  }

  override loadState(state: JsonObject): void {
    const { troupe } = parseState(stateSchema, state, `the state of "${this.name}"`);
    const context = troupe?.llm_context;
    if (context === undefined) return;
    within("troupe.llm_context", () => this.#settings.modelContext.loadState(context));
  }

  stateParts(): StateParts {
    const { modelContext, modelClient } = this.#settings;
    return {
      children: {
        context: modelContext,
        ...(modelClient && modelClientPart(modelClient)),
      },
    };
  }

  toConfig(): JsonObject {
    return configOf(this.#settings, this.description);
  }

  async *#runGiven(
    messages: readonly ChatMessage[],
    id: string,
    ctx: TurnContext,
  ): AsyncGenerator<Message, Pick<CodeResult, "output" | "files" | "images">, void> {
    const { sources, languages, prompts } = this.#settings;
    const blocks = messages.flatMap((message) => {
      const searched = sources === null || sources.includes(message.source);
      const text = searched && message.type === "TextMessage" ? message.content : "";
      return extractCodeBlocks(text, languages);
    });
    if (blocks.length === 0) return { output: prompts.noCodeBlocks };
    return yield* runCode(this.#settings, blocks, { attempt: 0, id }, ctx);
  }
}
