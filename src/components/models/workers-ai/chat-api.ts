import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import { readStream, type SendOptions } from "../http/read-stream.ts";
import type { RequestForms } from "../http/sdk-connection.ts";
import { readJsonText } from "../http/read-text.ts";
import { type Endpoint, send, toModelError } from "../http/send.ts";
import { ServerEvents } from "../http/server-events.ts";
import type { ModelApi } from "../http-model-client.ts";
import type { Served } from "../openai/chat-completions/read-completion.ts";
import { RequestBodies, type RequestSettings } from "../openai/chat-completions/request-body.ts";
import { type AnswerEvent, AnswerReader, readAnswer, readEvent } from "./answer.ts";

export interface WorkersAISettings extends RequestSettings {
  /** Whether the model has the older interface of Workers AI. */
  isNative: boolean;
}

/**
 * The models of Workers AI, which take requests like OpenAI's and answer in OpenAI's format or the service's older one.
 */
export class WorkersAIChatApi implements ModelApi {
  readonly #settings: WorkersAISettings;
  readonly #served: Served;
  readonly #bodies: RequestBodies;
  readonly #endpoint: Endpoint;

  constructor(settings: WorkersAISettings, endpoint: Endpoint) {
    const { model, modelInfo, maker } = settings;
    this.#settings = settings;
    this.#served = { model, family: modelInfo.family, maker };
    this.#bodies = new RequestBodies(settings);
    this.#endpoint = endpoint;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult> {
    const { text: body } = this.#bodies.write(messages, options, false);
    return send(this.#endpoint, body, sendOptions, async (response, signal) => {
      const text = await readJsonText(response, signal);
      return readAnswer(text === "" ? undefined : JSON.parse(text), this.#served);
    });
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
    const reader = new AnswerReader(this.#served);
    const endpoint = this.#endpoint;
    return readStream(
      () => {
        const { text: body } = this.#bodies.write(messages, options, true);
        return {
          open: () => send(endpoint, body, sendOptions, (response) => events(response, endpoint)),
          toError: (error) => toModelError(error, endpoint, true),
        };
      },
      { read: (event) => reader.read(event), result: () => count(reader.result()) },
      sendOptions,
    );
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

async function events(
  response: Response,
  { redact }: Endpoint,
): Promise<ServerEvents<AnswerEvent>> {
  const type = response.headers.get("content-type") ?? "";
  if (/json/i.test(type)) {
    await response.body?.cancel();
    throw new ModelError("bad_response", `The model server sent ${type} instead of a stream`);
  }
  return new ServerEvents(response, (event) => readEvent(event, redact));
}

async function* inOnePiece(
  create: () => Promise<CreateResult>,
  count: (result: CreateResult) => CreateResult,
): AsyncGenerator<string, CreateResult, void> {
  const result = await create();
  if (typeof result.content === "string" && result.content !== "") yield result.content;
  return count(result);
}
