import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import type { Secrets } from "../../../outgoing/dependencies.ts";
import type { KnownModel } from "../catalogue/known-model.ts";
import type { ModelApi } from "../client/http-model-client.ts";
import {
  type AnswerReader,
  attemptOptions,
  readStream,
  type SendOptions,
} from "../http/read-stream.ts";
import { noted, type RequestForms } from "../http/request-forms.ts";
import { openBySdk, postBySdk, type Sdk, type SdkTarget } from "../http/sdk-connection.ts";
import { withoutSecrets } from "../http/without-secrets.ts";
import { withTimeLimit } from "../http/time-limit.ts";
import { type ApiName, Attempts, type Server } from "./attempts.ts";
import { makerOf } from "./chat-completions/maker.ts";
import { type RequestSettings, RequestBodies } from "./chat-completions/request-body.ts";
import { habitsOf, type ServerHabits } from "./responses/server-habits.ts";
import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAIError } from "openai/error";
import type { TroupeError } from "../../../core/errors.ts";
import { fromSdkError } from "../http/sdk-errors.ts";
import { CompletionReader } from "./chat-completions/completion-reader.ts";
import { ResponsesBodies, type ResponsesSettings } from "./responses/request-body.ts";
import { ResponseReader } from "./responses/response-reader.ts";

/** A server to call. */
export interface ConnectedServer extends Server {
  apiKey: string;
  sdk: Promise<Sdk>;
  secrets: Secrets;
  /** The owner of the reasoning that this server encrypts. */
  maker: string;
  /** The server's name for the model. */
  servedAs: string;
  /** True if it takes a `prompt_cache_key`. Other servers refuse unknown fields. */
  takesCacheKey: boolean;
}

export interface OpenAIApiSettings extends Omit<RequestSettings, "maker" | "keyed"> {
  /** True if requests may identify their conversation. */
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
            const result = noted(await postBySdk(target, body, connection.reader(api), send), body);
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
    return readStream(() => {
      const connection = this.#connected();
      const attempts = this.#attempts(connection, messages, options);
      let body: RequestForms;
      return {
        open: async () => {
          const { api, target } = connection.of(attempts);
          body = api.write(messages, options, true);
          const send = attemptOptions(sendOptions, attempts.count);
          return {
            answer: await openBySdk(target, body, send),
            reader: connection.reader(api, options.startOver),
          };
        },
        finish: (result) => {
          attempts.succeeded();
          return count(noted(result, body));
        },
        toError: (error) => toModelError(attempts.failure(error), connection.redact),
        again: (error) => attempts.again(error),
      };
    }, sendOptions);
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
    const { api: wanted, known: catalogued, createArgs } = this.#settings;
    const effort = extraCreateArgs["reasoning_effort"] ?? createArgs["reasoning_effort"];
    const request = { server, wanted, catalogued, effort };
    return new Attempts(request, habits, () => responses.dropReasoning(messages));
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
  readonly #chat: WireApi;

  constructor(settings: OpenAIApiSettings, server: ConnectedServer) {
    const { servedAs, maker, secrets } = server;
    const { model, known } = settings;
    this.server = server;
    this.habits = habitsOf(server.url, model, server.apiKey);
    const keyed = settings.caches && server.takesCacheKey;
    const refusesStop = known?.reasons === true;
    const chat = { ...settings, keyed, maker: makerOf(model, server.url), refusesStop };
    this.#chat = chatCompletionsApi(chat);
    this.responses = responsesApi(
      { ...settings, keyed, servedAs, maker, reasons: known?.reasons },
      this.habits,
    );
    this.redact = (text) => secrets.redact(text);
  }

  /** Reads an answer, and removes the secrets that the server repeats in it. */
  reader(api: WireApi, startOver?: CreateOptions["startOver"]): AnswerReader<CreateResult> {
    return withoutSecrets(this.server.secrets, startOver, (begin) => api.reader(begin));
  }

  /** The next API to try, and its route. */
  of({ route }: Attempts): { api: WireApi; target: SdkTarget } {
    const { sdk, secrets } = this.server;
    const api = route.api === "responses" ? this.responses : this.#chat;
    return { api, target: { sdk, path: route.path, secrets } };
  }
}

/**
 * Maps an error of OpenAI's SDK to one that says whether another attempt makes sense.
 * @param redact removes secrets from a text
 */
function toModelError(error: unknown, redact: (text: string) => string): TroupeError {
  return fromSdkError(error, redact, {
    base: OpenAIError,
    connection: APIConnectionError,
    timeout: APIConnectionTimeoutError,
    answered: APIError,
  });
}

/** OpenAI's chat completions, which many servers implement. */
function chatCompletionsApi(settings: RequestSettings): WireApi {
  const { model, thoughtTags, maker } = settings;
  const served = { model, thoughtTags, maker };
  const bodies = new RequestBodies(settings);
  return {
    write: (messages, options, stream) => bodies.write(messages, options, stream),
    reader: (startOver) => new CompletionReader(served, startOver),
  };
}

/** OpenAI's Responses API, used without a state on the server: every request has the whole conversation. */
interface ResponsesApi extends WireApi {
  /** Leaves out the reasoning of these answers from now on; returns whether there was any. */
  dropReasoning(messages: readonly LLMMessage[]): boolean;
}

function responsesApi(settings: ResponsesSettings, habits: ServerHabits): ResponsesApi {
  const { maker, model } = settings;
  const answers = { maker, model, thoughtTags: settings.thoughtTags };
  const bodies = new ResponsesBodies(settings, habits);
  return {
    write: (messages, options, stream) => bodies.write(messages, options, stream),
    reader: (startOver) => new ResponseReader(answers, startOver),
    dropReasoning: (messages) => bodies.dropReasoning(messages),
  };
}

/** One of the APIs for OpenAI's models: the writer of requests and the reader of answers. */
interface WireApi {
  /** The body of a request. @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestForms;
  /** Assembles an answer, streamed or not. */
  reader(startOver?: CreateOptions["startOver"]): AnswerReader<CreateResult>;
}
