import * as z from "zod";
import { componentModelSchema } from "../../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
  withoutNulls,
} from "../../component/component.ts";
import { errorMessage, ValueError } from "../../errors.ts";
import { type JsonObject, sortedJson } from "../../json.ts";
import { type RetryPolicy, retryDelay } from "../../steps/retry.ts";
import { isTurnSignal } from "../../steps/signals.ts";
import type { StepSubject } from "../../steps/step-attempt.ts";
import type { StateParts, Stateful } from "../../state/stateful.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
  ToolSchema,
  WrittenOptions,
  WrittenRequest,
} from "../chat-completion-client.ts";
import type { LLMMessage } from "../llm-messages.ts";
import { ModelError } from "../model-error.ts";
import { modelClientPart } from "../model-client-part.ts";
import type { ModelInfo } from "../model-info.ts";
import { addUsage, type RequestUsage } from "../request-usage.ts";
import {
  retryConfig,
  retryOptionsSchema,
  retryPolicyOf,
  retrySchema,
} from "../../steps/retry-config.ts";
import { aModelClient, checkArgument, checkOptions } from "../../options/options.ts";

/** The time for which a failed model is skipped while another one is available. */
const PASSED_OVER_MS = 60_000;

/** Models that are skipped for a minute after they failed, by their component JSON. */
export class PassedOver {
  /** End of the skip, epoch milliseconds, in the order of failure. */
  readonly #until = new Map<string, number>();

  /** The most entries. */
  get size(): number {
    return this.#until.size;
  }

  add(model: string, now = Date.now()): void {
    this.#until.delete(model);
    this.#until.set(model, now + PASSED_OVER_MS);
    for (const [other, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(other);
    }
  }

  /** Until when a model is skipped, epoch milliseconds; 0 if it has not failed recently. */
  until(model: string): number {
    return this.#until.get(model) ?? 0;
  }
}

/** Shared by all teams of an isolate. */
const passedOver = new PassedOver();

const configSchema = z.object({
  clients: z.array(componentModelSchema).min(1),
  retry: retrySchema.nullish(),
});

/**
 * Several model clients as one: each request goes to the first of them, and after a failure to the next (Troupe's own; AutoGen
 * has none). A client that has failed is passed over for a minute.
 *
 * A client inside makes one attempt, unless its own `retry` (or AutoGen's `max_retries`) gives it patience; then the next one
 * is asked when that is used up. When all have failed, the whole list is tried again as `retry` of this client says.
 *
 * It can do what all of its clients can do, and `CreateResult.model` names the one that answered.
 */
export class FallbackChatCompletionClient implements ChatCompletionClient, Stateful {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.models.FallbackChatCompletionClient",
    componentType: "model",
    role: "model",
    version: 1,
    configSchema,
    fromConfig: ({ clients, retry }, loader) =>
      new FallbackChatCompletionClient(
        clients.map((client, index) =>
          loader.load<ChatCompletionClient>(client, "model", `clients[${index}]`),
        ),
        retryPolicyOf({ retry }) ?? {},
      ),
  });

  readonly definition = FallbackChatCompletionClient.component;
  readonly modelInfo: ModelInfo;
  /** The first client's model. The record of a call names the model that answered. */
  readonly subject: StepSubject | undefined;
  /** The smallest one. */
  readonly contextWindow: number | undefined;
  readonly #clients: readonly ChatCompletionClient[];
  readonly #retry: RetryPolicy;
  /** Errors after which the same client is called again, under its own retry policy. */
  readonly #own = new WeakMap<object, RetryPolicy>();
  readonly #keys = new Map<ChatCompletionClient, string>();

  /**
   * @param clients in the order in which they are tried
   * @param retry policy for the whole list
   * @throws ValueError without a client
   */
  constructor(clients: readonly ChatCompletionClient[], retry: RetryPolicy = {}) {
    const owner = "FallbackChatCompletionClient";
    checkArgument(z.array(aModelClient), clients, owner, "clients");
    const [first] = clients;
    if (first === undefined) throw new ValueError("clients must have at least one model client");
    this.#clients = clients;
    this.#retry = checkOptions(retryOptionsSchema, retry, owner);
    this.modelInfo = commonAbilities(clients.map(({ modelInfo }) => modelInfo));
    this.subject = first.subject;
    const windows = clients.flatMap(({ contextWindow }) => contextWindow ?? []);
    this.contextWindow = windows.length > 0 ? Math.min(...windows) : undefined;
  }

  retryPolicy(error: unknown): RetryPolicy {
    return (error instanceof Error ? this.#own.get(error) : undefined) ?? this.#retry;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): Promise<CreateResult> {
    const failures: unknown[] = [];
    for (const client of this.#order()) {
      try {
        asks(client, options, failures.at(-1));
        return await client.create(messages, options);
      } catch (error) {
        failures.push(this.#failed(client, error, options));
      }
    }
    throw allFailed(failures);
  }

  async *createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string, CreateResult, void> {
    const failures: unknown[] = [];
    for (const client of this.#order()) {
      let started = false;
      try {
        asks(client, options, failures.at(-1));
        const pieces = client.createStream(messages, options);
        for (let next = await pieces.next(); ; next = await pieces.next()) {
          if (next.done) return next.value;
          started = true;
          yield next.value;
        }
      } catch (error) {
        failures.push(this.#failed(client, error, options));
        if (!started) continue;
        passedOver.add(this.#keyOf(client));
        // The text shown so far is void. A caller that cannot take it back gets no other answer.
        if (options.startOver === undefined) break;
        options.startOver();
      }
    }
    throw allFailed(failures);
  }

  /** That of the client that was called; of the first one, if none has the model. */
  writeRequest(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    written: WrittenOptions,
  ): WrittenRequest | undefined {
    const called = this.#clients.find(({ subject }) => subject?.name === written.model);
    return (called ?? this.#first).writeRequest?.(messages, options, written);
  }

  /** Tokens as counted by the first client. */
  countTokens(messages: readonly LLMMessage[], tools?: readonly ToolSchema[]): Promise<number> {
    return this.#first.countTokens(messages, tools);
  }

  /** The highest of all clients; undefined if one of them has none. */
  answerLimit(options: CreateOptions): number | undefined {
    const limits = this.#clients.map((client) => client.answerLimit?.(options));
    const known = limits.filter((limit) => limit !== undefined);
    return known.length === limits.length ? Math.max(...known) : undefined;
  }

  /** Tokens left in the smallest context window. */
  async remainingTokens(
    messages: readonly LLMMessage[],
    tools?: readonly ToolSchema[],
  ): Promise<number> {
    const all = this.#clients.map((client) => client.remainingTokens(messages, tools));
    return Math.min(...(await Promise.all(all)));
  }

  totalUsage(): RequestUsage {
    return this.#clients.map((client) => client.totalUsage()).reduce(addUsage);
  }

  replayed(result: CreateResult, messages: readonly LLMMessage[]): void {
    const answered = this.#clients.find(({ subject }) => subject?.name === result.model);
    answered?.replayed?.(result, messages);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  saveState(): JsonObject {
    return {};
  }

  loadState(): void {}

  stateParts(): StateParts {
    const parts = this.#clients.flatMap((client, index): [string, Stateful][] => {
      const { model_client: part } = modelClientPart(client);
      return part === undefined ? [] : [[`client-${index}`, part]];
    });
    return { children: Object.fromEntries(parts) };
  }

  toConfig(): JsonObject {
    const retry = retryConfig(this.#retry);
    return withoutNulls({
      clients: this.#clients.map((client) => dumpComponent(client)),
      retry: Object.keys(retry).length === 0 ? null : retry,
    });
  }

  get #first(): ChatCompletionClient {
    return this.#clients[0] as ChatCompletionClient;
  }

  /** Clients that have not failed recently; if there are none, all of them, the one that failed last at the end. */
  #order(): readonly ChatCompletionClient[] {
    const now = Date.now();
    const fit = this.#clients.filter((client) => this.#passedOverUntil(client) <= now);
    if (fit.length > 0) return fit;
    return this.#clients.toSorted((a, b) => this.#passedOverUntil(a) - this.#passedOverUntil(b));
  }

  #passedOverUntil(client: ChatCompletionClient): number {
    return passedOver.until(this.#keyOf(client));
  }

  /**
   * Records that a client failed. Returns the error for the summary.
   *
   * @throws the error itself, when this request has ended or the same client has to be called again
   */
  #failed(client: ChatCompletionClient, error: unknown, options: CreateOptions): unknown {
    if (options.signal?.aborted || isTurnSignal(error) || !(error instanceof Error)) throw error;
    const own = client.retryPolicy?.(error);
    const { attempt = 1, failingMs = 0 } = options.attempt ?? {};
    if (own !== undefined && isRetryable(error)) {
      if (retryDelay({ attempt, failingMs, error }, own) !== undefined) {
        this.#own.set(error, own);
        throw error;
      }
    }
    if (isOutage(error)) passedOver.add(this.#keyOf(client));
    return error;
  }

  #keyOf(client: ChatCompletionClient): string {
    let key = this.#keys.get(client);
    if (key === undefined) {
      key = sortedJson(dumpComponent(client));
      this.#keys.set(client, key);
    }
    return key;
  }
}

/** @param failure the error of the client that was asked before, which is not thrown */
function asks({ subject }: ChatCompletionClient, options: CreateOptions, failure: unknown): void {
  if (failure instanceof ModelError && failure.spent) options.spent?.(failure.spent);
  if (subject !== undefined) options.asks?.(subject.name);
}

/** The common capabilities of all models; the family is the first one's. */
function commonAbilities(infos: readonly ModelInfo[]): ModelInfo {
  const [first] = infos as [ModelInfo];
  const all = (can: (info: ModelInfo) => boolean | null | undefined): boolean =>
    infos.every((info) => can(info) === true);
  return {
    family: first.family,
    vision: all(({ vision }) => vision),
    functionCalling: all(({ functionCalling }) => functionCalling),
    jsonOutput: all(({ jsonOutput }) => jsonOutput),
    structuredOutput: all(({ structuredOutput }) => structuredOutput),
    multipleSystemMessages: all(({ multipleSystemMessages }) => multipleSystemMessages),
    pdf: all(({ pdf }) => pdf),
  };
}

/** True for a failure of the server or the account, not of this request. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof ModelError &&
    ["auth", "connection", "rate_limit", "server", "timeout"].includes(error.kind)
  );
}

function isRetryable(error: unknown): boolean {
  return error instanceof ModelError && error.retryable;
}

/** One error for the errors of all clients. It is retryable if one of them is. */
function allFailed(failures: readonly unknown[]): unknown {
  const last = failures.at(-1);
  if (failures.length === 1) return last;
  const retryable = failures.filter((error) => isRetryable(error)) as ModelError[];
  const { kind = "bad_request", status } =
    retryable[0] ?? (last instanceof ModelError ? last : ({} as Partial<ModelError>));
  const waits = retryable.map(({ retryAfterMs }) => retryAfterMs);
  const asked = waits.every((ms) => ms !== undefined) ? Math.min(...waits) : undefined;
  return new ModelError(
    kind,
    `All ${failures.length} model clients failed: ${failures.map(errorMessage).join("; ")}`,
    {
      retryable: retryable.length > 0,
      cause: last,
      // The usage of the others is reported.
      ...(last instanceof ModelError && { spent: last.spent }),
      ...(status !== undefined && { status }),
      ...(retryable.length > 0 && asked !== undefined && { retryAfterMs: asked }),
    },
  );
}
