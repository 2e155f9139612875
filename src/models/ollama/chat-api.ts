import type { CreateOptions, CreateResult } from "../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../core/models/llm-messages.ts";
import { LARGEST_JSON_BYTES, tooLarge } from "../http/answer-chunks.ts";
import { readStream, type SendOptions } from "../http/read-stream.ts";
import { readText } from "../http/read-text.ts";
import type { ModelApi } from "../http-model-client.ts";
import { AnswerReader } from "./answer-reader.ts";
import { ChatRequests, type ChatRequestSettings } from "./chat-request.ts";
import { type Connection, send, toModelError } from "./connection.ts";
import { JsonLines, parseAnswer } from "./json-lines.ts";

/**
 * Ollama's own `/api/chat`. Its OpenAI-compatible endpoint ignores the model options: with it the context would shrink
 * to the server's default without an error.
 */
export class OllamaChatApi implements ModelApi {
  readonly #family: string;
  readonly #requests: ChatRequests;
  readonly #makeConnection: () => Connection;
  #connection: Connection | undefined;

  /** @param connect called at the first request */
  constructor(settings: ChatRequestSettings, connect: () => Connection) {
    this.#family = settings.modelInfo.family;
    this.#requests = new ChatRequests(settings);
    this.#makeConnection = connect;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult> {
    const body = this.#requests.write(messages, options, false);
    const connection = this.#connect();
    return send(connection, body, sendOptions, async (response, signal) => {
      const text = await readText(response, LARGEST_JSON_BYTES, signal);
      // Cut at the limit; in characters it is at most as long.
      if (text.length === LARGEST_JSON_BYTES) throw tooLarge(LARGEST_JSON_BYTES);
      const reader = new AnswerReader(this.#family);
      reader.read(parseAnswer(text, (one) => connection.secrets.redact(one)));
      return reader.result();
    });
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void> {
    const reader = new AnswerReader(this.#family);
    return readStream(
      () => {
        const body = this.#requests.write(messages, options, true);
        const connection = this.#connect();
        const redact = (text: string): string => connection.secrets.redact(text);
        return {
          open: () =>
            send(connection, body, sendOptions, (response) => new JsonLines(response, redact)),
          toError: (error) => toModelError(error, connection, true),
        };
      },
      { read: (chunk) => reader.read(chunk), result: () => count(reader.result()) },
      sendOptions,
    );
  }

  #connect(): Connection {
    this.#connection ??= this.#makeConnection();
    return this.#connection;
  }
}
