import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import type { ModelNames } from "../chat/reply.ts";
import type { ModelApi } from "../http-model-client.ts";
import { readStream, type SendOptions } from "../http/read-stream.ts";
import {
  noted,
  type RequestForms,
  type SdkConnection,
  sendBySdk,
  streamBySdk,
} from "../http/sdk-connection.ts";
import { readMessage } from "./read-message.ts";
import { type RequestBody, RequestBodies, type RequestSettings } from "./request-body.ts";
import { StreamReader } from "./stream-reader.ts";

type Connection = SdkConnection<RawMessageStreamEvent>;

/** Anthropic's Messages API. */
export class MessagesApi implements ModelApi {
  readonly #names: ModelNames;
  readonly #bodies: RequestBodies;
  readonly #makeConnection: () => Connection;
  #connection: Connection | undefined;

  /** @param connect called at the first request */
  constructor(settings: RequestSettings, connect: () => Connection) {
    this.#names = { model: settings.model, family: settings.modelInfo.family };
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
    return noted(readMessage(answer, this.#names, body.answerTool), body);
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void> {
    const reader = new StreamReader(this.#names);
    let body: RequestBody;
    return readStream(
      () => {
        body = this.#bodies.write(messages, options, true);
        reader.answerTool = body.answerTool;
        return streamBySdk(this.#connect(), body, sendOptions);
      },
      { read: (event) => reader.read(event), result: () => count(noted(reader.result(), body)) },
      sendOptions,
    );
  }

  write(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    streamed: boolean,
  ): RequestForms & { path: string } {
    return { ...this.#bodies.write(messages, options, streamed), path: this.#connect().path };
  }

  #connect(): Connection {
    this.#connection ??= this.#makeConnection();
    return this.#connection;
  }
}
