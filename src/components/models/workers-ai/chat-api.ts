import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import { AnswerPieces } from "../http/answer-pieces.ts";
import { readAnswer, readStream, type SendOptions } from "../http/read-stream.ts";
import { noted, type RequestForms } from "../http/request-forms.ts";
import { type ModelEndpoint, send, toModelError } from "../http/send.ts";
import type { ModelApi } from "../client/http-model-client.ts";
import type { Served } from "../openai/chat-completions/completion-reader.ts";
import { RequestBodies, type RequestSettings } from "../openai/chat-completions/request-body.ts";
import { WorkersAIReader } from "./answer.ts";

export interface WorkersAISettings extends RequestSettings {
  /** True if the model has the older interface of Workers AI. */
  isNative: boolean;
}

/**
 * The models of Workers AI, which take requests like OpenAI's and answer in OpenAI's format or the service's older one.
 */
export class WorkersAIChatApi implements ModelApi {
  readonly #settings: WorkersAISettings;
  readonly #served: Served;
  readonly #bodies: RequestBodies;
  readonly #endpoint: ModelEndpoint;

  constructor(settings: WorkersAISettings, endpoint: ModelEndpoint) {
    const { model, thoughtTags, maker } = settings;
    this.#settings = settings;
    this.#served = { model, thoughtTags, maker };
    this.#bodies = new RequestBodies(settings);
    this.#endpoint = endpoint;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult> {
    const forms = this.#bodies.write(messages, options, false);
    const reader = new WorkersAIReader(this.#served);
    const { server } = this.#endpoint;
    return send(this.#endpoint, forms, sendOptions, async (response, signal) =>
      noted(await readAnswer({ response, server }, reader, signal), forms),
    );
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void> {
    // The older interface refuses to stream JSON.
    if (this.#settings.isNative && this.#wantsJson(options))
      return inOnePiece(() => this.create(messages, options, sendOptions), count);
    const endpoint = this.#endpoint;
    return readStream(() => {
      const forms = this.#bodies.write(messages, options, true);
      return {
        open: () =>
          send(endpoint, forms, sendOptions, (response) => ({
            answer: new AnswerPieces({ response, server: endpoint.server }, true),
            reader: new WorkersAIReader(this.#served, options.startOver),
          })),
        finish: (result) => count(noted(result, forms)),
        toError: (error) => toModelError(error, endpoint, true),
      };
    }, sendOptions);
  }

  write(messages: readonly LLMMessage[], options: CreateOptions, streamed: boolean): RequestForms {
    const inPieces = streamed && !(this.#settings.isNative && this.#wantsJson(options));
    return this.#bodies.write(messages, options, inPieces);
  }

  #wantsJson({ jsonOutput, extraCreateArgs }: CreateOptions): boolean {
    if (jsonOutput != null) return jsonOutput !== false;
    const { response_format: format } = { ...this.#settings.createArgs, ...extraCreateArgs };
    return format != null && (format as { type?: unknown }).type !== "text";
  }
}

async function* inOnePiece(
  create: () => Promise<CreateResult>,
  count: (result: CreateResult) => CreateResult,
): AsyncGenerator<string, CreateResult, void> {
  const result = await create();
  if (typeof result.content === "string" && result.content !== "") yield result.content;
  return count(result);
}
