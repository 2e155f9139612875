import { estimated, UNNAMED_MODEL } from "../../../contract/usage/model-usage.ts";
import { asJson } from "../../../core/json.ts";
import type { TextMessage } from "../../../core/messages/chat-messages.ts";
import { CuttableCalls } from "../../../core/turn/cuttable-calls.ts";
import type { CuttableCall, Reader, SteeringHost } from "../../../core/turn/steering.ts";
import type { SteeringOptions } from "../../../core/turn/turn-context.ts";
import type { StepOutcome, StepRecord } from "../../../core/turn/turn-host.ts";
import type { RecordedEvent } from "../../storage/log/event-log.ts";
import type { SentIn } from "../../storage/runs/steering-store.ts";
import type { Stores } from "../../storage/stores.ts";
import type { JournaledRun } from "./journaled-run.ts";

/** The journal's part that readings use. */
export interface ReadingHost {
  readonly active: JournaledRun;
  recall(key: string): StepRecord | undefined;
  record(key: string, messages: readonly TextMessage[]): void;
  /** True if nothing that this turn has recorded comes after the present place of this pass. */
  isAtFrontier(): boolean;
  /** The messages that may be read in the run, in their order. */
  sent(): readonly SentIn[];
  /** Makes a message part of the log that has come while its run was queued. */
  show(sent: SentIn): void;
  hasShown(messageId: string): boolean;
  /** Ends waits between attempts: a call that waits may be cut, too. */
  wake(): void;
}

/** The messages into a run while a turn is played: each reading is a step of the turn, and calls under way are cut. */
export class TurnSteering implements SteeringHost {
  readonly #host: ReadingHost;
  readonly #calls: CuttableCalls;
  /** The ids of those that the team itself has read: the commit has them in the team's state. */
  readonly #taken = new Set<string>();

  constructor(host: ReadingHost) {
    this.#host = host;
    this.#calls = new CuttableCalls(
      (reader) => this.#unread(reader).length > 0,
      (messageId) => host.hasShown(messageId),
    );
  }

  get taken(): ReadonlySet<string> {
    return this.#taken;
  }

  read(key: string, reader: Reader, { last, earlier }: SteeringOptions = {}): TextMessage[] {
    const { outcome } = this.#host.recall(key) ?? {};
    const messages =
      outcome === undefined ? this.#readNew(key, reader, { last, earlier }) : messagesIn(outcome);
    for (const { id } of messages) {
      reader.takes(id);
      if (reader.parent === undefined) this.#taken.add(id);
    }
    return messages;
  }

  begins(call: CuttableCall): void {
    this.#calls.begins(call);
  }

  ended(call: CuttableCall): void {
    this.#calls.ended(call);
  }

  wasCut(_key: string, model: string | undefined, tokens: number): void {
    const usage = estimated({ prompt_tokens: tokens, completion_tokens: 0 });
    this.#host.active.countSpent({ [model ?? UNNAMED_MODEL]: usage });
  }

  /** Messages have come into the run. */
  arrived(messages: readonly TextMessage[]): void {
    this.#calls.arrived(messages);
    this.#host.wake();
  }

  #readNew(key: string, reader: Reader, { last, earlier }: SteeringOptions): TextMessage[] {
    const { active } = this.#host;
    const sent = this.#host.sent().filter(({ run }) => !earlier || run !== active.record.id);
    // Usually nothing was sent, and nothing else is looked at.
    if (sent.length === 0 || (!last && !this.#host.isAtFrontier())) return [];
    const messages = reader.unread(sent.map(({ message }) => message));
    if (messages.length === 0) return [];
    const ids = new Set(messages.map(({ id }) => id));
    for (const one of sent) if (one.event === null && ids.has(one.id)) this.#host.show(one);
    this.#host.record(key, messages);
    return messages;
  }

  #unread(reader: Reader): readonly TextMessage[] {
    const sent = this.#host.sent();
    if (sent.length === 0 || !this.#host.isAtFrontier()) return [];
    return reader.unread(sent.map(({ message }) => message));
  }
}

/** Appends a message to the log that was sent into a run while that was queued. */
export function showSent(
  { db, log, steering }: Stores,
  { run, turn }: { run: number; turn: number },
  sent: SentIn,
): RecordedEvent {
  return db.transaction(() => {
    const event = log.appendMessage(run, turn, sent.message);
    steering.logged(sent, event.seq);
    return event;
  });
}

/** The record of a reading. */
export function readingStep(
  messages: readonly TextMessage[],
  time: StepOutcome["time"],
): StepRecord & { outcome: StepOutcome } {
  return {
    kind: "effect",
    policy: "retry",
    attempt: 1,
    fingerprint: "",
    subject: { name: "steering" },
    outcome: { ok: asJson(messages), time },
  };
}

/** The messages of a recorded reading. */
export function messagesIn(outcome: StepOutcome): TextMessage[] {
  return "ok" in outcome ? (outcome.ok as unknown as TextMessage[]) : [];
}
