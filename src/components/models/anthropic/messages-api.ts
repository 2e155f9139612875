import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import type { AnsweringModel } from "../chat/reply.ts";
import type { ModelApi } from "../client/http-model-client.ts";
import { AnswerPieces } from "../http/answer-pieces.ts";
import {
  type AnswerReader,
  readAnswer,
  readStream,
  type SendOptions,
} from "../http/read-stream.ts";
import { noted, type RequestForms } from "../http/request-forms.ts";
import { type ModelEndpoint, send, toModelError } from "../http/send.ts";
import { withoutSecrets } from "../http/without-secrets.ts";
import { MESSAGES_PATH } from "./address.ts";
import { MessageReader } from "./message-reader.ts";
import { RequestBodies, type RequestSettings } from "./request-body.ts";

/** Anthropic's Messages API. */
export class MessagesApi implements ModelApi {
  readonly #names: AnsweringModel;
  readonly #bodies: RequestBodies;
  readonly #makeEndpoint: () => ModelEndpoint;
  #endpoint: ModelEndpoint | undefined;

  /** @param connect called at the first request, because secrets may not be readable before */
  constructor(settings: RequestSettings, connect: () => ModelEndpoint) {
    this.#names = { model: settings.model, thoughtTags: settings.thoughtTags };
    this.#bodies = new RequestBodies(settings);
    this.#makeEndpoint = connect;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult> {
    const body = this.#bodies.write(messages, options, false);
    const endpoint = this.#connect();
    const { server } = endpoint;
    const reader = this.#reader(endpoint, body);
    return send(endpoint, body, sendOptions, async (response, signal) =>
      noted(await readAnswer({ response, server }, reader, signal), body),
    );
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void> {
    return readStream(() => {
      const body = this.#bodies.write(messages, options, true);
      const endpoint = this.#connect();
      return {
        open: () =>
          send(endpoint, body, sendOptions, (response) => ({
            answer: new AnswerPieces({ response, server: endpoint.server }, true),
            reader: this.#reader(endpoint, body, options.startOver),
          })),
        finish: (result) => count(noted(result, body)),
        toError: (error) => toModelError(error, endpoint, true),
      };
    }, sendOptions);
  }

  write(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    streamed: boolean,
  ): RequestForms & { path: string } {
    return { ...this.#bodies.write(messages, options, streamed), path: MESSAGES_PATH };
  }

  /** Reads an answer, and removes the secrets that the server repeats in it. */
  #reader(
    { secrets }: ModelEndpoint,
    { answerTool }: ReturnType<RequestBodies["write"]>,
    startOver?: CreateOptions["startOver"],
  ): AnswerReader<CreateResult> {
    return withoutSecrets(
      secrets,
      startOver,
      (begin) => new MessageReader(this.#names, answerTool, begin),
    );
  }

  #connect(): ModelEndpoint {
    this.#endpoint ??= this.#makeEndpoint();
    return this.#endpoint;
  }
}
