import type { TriggerKind } from "../constants.ts";
import type { GivenReceivers, StoredReceiver } from "../notify.ts";
import type { Result } from "../result.ts";
import type {
  PutTrigger,
  RotateTrigger,
  TriggerDelivery,
  TriggerDeliveryPage,
  TriggerInfo,
  TriggerSecret,
} from "../team/trigger.ts";

/** A trigger as its tenant stores it. Its address depends on where the service is. */
export interface StoredTrigger extends Omit<TriggerInfo, "address" | "notify"> {
  /** Left out for none. */
  notify?: readonly StoredReceiver[];
  /** The part of its e-mail address before the @; null for other kinds. */
  mailbox: string | null;
}

export interface PutTriggerInput extends Omit<PutTrigger, "user" | "notify"> {
  /** Left out, those that it has stay. */
  notify?: GivenReceivers;
  user: string | null;
  mailbox: string | null;
}

/** The facts by which a Worker decides if it believes an event. */
export interface TriggerKeys {
  kind: TriggerKind;
  /** Each of them is valid, the newest first. */
  secrets: readonly string[];
}

/** A delivery that is about to start a run. */
export interface OpenedDelivery {
  trigger: StoredTrigger;
  /** The delivery of that id that came in before; null for a new one. */
  earlier: TriggerDelivery | null;
}

export interface TriggerPageQuery {
  limit: number;
  cursor?: string | undefined;
}

/** The triggers of a tenant's teams. Callers have checked that the team exists and who asks. */
export interface TriggerCalls {
  /** The answer has the secret if one was made. */
  putTrigger(
    team: string,
    id: string,
    input: PutTriggerInput,
  ): Promise<Result<{ trigger: StoredTrigger; created: boolean; secret?: string }>>;
  triggers(
    team: string,
    page: TriggerPageQuery,
  ): Promise<Result<{ triggers: StoredTrigger[]; next_cursor: string | null }>>;
  trigger(team: string, id: string): Promise<Result<StoredTrigger>>;
  deleteTrigger(team: string, id: string): Promise<Result<null>>;
  rotateTriggerSecret(
    team: string,
    id: string,
    input: RotateTrigger,
  ): Promise<Result<TriggerSecret>>;
  triggerDeliveries(
    team: string,
    id: string,
    page: TriggerPageQuery,
  ): Promise<Result<TriggerDeliveryPage>>;

  /** Null for a trigger that does not exist. */
  triggerKeys(team: string, id: string): Promise<TriggerKeys | null>;
  /** The trigger of an e-mail address; null for none. */
  triggerOfMailbox(mailbox: string): Promise<{ team: string; trigger: string } | null>;
  /** Null for a trigger that does not exist. */
  openDelivery(team: string, id: string, delivery: string): Promise<OpenedDelivery | null>;
  /** Lists a delivery. It replaces the one with its id. */
  noteDelivery(team: string, id: string, delivery: Omit<TriggerDelivery, "at">): Promise<void>;
}

/** Those that may be made twice: they read, or change nothing the second time. */
export const REPEATABLE_TRIGGER_CALLS = [
  "triggers",
  "trigger",
  "triggerDeliveries",
  "triggerKeys",
  "triggerOfMailbox",
  "openDelivery",
  "noteDelivery",
] as const satisfies readonly (keyof TriggerCalls)[];
