import type {
  ListedRequest,
  ListedRun,
  OutboxChange,
  TeamFacts,
} from "../../contract/directory.ts";
import type { RunStatus } from "../../contract/run.ts";
import type { StoredRunWebhook } from "../../contract/webhooks/webhook.ts";
import type { JsonObject } from "../../core/json.ts";
import type { TraceContext } from "../../core/run/turn-context.ts";
import { type Occasion, occasionOf } from "./occasion.ts";
import { runPush } from "./run-push.ts";
import type { StoredQuestion } from "../storage/runs/question-store.ts";
import { TOP } from "../storage/runs/run-queue.ts";
import { isOver, type RunRecord } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";

/** Larger parts of a request are left out of the list, or cut. */
const LONGEST_PROMPT = 10_000;
const LARGEST_PART = 64_000;
/** Messages read at a time. */
const MESSAGES_AT_ONCE = 100;
/** Name of the note that the tenant's webhooks want the messages. */
const WANTS_MESSAGES = "wants_messages";
/** Keys of runs in one entry. */
const MOST_KEYS = 5_000;
/** Runs that a team from before the directory tells its tenant of. */
const MOST_EARLIER_RUNS = 100;

/** Writes what the tenant lists into the outbox. Each method must be called inside the transaction that makes the change. */
export class Announcer {
  readonly #stores: Stores;
  /** The last run told of. */
  #told: { id: string; status: RunStatus } | undefined;
  /** As stored; undefined before it was read. */
  #wantsMessages: boolean | undefined;
  /** Called when something is to be delivered. */
  onEntry: (change: OutboxChange) => void = () => undefined;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** The team was created or its component replaced. */
  team(): void {
    const { team } = this.#stores;
    const { label, metadata, component_version, created_at, updated_at } = team.record;
    const { conversation, expires_in } = team.record;
    const { provider } = team.component;
    const facts: TeamFacts = {
      label,
      metadata,
      provider,
      component_version,
      ...(conversation && { conversation }),
      ...(expires_in !== undefined && { expires_in }),
      created_at,
      updated_at,
    };
    this.#add({ kind: "team", team: facts });
  }

  /** A team from before the directory: itself, its latest runs and its open questions. */
  everything(): void {
    const { runs, questions, outbox } = this.#stores;
    if (outbox === undefined || outbox.begun) return;
    this.team();
    const latest = runs.page(TOP, MOST_EARLIER_RUNS);
    for (const { record } of latest.toReversed()) this.run(record, true);
    const last = runs.last();
    if (last === undefined || isOver(last.record)) return;
    for (const question of questions.open(last.record.id)) this.asked(question, true);
  }

  /** A run was created or has changed its status. @param earlier before the team had an outbox */
  run(record: RunRecord, earlier = false): void {
    const { id, status } = record;
    if (this.#told?.id === id && this.#told.status === status) return;
    const { usage: team_usage, id: team } = this.#stores.team.record;
    const run = listedRun(team, record);
    const push = runPush(this.#stores, record, () =>
      this.#stores.questions.open(id).map((question) => this.#listed(question)),
    );
    this.#add({
      kind: "run",
      run,
      team_usage,
      ...forWebhooks(record, earlier),
      ...(push && { push }),
    });
    this.#told = { id, status };
  }

  /** A push notification config of a run was deleted: what it was not told yet is not sent. */
  pushDeleted(run_id: string, id: string): void {
    this.#add({ kind: "push_deleted", run_id, id });
  }

  asked(question: StoredQuestion, earlier = false): void {
    const run = this.#stores.runs.byId(question.run)?.record;
    const request = this.#listed(question);
    this.#add({ kind: "request", request, ...forWebhooks(run, earlier) });
  }

  /** Messages of a run were committed. @param after the cursor before them */
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
          message: listedMessage(message as unknown as JsonObject),
          ...forWebhooks(record, false),
        });
      }
      from = last.seq;
    }
  }

  /** The tenant says whether its webhooks want the team's messages. */
  setWantsMessages(wanted: boolean): void {
    if (wanted === this.#readWantsMessages()) return;
    if (wanted) this.#stores.meta.write(WANTS_MESSAGES, true);
    else this.#stores.meta.remove(WANTS_MESSAGES);
    this.#wantsMessages = wanted;
  }

  /** A question was answered, or an answer would have no effect any more. */
  closed({ question, createdAt }: StoredQuestion): void {
    const created_at = new Date(createdAt).toISOString();
    this.#add({ kind: "request_closed", created_at, id: question.id });
  }

  /** The team is being deleted. */
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
    const { outbox } = this.#stores;
    if (outbox === undefined) return;
    outbox.add(change);
    this.onEntry(change);
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#told = undefined;
    this.#wantsMessages = undefined;
  }
}

/** Whether the run's own webhook wants its messages. */
function tellsMessages({ webhook }: RunRecord): boolean {
  return webhook?.events.includes("message") ?? false;
}

function forWebhooks(
  record: RunRecord | undefined,
  earlier: boolean,
): { webhook?: StoredRunWebhook; trace?: TraceContext; earlier?: true } {
  const webhook = record?.webhook;
  const trace = record?.trace?.context;
  return { ...(webhook && { webhook }), ...(trace && { trace }), ...(earlier && { earlier }) };
}

/** Of a large message only the fields that say which it is. */
function listedMessage(message: JsonObject): JsonObject {
  if (JSON.stringify(message).length <= LARGEST_PART) return message;
  const { seq = null, turn = null, id = null, type = null, source = null } = message;
  return { seq, turn, id, type, source, truncated: true };
}

function listedRun(team_id: string, record: RunRecord): ListedRun {
  const { id, status, stop_reason, error, usage, retry_of, metadata } = record;
  const { created_at, started_at, ended_at } = record;
  return {
    id,
    team_id,
    status,
    stop_reason,
    error: error && { type: error.type, message: error.message },
    usage,
    models: record.models ?? {},
    turns: Math.max(0, record.next_turn - Math.max(1, record.first_turn)),
    retry_of,
    metadata,
    created_at,
    started_at,
    ended_at,
  };
}

function listedRequest({
  question,
  run,
  createdAt,
  expiresAt,
}: StoredQuestion): Omit<ListedRequest, keyof Occasion> {
  const { id, kind, source, prompt, code, tool_call } = question;
  const large = (part: unknown): boolean => JSON.stringify(part).length > LARGEST_PART;
  const codeLeftOut = code !== undefined && large(code);
  const callCut = tool_call !== undefined && large(tool_call);
  return {
    id,
    kind,
    source,
    prompt: prompt.slice(0, LONGEST_PROMPT),
    ...(code !== undefined && !codeLeftOut && { code }),
    ...(tool_call !== undefined && {
      tool_call: callCut ? { name: tool_call.name, arguments: {} } : tool_call,
    }),
    run_id: run,
    truncated: prompt.length > LONGEST_PROMPT || codeLeftOut || callCut,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}
