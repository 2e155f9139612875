import type { SecretPushConfig } from "../../contract/push.ts";
import { ok, refuseInput, type Result } from "../../contract/result.ts";
import type { RunWebhook } from "../../contract/webhook.ts";
import type { StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { GivenReceivers, StoredReceiver } from "../../contract/notify.ts";
import { NO_USAGE, type TokensByModel } from "../../contract/usage/model-usage.ts";
import type { Sealer } from "../../secrets/sealer.ts";
import { hashId } from "../../core/hash.ts";
import { createMessage } from "../../core/messages/create.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import type { Moment } from "../../core/turn/turn-host.ts";
import type { RunRecord, StoredRun } from "../storage/runs/run-record.ts";
import type { TeamPresent } from "./run-state.ts";
import { turnId } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";

/** The row of a run that starts, and its task. */
export interface StartingRun {
  stored: StoredRun;
  task: readonly ChatMessage[] | null;
}

/** A run that was just inserted, or the one that the same request has started before. */
export type EnteringRun =
  | { do: "replay"; id: string }
  /** A message went into it. `after`: the cursor before the message. */
  | { do: "steer"; id: string; after: number }
  | ({ do: "start"; id: string } & StartingRun)
  | { do: "queue"; id: string; record: RunRecord; task: readonly ChatMessage[] | null };

/** Seals the secrets that requests bring with a run, as they are stored. */
export class RunInputs {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  seal(input: StartRunInput): Promise<Result<StartRunInput>> {
    const { webhook, push } = input;
    return refusing(async () => ({
      ...input,
      webhook: webhook && (await this.#webhook(webhook)),
      ...(push && { push: await this.#push(push) }),
    }));
  }

  sealPush(config: SecretPushConfig): Promise<Result<SecretPushConfig>> {
    return refusing(() => this.#push(config));
  }

  /** @param before the receivers that these replace */
  async sealReceivers(
    given: GivenReceivers,
    before: readonly StoredReceiver[] = [],
  ): Promise<Result<StoredReceiver[]>> {
    const { sealReceivers } = await import("../../notify/seal-receivers.ts");
    return sealReceivers(given, before, this.#sealer);
  }

  async #webhook(webhook: RunWebhook): Promise<RunWebhook> {
    // Without a secret the tenant's signs, which needs SECRETS_KEY as well.
    const sealed = await this.#sealer.seal(webhook.secret ?? "");
    return { ...webhook, secret: webhook.secret && sealed };
  }

  async #push(config: SecretPushConfig): Promise<SecretPushConfig> {
    return { ...config, headers: await this.#sealer.seal(config.headers) };
  }
}

/** The sealed value, or the refusal if it cannot be sealed. */
async function refusing<T>(seal: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await seal());
  } catch (error) {
    return refuseInput(error);
  }
}

/** The record of a run that a client asks for, before it starts. @param createdAt ISO 8601 UTC */
export function requestedRun(id: string, createdAt: string, input: StartRunInput): RunRecord {
  return {
    ...blank(id, createdAt),
    output_task_messages: input.output_task_messages,
    ...(input.user !== undefined && { user: input.user }),
    ...(input.subject !== undefined && { subject: input.subject }),
    ...(input.hops !== undefined && { hops: input.hops }),
    metadata: input.metadata,
    timeout_seconds: input.timeout_seconds,
    max_total_tokens: input.max_total_tokens,
    max_cost: input.max_cost,
    webhook: input.webhook,
    ...(input.notify?.length && { notify: input.notify }),
    ...(input.push && { push: [input.push] }),
    ...(input.tools?.length && { tools: input.tools }),
    ...(input.state && { state: input.state }),
    ...(input.answer_form && { answer_form: input.answer_form }),
    ...(input.trace && { trace: { after: 0, context: input.trace } }),
  };
}

/** The record of a run that retries another one, before it starts. @param createdAt ISO 8601 UTC */
export function retryingRun(id: string, createdAt: string, record: RunRecord): RunRecord {
  return {
    ...blank(id, createdAt),
    output_task_messages: record.output_task_messages,
    ...(record.user !== undefined && { user: record.user }),
    ...(record.subject !== undefined && { subject: record.subject }),
    ...(record.hops !== undefined && { hops: record.hops }),
    metadata: record.metadata,
    timeout_seconds: record.timeout_seconds,
    max_total_tokens: record.max_total_tokens,
    max_cost: record.max_cost ?? null,
    webhook: record.webhook ?? null,
    ...(record.notify && { notify: record.notify }),
    ...(record.tools && { tools: record.tools }),
    ...(record.state && { state: record.state }),
    ...(record.answer_form && { answer_form: record.answer_form }),
    retry_of: record.id,
  };
}

/**
 * The record of a retry that has started: it begins with the turn in which the other run ended, under that turn's ids and keys.
 *
 * @param tokens those of the recorded steps, which the other run has counted @param ran milliseconds that it had been running
 */
export function takenOver(
  retry: RunRecord,
  from: RunRecord,
  { began, ran, tokens }: { began: Moment; ran: number; tokens: TokensByModel },
): RunRecord {
  return {
    ...retry,
    first_turn: from.next_turn,
    next_turn: from.next_turn,
    first_turn_id: turnId(from, from.next_turn),
    first_moment: began,
    taken_over: { tokens },
    ran_before: ran,
    ran,
  };
}

/** The Worker has checked the task; ids and times it lacks are the run's, so that a retry finds the same ones. */
export function taskMessages(
  task: StartRunInput["task"],
  run: string,
  createdAt: string,
): ChatMessage[] | null {
  if (task === null) return null;
  let count = 0;
  const origin = { id: () => hashId(`${run}/task#${count++}`), now: () => createdAt };
  return task.map((message) => createMessage(origin, message as ChatMessage));
}

export function presentOf({ commits, log, team }: Stores): TeamPresent {
  const { epoch, component_version } = team.record;
  return { turn: commits.turn, epoch, event: log.last, component_version };
}

/** A run that has not started. */
function blank(id: string, createdAt: string): RunRecord {
  return {
    id,
    status: "queued",
    output_task_messages: true,
    metadata: {},
    timeout_seconds: null,
    max_total_tokens: null,
    max_cost: null,
    retry_of: null,
    first_turn: 0,
    first_turn_id: `${id}/0`,
    first_moment: { at: Date.parse(createdAt), ran: 0 },
    taken_over: null,
    epoch: 0,
    first_event: 0,
    last_event: null,
    next_turn: 0,
    turn: 0,
    last_turn: null,
    ran_before: 0,
    ran: 0,
    ...NO_USAGE,
    stop_requested: null,
    pause_requested: false,
    resuming: false,
    wake_at: null,
    rest_since: null,
    recoveries: 0,
    recovery_mark: null,
    stop_reason: null,
    error: null,
    webhook: null,
    created_at: createdAt,
    started_at: null,
    ended_at: null,
  };
}
