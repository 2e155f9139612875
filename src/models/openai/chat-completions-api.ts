import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CreateOptions, CreateResult } from "../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../core/models/llm-messages.ts";
import type { ModelApi } from "../http-model-client.ts";
import { readStream, type SendOptions } from "../http/read-stream.ts";
import { sendBySdk, type SdkConnection, streamBySdk } from "../http/sdk-connection.ts";
import { readCompletion } from "./read-completion.ts";
import { RequestBodies, type RequestSettings } from "./request-body.ts";
import { StreamReader } from "./stream-reader.ts";

type Connection = SdkConnection<ChatCompletionChunk>;

/** OpenAI's chat completions, as many servers speak them. */
export class ChatCompletionsApi implements ModelApi {
  readonly #family: string;
  readonly #bodies: RequestBodies;
  readonly #makeConnection: () => Connection;
  #connection: Connection | undefined;

  /** @param connect called at the first request */
  constructor(settings: RequestSettings, connect: () => Connection) {
    this.#family = settings.modelInfo.family;
    this.#bodies = new RequestBodies(settings);
    this.#makeConnection = connect;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult> {
    const body = this.#bodies.write(messages, options, false);
    const answer = await sendBySdk(this.#connect(), body, sendOptions);
    return readCompletion(answer, this.#family);
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void> {
    const reader = new StreamReader(this.#family);
    return readStream(
      () => streamBySdk(this.#connect(), this.#bodies.write(messages, options, true), sendOptions),
      { read: (chunk) => reader.read(chunk), result: () => count(reader.result()) },
      sendOptions,
    );
  }

  #connect(): Connection {
    this.#connection ??= this.#makeConnection();
    return this.#connection;
  }
}
