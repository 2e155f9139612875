import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import type { Secrets } from "../../../outgoing/dependencies.ts";
import type { KnownModel } from "../catalogue/known-model.ts";
import type { ModelApi } from "../http-model-client.ts";
import { type ChunkReader, readStream, type SendOptions } from "../http/read-stream.ts";
import {
  attemptOptions,
  noted,
  openBySdk,
  postBySdk,
  type RequestForms,
  type Sdk,
  type SdkTarget,
} from "../http/sdk-connection.ts";
import { ServerEvents, type ReadEvent } from "../http/server-events.ts";
import { withTimeLimit } from "../http/time-limit.ts";
import { type ApiName, Attempts, routesFor, type Server } from "./attempts.ts";
import { makerOf } from "./maker.ts";
import { type RequestSettings, RequestBodies } from "./chat-completions/request-body.ts";
import { habitsOf, type ServerHabits } from "./server-habits.ts";
import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAIError } from "openai/error";
import type { TroupeError } from "../../../core/errors.ts";
import { fromSdkError } from "../http/sdk-errors.ts";
import { readCompletion } from "./chat-completions/read-completion.ts";
import { type CompletionEvent, readEvent as readCompletionEvent } from "./server-events.ts";
import { StreamReader } from "./chat-completions/stream-reader.ts";
import { readResponse } from "./responses/read-response.ts";
import { ResponsesBodies, type ResponsesSettings } from "./responses/request-body.ts";
import {
  readEvent as readResponseEvent,
  type ResponseEvent,
  ResponseReader,
} from "./responses/stream-reader.ts";
import type { EventSourceMessage } from "eventsource-parser";

/** A server to call. */
export interface ConnectedServer extends Server {
  apiKey: string;
  sdk: Promise<Sdk>;
  secrets: Secrets;
  /** The owner of the reasoning that this server encrypts. */
  maker: string;
  /** The server's name for the model. */
  servedAs: string;
  /** Whether it takes a `prompt_cache_key`. Other servers refuse unknown fields. */
  takesCacheKey: boolean;
}

export interface OpenAIApiSettings extends Omit<RequestSettings, "maker" | "keyed"> {
  /** Whether requests may identify their conversation. */
  caches: boolean;
  /** `api` of the config. */
  api: ApiName | "auto";
  known: KnownModel | undefined;
}

/** OpenAI's models, by the one of the two APIs that the server and the model support. */
export class OpenAIApi implements ModelApi {
  readonly #settings: OpenAIApiSettings;
  readonly #connect: () => ConnectedServer;
  #connection: Connection | undefined;

  /** @param connect called at the first request, because secrets may not be readable before */
  constructor(settings: OpenAIApiSettings, connect: () => ConnectedServer) {
    this.#settings = settings;
    this.#connect = connect;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult> {
    const connection = this.#connected();
    const attempts = this.#attempts(connection, messages, options);
    return withTimeLimit(
      sendOptions,
      async (signal) => {
        for (;;) {
          const { api, target } = connection.of(attempts);
          const body = api.write(messages, options, false);
          try {
            const send = { ...attemptOptions(sendOptions, attempts.count), signal };
            const result = noted(api.read(await postBySdk(target, body, send)), body);
            attempts.succeeded();
            return result;
          } catch (error) {
            if (!attempts.again(error)) throw attempts.failure(error);
          }
        }
      },
      (error) => toModelError(error, connection.redact),
    );
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void> {
    let reader: ChunkReader<unknown, CreateResult>;
    let attempts: Attempts;
    let body: RequestForms;
    return readStream(
      () => {
        const connection = this.#connected();
        attempts = this.#attempts(connection, messages, options);
        return {
          open: () => {
            const { api, target } = connection.of(attempts);
            reader = api.reader();
            body = api.write(messages, options, true);
            return openBySdk(target, body, attemptOptions(sendOptions, attempts.count));
          },
          toError: (error) => toModelError(attempts.failure(error), connection.redact),
          again: (error) => attempts.again(error),
        };
      },
      {
        read: (chunk) => reader.read(chunk),
        result: () => {
          const result = noted(reader.result(), body);
          attempts.succeeded();
          return count(result);
        },
      },
      sendOptions,
    );
  }

  write(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    streamed: boolean,
  ): RequestForms & { path: string } {
    const connection = this.#connected();
    const { api, target } = connection.of(this.#attempts(connection, messages, options));
    return { ...api.write(messages, options, streamed), path: target.path };
  }

  #attempts(
    { server, habits, responses }: Connection,
    messages: readonly LLMMessage[],
    { extraCreateArgs = {} }: CreateOptions,
  ): Attempts {
    const { api, known, createArgs } = this.#settings;
    const effort = extraCreateArgs["reasoning_effort"] ?? createArgs["reasoning_effort"];
    const routes = routesFor(server, api, known, effort);
    return new Attempts(routes, habits, () => responses.dropReasoning(messages));
  }

  #connected(): Connection {
    this.#connection ??= new Connection(this.#settings, this.#connect());
    return this.#connection;
  }
}

/** A server with the current routes of its two APIs. */
class Connection {
  readonly server: ConnectedServer;
  readonly habits: ServerHabits;
  readonly responses: ResponsesApi;
  readonly redact: (text: string) => string;
  readonly #chat: WireApi<unknown>;

  constructor(settings: OpenAIApiSettings, server: ConnectedServer) {
    const { servedAs, maker, secrets } = server;
    const { model, known } = settings;
    this.server = server;
    this.habits = habitsOf(server.url, model, server.apiKey);
    const keyed = settings.caches && server.takesCacheKey;
    this.#chat = chatCompletionsApi({ ...settings, keyed, maker: makerOf(model, server.url) });
    this.responses = responsesApi(
      { ...settings, keyed, servedAs, maker, reasons: known?.reasons },
      this.habits,
    );
    this.redact = (text) => secrets.redact(text);
  }

  /** The next API to try, and its route. */
  of({ route }: Attempts): { api: WireApi<unknown>; target: SdkTarget<unknown> } {
    const { sdk } = this.server;
    const api = route.api === "responses" ? this.responses : this.#chat;
    return {
      api,
      target: {
        sdk,
        path: route.path,
        chunks: (response) =>
          new ServerEvents(response, (event) => api.readEvent(event, response.headers)),
      },
    };
  }
}

/**
 * Maps an error of OpenAI's SDK to one that says whether another attempt makes sense.
 * @param redact removes secrets from a text
 */
function toModelError(error: unknown, redact: (text: string) => string): TroupeError {
  return fromSdkError<APIError>(error, redact, {
    base: OpenAIError,
    connection: APIConnectionError,
    timeout: APIConnectionTimeoutError,
    answered: APIError,
    read: (answer) => ({ answer, message: answer.message }),
  });
}

/** OpenAI's chat completions, which many servers implement. */
function chatCompletionsApi(settings: RequestSettings): WireApi<CompletionEvent> {
  const { model, modelInfo, maker } = settings;
  const served = { model, family: modelInfo.family, maker };
  const bodies = new RequestBodies(settings);
  return {
    write: (messages, options, stream) => bodies.write(messages, options, stream),
    read: (answer) => readCompletion(answer, served),
    readEvent: readCompletionEvent,
    reader: () => new StreamReader(served),
  };
}

/** OpenAI's Responses API, used without a state on the server: every request has the whole conversation. */
interface ResponsesApi extends WireApi<ResponseEvent> {
  /** Leaves out the reasoning of these answers from now on; returns whether there was any. */
  dropReasoning(messages: readonly LLMMessage[]): boolean;
}

function responsesApi(settings: ResponsesSettings, habits: ServerHabits): ResponsesApi {
  const { maker, model } = settings;
  const answers = { maker, model, family: settings.modelInfo.family };
  const bodies = new ResponsesBodies(settings, habits);
  return {
    write: (messages, options, stream) => bodies.write(messages, options, stream),
    read: (answer) => readResponse(answer, answers),
    readEvent: readResponseEvent,
    reader: () => new ResponseReader(answers),
    dropReasoning: (messages) => bodies.dropReasoning(messages),
  };
}

/** One of the APIs for OpenAI's models: the writer of requests and the reader of answers. */
interface WireApi<Chunk> {
  /** The body of a request. @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestForms;
  /** Reads the body of an answer that was not streamed. */
  read(answer: unknown): CreateResult;
  /** Reads an event of a streamed answer. */
  readEvent(event: EventSourceMessage, headers: Headers): ReadEvent<Chunk>;
  /** Assembles a streamed answer. */
  reader(): ChunkReader<Chunk, CreateResult>;
}
