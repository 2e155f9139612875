import { MAX_UNREAD_CHARACTERS, MAX_UNREAD_MESSAGES } from "../../../contract/constants.ts";
import type { Idempotency } from "../../../contract/common.ts";
import type { RunMessageInput, StartRunInput } from "../../../contract/gateways/team-gateway.ts";
import {
  idempotencyMismatch,
  ok,
  refuse,
  type Refused,
  refuseInput,
  type Result,
  runNotFound,
} from "../../../contract/result.ts";
import { TaskError } from "../../../core/errors.ts";
import type { TextMessage } from "../../../core/messages/chat-messages.ts";
import { pathTo } from "../../../core/run/recipient.ts";
import { steeringMessage } from "../../../core/turn/steering.ts";
import type { Stores } from "../../storage/stores.ts";
import type { RunEngine } from "../run-engine.ts";
import type { TeamCache } from "../team-cache.ts";

/** The options of a new run, and how a run has them that was started without them. */
const OPTIONS_OF_NEW_RUNS: readonly [
  name: keyof StartRunInput,
  isGiven: (value: unknown) => boolean,
][] = [
  ["output_task_messages", (value) => value === false],
  ["timeout_seconds", isThere],
  ["max_total_tokens", isThere],
  ["max_cost", isThere],
  ["metadata", (value) => Object.keys(value as object).some((key) => !OF_SCHEDULES.has(key))],
  ["webhook", isThere],
  ["push", isThere],
  ["tools", (value) => isThere(value) && (value as unknown[]).length > 0],
  ["state", isThere],
  ["answer_form", isThere],
];

/** Metadata that a schedule adds to the run of an occurrence. */
const OF_SCHEDULES: ReadonlySet<string> = new Set(["schedule_id", "scheduled_for"]);

/** Takes messages into runs that are active or queued. Each is stored, and in the log, at once. */
export class RunSteering {
  readonly #stores: Stores;
  readonly #engine: RunEngine;
  readonly #cache: TeamCache;

  constructor(stores: Stores, engine: RunEngine, cache: TeamCache) {
    this.#stores = stores;
    this.#engine = engine;
    this.#cache = cache;
  }

  /** Resolves when the active run takes messages: not between the last reading of a turn and its commit. */
  async whenOpen(): Promise<void> {
    for (let closing = this.#closing; closing; closing = this.#closing) await closing;
  }

  /** Sends a message into a run. Awaits the team only for the place of a recipient. */
  async send(
    run: string,
    { content, to }: RunMessageInput,
    idempotency?: Idempotency,
  ): Promise<Result<{ id: string }>> {
    const key = idempotency && { key: idempotency.key, hash: `message ${run} ${idempotency.hash}` };
    const earlier = this.#sentBy(key);
    if (earlier) return earlier;
    const refused = this.#refusal(run);
    if (refused) return refused;
    let path: string | undefined;
    try {
      path = to === undefined ? undefined : pathTo((await this.#cache.open()).runnable, to);
    } catch (error) {
      return refuseInput(error);
    }
    await this.whenOpen();
    const late = this.#sentBy(key) ?? this.#refusal(run);
    if (late) return late;
    const [message] = this.#accept(run, [steeringMessage(content, path)], key);
    return ok({ id: message?.id ?? "" });
  }

  /** The refusal of a request that asks for a run and would become a message into the active one. */
  refuseAsRun(input: StartRunInput): Refused | undefined {
    if (input.message !== undefined) return this.#tooMany();
    const given = OPTIONS_OF_NEW_RUNS.filter(([name, isGiven]) => isGiven(input[name]));
    if (given.length > 0) {
      const message = "belongs to a new run, and the message goes into the active one";
      const errors = given.map(([path]) => ({ path, message }));
      const names = given.map(([name]) => name).join(", ");
      const detail = `The team has an active run, which takes the task as a message. Leave out what belongs to a new run: ${names}.`;
      return { ok: false, problem: { status: 422, code: "belongs_to_a_new_run", detail, errors } };
    }
    if (textsOf(input.task) !== undefined) return this.#tooMany();
    const message = "must be text, one or several text messages, while a run is active";
    return refuseInput(
      new TaskError(`The task ${message}.`, { issues: [{ path: "task", message }] }),
    );
  }

  /**
   * Sends the task of a request into the run that it was decided for.
   *
   * @returns the cursor before the first message; undefined as long as the run is queued
   */
  sendTask(run: string, input: StartRunInput): number | undefined {
    const { last } = this.#stores.log;
    const texts = input.message === undefined ? textsOf(input.task) : [input.message];
    const messages = (texts ?? []).map((content) => steeringMessage(content, undefined));
    const key = input.idempotency;
    this.#accept(run, messages, key, run);
    return this.#engine.active?.record.id === run ? last : undefined;
  }

  get #closing(): Promise<void> | undefined {
    return this.#engine.active?.closing;
  }

  /** @param answer what the same request gets again; by default the id of the first message */
  #accept(
    run: string,
    messages: readonly TextMessage[],
    idempotency: Idempotency | undefined,
    answer = messages[0]?.id ?? "",
  ): readonly TextMessage[] {
    const { db, log, steering } = this.#stores;
    const { active } = this.#engine;
    const isActive = active?.record.id === run;
    const events = db.transaction(() => {
      if (idempotency) {
        const { key, hash } = idempotency;
        db.write("insert into idempotency values (?, ?, ?)", key, hash, answer);
      }
      return messages.map((message) => {
        const event = isActive
          ? log.appendMessage(active.stored.seq, active.turnOfTeam, message)
          : undefined;
        steering.add({ run, id: message.id, event: event?.seq ?? null, message });
        return event;
      });
    });
    for (const event of events) if (event) this.#engine.feed.sentIn(event);
    if (isActive) active.steering?.arrived(messages);
    return messages;
  }

  #refusal(run: string): Refused | undefined {
    const found = this.#stores.runs.byId(run);
    if (found === undefined) return runNotFound();
    const isOpen = this.#engine.active?.record.id === run || this.#engine.queued.has(run);
    if (isOpen) return this.#tooMany();
    return refuse(409, "run_ended", `The run is ${found.record.status}.`);
  }

  #tooMany(): Refused | undefined {
    const unread = this.#stores.steering.all;
    const characters = unread.reduce((sum, { message }) => sum + message.content.length, 0);
    if (unread.length < MAX_UNREAD_MESSAGES && characters < MAX_UNREAD_CHARACTERS) return undefined;
    const detail = `The team has not read its messages yet. At most ${MAX_UNREAD_MESSAGES} of them, with ${MAX_UNREAD_CHARACTERS} characters together, may wait. Try again when it has read them.`;
    return refuse(409, "too_many_unread_messages", detail);
  }

  #sentBy(idempotency: Idempotency | undefined): Result<{ id: string }> | undefined {
    if (idempotency === undefined) return undefined;
    const earlier = this.#stores.db.first<{ hash: string; run: string }>(
      "select hash, run from idempotency where key = ?",
      idempotency.key,
    );
    if (earlier === undefined) return undefined;
    return earlier.hash === idempotency.hash ? ok({ id: earlier.run }) : idempotencyMismatch();
  }
}

/** The texts of a task; undefined for one that is not only text. */
function textsOf(task: StartRunInput["task"]): string[] | undefined {
  const texts = task?.map((message) =>
    message.type === "TextMessage" && "content" in message && typeof message.content === "string"
      ? message.content
      : undefined,
  );
  return texts?.every((text) => text !== undefined) ? texts : undefined;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
