import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import { readStream, type SendOptions } from "../http/read-stream.ts";
import type { RequestForms } from "../http/sdk-connection.ts";
import { readJsonText } from "../http/read-text.ts";
import { type Endpoint, send, toModelError } from "../http/send.ts";
import type { ModelNames } from "../chat/reply.ts";
import type { ModelApi } from "../http-model-client.ts";
import { AnswerReader } from "./answer-reader.ts";
import { ChatRequests, type ChatRequestSettings } from "./chat-request.ts";
import { JsonLines, parseAnswer } from "./json-lines.ts";

/**
 * Ollama's own `/api/chat`. Its OpenAI-compatible endpoint ignores the model options: with it the context would shrink
 * to the server's default without an error.
 */
export class OllamaChatApi implements ModelApi {
  readonly #names: ModelNames;
  readonly #requests: ChatRequests;
  readonly #makeEndpoint: () => Endpoint;
  #endpoint: Endpoint | undefined;

  /** @param connect called at the first request */
  constructor(settings: ChatRequestSettings, connect: () => Endpoint) {
    this.#names = { model: settings.model, family: settings.modelInfo.family };
    this.#requests = new ChatRequests(settings);
    this.#makeEndpoint = connect;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult> {
    const body = this.#requests.write(messages, options, false);
    const endpoint = this.#connect();
    return send(endpoint, body, sendOptions, async (response, signal) => {
      const text = await readJsonText(response, signal);
      const reader = new AnswerReader(this.#names);
      reader.read(parseAnswer(text, endpoint.redact));
      return reader.result();
    });
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void> {
    const reader = new AnswerReader(this.#names);
    return readStream(
      () => {
        const body = this.#requests.write(messages, options, true);
        const endpoint = this.#connect();
        return {
          open: () =>
            send(
              endpoint,
              body,
              sendOptions,
              (response) => new JsonLines(response, endpoint.redact),
            ),
          toError: (error) => toModelError(error, endpoint, true),
        };
      },
      { read: (chunk) => reader.read(chunk), result: () => count(reader.result()) },
      sendOptions,
    );
  }

  write(messages: readonly LLMMessage[], options: CreateOptions, streamed: boolean): RequestForms {
    return { text: this.#requests.write(messages, options, streamed) };
  }

  #connect(): Endpoint {
    this.#endpoint ??= this.#makeEndpoint();
    return this.#endpoint;
  }
}
