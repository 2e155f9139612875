import type { CreateOptions, CreateResult } from "../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../core/models/llm-messages.ts";
import type { Secrets } from "../../outgoing/dependencies.ts";
import type { KnownModel } from "../catalogue/known-model.ts";
import type { ModelApi } from "../http-model-client.ts";
import { type ChunkReader, readStream, type SendOptions } from "../http/read-stream.ts";
import { attemptOptions, noted, type RequestForms } from "../http/request-forms.ts";
import { openBySdk, postBySdk, type Sdk, type SdkTarget } from "../http/sdk-connection.ts";
import { ServerEvents } from "../http/server-events.ts";
import { withTimeLimit } from "../http/time-limit.ts";
import { Attempts } from "./attempts.ts";
import { chatCompletionsApi } from "./chat-completions-api.ts";
import { toModelError } from "./errors.ts";
import { makerOf } from "./maker.ts";
import type { RequestSettings } from "./request-body.ts";
import { type ResponsesApi, responsesApi } from "./responses/responses-api.ts";
import { type ApiName, routesFor, type Server } from "./routes.ts";
import { habitsOf, type ServerHabits } from "./server-habits.ts";
import type { WireApi } from "./wire-api.ts";

/** A server that can be asked. */
export interface ConnectedServer extends Server {
  apiKey: string;
  sdk: Promise<Sdk>;
  secrets: Secrets;
  /** Who made the reasoning that this server encrypts. */
  maker: string;
  /** The name that the server has for the model. */
  servedAs: string;
  /** Whether it takes a `prompt_cache_key`. Servers of others refuse fields that they do not know. */
  takesCacheKey: boolean;
}

export interface OpenAIApiSettings extends Omit<RequestSettings, "maker" | "keyed"> {
  /** Whether requests may say to which conversation they belong. */
  caches: boolean;
  /** `api` of the config. */
  api: ApiName | "auto";
  known: KnownModel | undefined;
}

/** OpenAI's models, by whichever of the two APIs the server and the model take. */
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

/** A server with the two APIs as they are spoken with it. */
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

  /** The API that is asked next, and how it is reached. */
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
