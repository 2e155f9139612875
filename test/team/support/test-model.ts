import * as z from "zod";
import type {
  ChatCompletionClient,
  ComponentDefinition,
  ComponentModel,
  CreateOptions,
  CreateResult,
  FunctionCall,
  Json,
  JsonObject,
  LLMMessage,
  StateParts,
  Stateful,
} from "troupe";
import type { Effects } from "./effects.ts";

/** What a model answers: a function of the request, of the place where it is asked, and of the number of the call. */
export type Mind = (
  messages: readonly LLMMessage[],
  place: string,
  call: number,
) => string | FunctionCall[];

const minds = new Map<string, { effects: Effects; mind: Mind }>();

/** A model that answers as `mind` says; each call is an effect. */
export function model(effects: Effects, mind: Mind): ComponentModel {
  const name = `mind-${minds.size}`;
  minds.set(name, { effects, mind });
  return { provider: "test.Model", config: { mind: name } };
}

const configSchema = z.object({ mind: z.string() });

/** Like the replay client it counts its calls, and that is stored with the team and no part of a saved state. */
export class TestModel implements ChatCompletionClient, Stateful {
  static readonly component: ComponentDefinition<z.infer<typeof configSchema>, TestModel> = {
    provider: "test.Model",
    componentType: "model",
    role: "model",
    version: 1,
    configSchema,
    fromConfig: ({ mind }) => new TestModel(mind),
  };

  readonly definition = TestModel.component;
  readonly modelInfo = { vision: false, functionCalling: true, jsonOutput: true, family: "test" };
  readonly #name: string;
  #calls = 0;

  constructor(name: string) {
    this.#name = name;
  }

  async create(
    messages: readonly LLMMessage[],
    { idempotencyKey = "" }: CreateOptions = {},
  ): Promise<CreateResult> {
    const { effects, mind } = this.#mind;
    await effects.run(idempotencyKey);
    effects.modelCalls++;
    return asResult(messages, mind(messages, idempotencyKey, ++this.#calls));
  }

  /** Held up or broken, it is so in the middle of its text. */
  async *createStream(
    messages: readonly LLMMessage[],
    { idempotencyKey = "" }: CreateOptions = {},
  ): AsyncGenerator<string, CreateResult, void> {
    const { effects, mind } = this.#mind;
    const content = mind(messages, idempotencyKey, this.#calls + 1);
    const [first = "", ...others] = typeof content === "string" ? content.split(/(?<= )/) : [];
    if (first !== "") yield first;
    await effects.run(idempotencyKey);
    effects.modelCalls++;
    yield* others;
    this.#calls++;
    return asResult(messages, content);
  }

  countTokens(messages: readonly LLMMessage[]): Promise<number> {
    return Promise.resolve(messages.length);
  }

  remainingTokens(): Promise<number> {
    return Promise.resolve(1000);
  }

  totalUsage() {
    return { prompt_tokens: 0, completion_tokens: 0 };
  }

  replayed(): void {
    this.#calls++;
  }

  saveState(): JsonObject {
    return {};
  }

  loadState(): void {}

  stateParts(): StateParts {
    return {
      head: {
        save: () => this.#calls,
        load: (calls: Json) => {
          this.#calls = calls as number;
        },
      },
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  toConfig(): JsonObject {
    return { mind: this.#name };
  }

  get #mind(): { effects: Effects; mind: Mind } {
    const found = minds.get(this.#name);
    if (found === undefined) throw new TypeError(`no mind "${this.#name}"`);
    return found;
  }
}

function asResult(messages: readonly LLMMessage[], content: string | FunctionCall[]): CreateResult {
  return {
    finish_reason: typeof content === "string" ? "stop" : "function_calls",
    content,
    model: "priced",
    usage: { prompt_tokens: messages.length, completion_tokens: 1 },
    cached: false,
  };
}
