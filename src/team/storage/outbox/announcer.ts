import type { MetaKey, MetaStore } from "../tables/meta-store.ts";
import type {
  LaterUsage,
  ListedRequest,
  OutboxChange,
  TeamFacts,
} from "../../../contract/directory.ts";
import type { RunStatus } from "../../../contract/run.ts";
import type { StoredRunWebhook, WebhookEvent } from "../../../contract/webhook.ts";
import { descriptionOf } from "../../../core/component/description.ts";
import type { JsonObject } from "../../../core/json.ts";
import {
  type StoredExchange,
  type ListedStores,
  listedMessage,
  listedRequest,
  listedRun,
  occasionOf,
  participantsOf,
  runPush,
} from "./list-entries.ts";
import type { QuestionStore, StoredQuestion } from "../runs/question-store.ts";
import { TOP } from "../runs/run-queue.ts";
import type { RunRecord, StoredRun } from "../runs/run-record.ts";
import { hopsAfter, isOver } from "../runs/run-store.ts";
import type { OutboxStore } from "./outbox.ts";

/** The stores that entries are made from, and the one they are written to. */
interface AnnouncedStores extends ListedStores {
  readonly meta: MetaStore;
  readonly questions: QuestionStore;
  /** Undefined for a team that no tenant lists. */
  readonly outbox: OutboxStore | undefined;
}

/** Messages read per batch. */
const MESSAGES_AT_ONCE = 100;
/** Meta key that records whether the tenant's webhooks subscribe to messages. */
const WANTS_MESSAGES: MetaKey<boolean> = {
  name: "wants_messages",
  read: (value) => value === true,
};
/** The most keys of runs in one entry. */
const MOST_KEYS = 5_000;
/** The most runs that a team from before the directory reports to its tenant. */
const MOST_EARLIER_RUNS = 100;

/**
 * Writes entries for the tenant's lists into the outbox. Each method must be called inside the transaction that makes
 * the change.
 */
export class Announcer {
  readonly #stores: AnnouncedStores;
  /** The last reported run. */
  #announced: { id: string; status: RunStatus } | undefined;
  /** The stored value; undefined before it is read. */
  #wantsMessages: boolean | undefined;

  constructor(stores: AnnouncedStores) {
    this.#stores = stores;
  }

  /** Reports a created team or a replaced component. */
  team(): void {
    const { team } = this.#stores;
    const { label, metadata, component_version, created_at, updated_at } = team.record;
    const { conversation, expires_in, forked_from, user } = team.record;
    const { provider } = team.component;
    const facts: TeamFacts = {
      label,
      metadata,
      provider,
      description: descriptionOf(team.component),
      participants: participantsOf(team.component),
      component_version,
      ...(forked_from && { forked_from }),
      ...(conversation && { conversation }),
      ...(user !== undefined && { user }),
      ...(expires_in !== undefined && { expires_in }),
      created_at,
      updated_at,
    };
    this.#add({ kind: "team", team: facts });
  }

  /** Reports a team from before the directory: itself, its latest runs and its open questions. */
  everything(): void {
    const { runs, questions, outbox } = this.#stores;
    if (outbox === undefined || outbox.started) return;
    this.team();
    const latest = runs.page(TOP, MOST_EARLIER_RUNS);
    for (const run of latest.toReversed()) this.#run(run, {}, true);
    const last = runs.last();
    if (last === undefined || isOver(last.record)) return;
    for (const question of questions.open(last.record.id)) this.asked(question, true);
  }

  /** Reports a created run or a change of its status. */
  run(run: StoredRun, known: StoredExchange): void {
    this.#run(run, known, false);
  }

  /** @param earlier before the team had an outbox */
  #run(stored: StoredRun, known: StoredExchange, earlier: boolean): void {
    const { record } = stored;
    const { id, status } = record;
    if (this.#announced?.id === id && this.#announced.status === status) return;
    const { usage: team_usage, id: team } = this.#stores.team.record;
    const run = listedRun(this.#stores, team, stored, earlier ? undefined : known);
    const push =
      record.push &&
      runPush(this.#stores, record, record.push, () =>
        this.#stores.questions.open(id).map((question) => this.#listed(question)),
      );
    this.#add({
      kind: "run",
      run,
      team_usage,
      ...forWebhooks(record, earlier),
      ...(push && { push }),
    });
    this.#announced = { id, status };
  }

  /** Reports what a run has used after its end. It sends no webhook, as one that was reported before. */
  later(stored: StoredRun, later: LaterUsage): void {
    const { usage: team_usage, id: team } = this.#stores.team.record;
    const run = listedRun(this.#stores, team, stored, {});
    this.#add({ kind: "run", run, team_usage, later, earlier: true });
  }

  /** Reports a deleted push notification config of a run: its pending notifications are not sent. */
  pushDeleted(run_id: string, id: string): void {
    this.#add({ kind: "push_deleted", run_id, id });
  }

  asked(question: StoredQuestion, earlier = false): void {
    const run = this.#stores.runs.byId(question.run)?.record;
    const request = this.#listed(question);
    this.#add({ kind: "request", request, ...forWebhooks(run, earlier) });
  }

  /** Reports committed messages of a run. @param after the cursor before them */
  messages(record: RunRecord, after: number): void {
    if (!this.#readWantsMessages() && !tellsMessages(record)) return;
    const { log } = this.#stores;
    for (let from = after; ;) {
      const page = log.messages({ after: from, limit: MESSAGES_AT_ONCE });
      const last = page.at(-1);
      if (last === undefined) return;
      for (const message of page) {
        this.#add({
          kind: "message",
          run_id: record.id,
          message: listedMessage({ ...message } as JsonObject),
          ...forWebhooks(record, false),
        });
      }
      from = last.seq;
    }
  }

  /** Stores whether the tenant's webhooks subscribe to the team's messages. */
  setWantsMessages(wanted: boolean): void {
    if (wanted === this.#readWantsMessages()) return;
    if (wanted) this.#stores.meta.write(WANTS_MESSAGES, true);
    else this.#stores.meta.remove(WANTS_MESSAGES);
    this.#wantsMessages = wanted;
  }

  /** Reports that a question was answered, or that an answer would no longer have an effect. */
  closed({ question, createdAt }: StoredQuestion): void {
    const created_at = new Date(createdAt).toISOString();
    this.#add({ kind: "request_closed", created_at, id: question.id });
  }

  /** Reports that the team is being deleted. */
  deleted(): void {
    const { runs, team } = this.#stores;
    for (let before = TOP; ;) {
      const page = runs.page(before, MOST_KEYS);
      const last = page.at(-1);
      if (last === undefined) break;
      this.#add({
        kind: "runs_deleted",
        runs: page.map(({ record: { status, created_at, id } }) => ({
          status,
          created: Date.parse(created_at),
          id,
        })),
      });
      before = last;
    }
    this.#add({ kind: "deleted", idempotency: team.record.idempotency?.key ?? null });
  }

  #listed(question: StoredQuestion): ListedRequest {
    return { ...listedRequest(question), ...occasionOf(this.#stores, question.run) };
  }

  #readWantsMessages(): boolean {
    this.#wantsMessages ??= this.#stores.meta.read(WANTS_MESSAGES) === true;
    return this.#wantsMessages;
  }

  #add(change: OutboxChange): void {
    this.#stores.outbox?.add(change);
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#announced = undefined;
    this.#wantsMessages = undefined;
  }
}

/** True if the run's own webhook or receivers want its messages. */
function tellsMessages({ webhook, notify = [] }: RunRecord): boolean {
  return (
    webhook?.events.includes("message") === true ||
    notify.some(({ shown }) => shown.on.includes("message"))
  );
}

function forWebhooks(
  record: RunRecord | undefined,
  earlier: boolean,
): Pick<WebhookEvent, "notify" | "trace" | "hops"> & {
  webhook?: StoredRunWebhook;
  earlier?: true;
} {
  const webhook = record?.webhook;
  const notify = record?.notify;
  const trace = record?.trace?.context;
  return {
    ...(webhook && { webhook }),
    ...(notify && { notify }),
    ...(trace && { trace }),
    ...(record && { hops: hopsAfter(record) }),
    ...(earlier && { earlier }),
  };
}
