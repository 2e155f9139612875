import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import {
  type AnswerReader,
  readAnswer,
  readStream,
  type SendOptions,
} from "../http/read-stream.ts";
import { noted, type RequestForms } from "../http/request-forms.ts";
import { AnswerPieces } from "../http/answer-pieces.ts";
import { withoutSecrets } from "../http/without-secrets.ts";
import { type ModelEndpoint, send, toModelError } from "../http/send.ts";
import type { AnsweringModel } from "../chat/reply.ts";
import type { ModelApi } from "../client/http-model-client.ts";
import { ChatAnswerReader } from "./answer-reader.ts";
import { ChatRequests, type ChatRequestSettings } from "./chat-request.ts";

/**
 * Ollama's own `/api/chat`. Its OpenAI-compatible endpoint ignores the model options: with it the context would shrink
 * to the server's default without an error.
 */
export class OllamaChatApi implements ModelApi {
  readonly #names: AnsweringModel;
  readonly #requests: ChatRequests;
  readonly #makeEndpoint: () => ModelEndpoint;
  #endpoint: ModelEndpoint | undefined;

  /** @param connect called at the first request */
  constructor(settings: ChatRequestSettings, connect: () => ModelEndpoint) {
    this.#names = { model: settings.model, thoughtTags: settings.thoughtTags };
    this.#requests = new ChatRequests(settings);
    this.#makeEndpoint = connect;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult> {
    const forms = this.#requests.write(messages, options, false);
    const endpoint = this.#connect();
    const { server } = endpoint;
    const reader = this.#reader(endpoint);
    return send(endpoint, forms, sendOptions, async (response, signal) =>
      noted(await readAnswer({ response, server }, reader, signal), forms),
    );
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void> {
    return readStream(() => {
      const forms = this.#requests.write(messages, options, true);
      const endpoint = this.#connect();
      return {
        open: () =>
          send(endpoint, forms, sendOptions, (response) => ({
            answer: new AnswerPieces({ response, server: endpoint.server }, true),
            reader: this.#reader(endpoint, options.startOver),
          })),
        finish: (result) => count(noted(result, forms)),
        toError: (error) => toModelError(error, endpoint, true),
      };
    }, sendOptions);
  }

  write(messages: readonly LLMMessage[], options: CreateOptions, streamed: boolean): RequestForms {
    return this.#requests.write(messages, options, streamed);
  }

  /** Reads an answer, and removes the secrets that the server repeats in it. */
  #reader(
    { secrets }: ModelEndpoint,
    startOver?: CreateOptions["startOver"],
  ): AnswerReader<CreateResult> {
    return withoutSecrets(secrets, startOver, (begin) => new ChatAnswerReader(this.#names, begin));
  }

  #connect(): ModelEndpoint {
    this.#endpoint ??= this.#makeEndpoint();
    return this.#endpoint;
  }
}
