import { beginningOf } from "../../../core/cut.ts";
import type { ListedRequest, ListedRun, RunPush } from "../../../contract/directory.ts";
import { totalCost } from "../../../contract/usage/model-usage.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { shownRule } from "../runs/question-record.ts";
import type { StoredQuestion } from "../runs/question-store.ts";
import type { RunRecord, StoredRun } from "../runs/run-record.ts";
import { isOver, type RunStore } from "../runs/run-store.ts";
import { isChatMessage, toText } from "../../../core/messages/views.ts";
import type { EventLog } from "../log/event-log.ts";
import type { TeamStore } from "../tables/team-store.ts";
import { humanSources } from "../../../core/messages/human-sources.ts";
import type { ChatMessage, Message } from "../../../core/messages/message.ts";

/** The stores that the lists are read from. */
export interface ListedStores {
  readonly log: EventLog;
  readonly runs: RunStore;
  readonly team: TeamStore;
}

/** Larger parts of a request are left out of the list or truncated. */
const LONGEST_PROMPT = 10_000;
const LARGEST_PART = 64_000;
/** The most names in the list of teams. */
const MOST_PARTICIPANTS = 50;

/** For a large message, only the fields that identify it. */
export function listedMessage(message: JsonObject): JsonObject {
  if (JSON.stringify(message).length <= LARGEST_PART) return message;
  const { seq = null, turn = null, id = null, type = null, source = null } = message;
  return { seq, turn, id, type, source, truncated: true };
}

/** @param known its messages that are in memory; undefined for a run from before the outbox, whose answer is not read */
export function listedRun(
  stores: ListedStores,
  team_id: string,
  stored: StoredRun,
  known: StoredExchange | undefined,
): ListedRun {
  const { record } = stored;
  const exchange =
    known === undefined
      ? { task: listedTask(stores, stored), answer: null }
      : exchangeOf(stores, stored, known);
  const { id, status, stop_reason, error, usage, retry_of, user, subject, metadata } = record;
  const { created_at, started_at, ended_at } = record;
  return {
    id,
    team_id,
    status,
    component_version: record.component_version ?? null,
    ...exchange,
    stop_reason,
    error: error && { type: error.type, message: error.message, agent: error.agent ?? null },
    usage,
    models: record.models ?? {},
    cost: totalCost(record.models ?? {}),
    turns: Math.max(0, record.next_turn - Math.max(1, record.first_turn)),
    retry_of,
    ...(user !== undefined && { user }),
    ...(subject !== undefined && { subject }),
    metadata,
    created_at,
    started_at,
    ended_at,
  };
}

export function listedRequest({
  question,
  run,
  createdAt,
  expiresAt,
}: StoredQuestion): Omit<ListedRequest, keyof Occasion> {
  const { id, kind, source, prompt, code, tool_call, form, login, judged, default_answer } =
    question;
  const large = (part: unknown): boolean => JSON.stringify(part).length > LARGEST_PART;
  const codeLeftOut = code !== undefined && large(code);
  const formLeftOut = form !== undefined && large(form);
  const callCut = tool_call !== undefined && large(tool_call);
  return {
    id,
    kind,
    source,
    prompt: beginningOf(prompt, LONGEST_PROMPT),
    ...(code !== undefined && !codeLeftOut && { code }),
    ...(tool_call !== undefined && {
      tool_call: callCut ? { name: tool_call.name, arguments: {} } : tool_call,
    }),
    ...(form !== undefined && !formLeftOut && { form }),
    ...(login && { login: { server: login.server, user: login.user } }),
    ...(judged && shownRule(judged)),
    ...(default_answer && !large(default_answer) && { default_answer: { ...default_answer } }),
    run_id: run,
    truncated: prompt.length > LONGEST_PROMPT || codeLeftOut || callCut || formLeftOut,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** The names of a team's agents, or of the agent itself. */
export function participantsOf({ config }: { config: unknown }): string[] {
  if (!isJsonObject(config)) return [];
  const { participants } = config;
  if (!Array.isArray(participants)) return nameOf(config);
  return participants
    .slice(0, MOST_PARTICIPANTS)
    .flatMap((participant: Json) =>
      isJsonObject(participant) && isJsonObject(participant["config"])
        ? nameOf(participant["config"])
        : [],
    );
}

function nameOf({ name }: { readonly [key: string]: unknown }): string[] {
  return typeof name === "string" ? [name] : [];
}

/** The origin of a question, shown in the inbox. */
export type Occasion = Pick<ListedRequest, "team_id" | "team_label" | "task" | "said">;

const LONGEST_TASK = 500;
const LONGEST_SAID = 2_000;
/** Larger messages are not read. */
const MOST_READ = 500_000;
/** The most messages to search: the last ones may be events. */
const MOST_MESSAGES = 20;

/** The team, the task of the run, and the last message before the question. */
export function occasionOf(stores: ListedStores, run: string): Occasion {
  const { log, runs, team } = stores;
  const { id, label } = team.record;
  const stored = runs.byId(run);
  return {
    team_id: id,
    team_label: label,
    task: stored === undefined ? null : listedTask(stores, stored),
    said: saidBefore(log, stored?.record.first_event ?? log.last, LONGEST_SAID),
  };
}

/** The task of a run and its last message, shown in the lists of runs. */
export type ListedExchange = Pick<ListedRun, "task" | "answer">;

/** The messages of an exchange that are in memory. The others are read. */
export interface StoredExchange {
  task?: RunTask | undefined;
  /** The run's last chat message. */
  last?: ChatMessage | undefined;
}

/** The task of the team's last run, and its answer once it has ended. */
function exchangeOf(stores: ListedStores, run: StoredRun, known: StoredExchange): ListedExchange {
  const { record } = run;
  const task = listedTask(stores, run, known.task);
  if (!isOver(record)) return { task, answer: null };
  const said = known.last
    ? saidIn(known.last, LONGEST_TASK)
    : saidBefore(stores.log, record.first_event, LONGEST_TASK);
  // The only message of a run that said nothing is its task.
  return { task, answer: said?.text === task ? null : said };
}

/** The messages that started a run; null for one that continues without a new task. */
export type RunTask = readonly ChatMessage[] | null;

/** The beginning of a run's task. @param known its messages, where they are in memory */
export function listedTask({ runs }: ListedStores, run: StoredRun, known?: RunTask): string | null {
  const task = known === undefined && runs.taskSize(run) <= MOST_READ ? runs.task(run) : known;
  return task ? shortened(task.map(toText).join("\n\n"), LONGEST_TASK) : null;
}

/** @param after the cursor before the run's first event */
function saidBefore(log: EventLog, after: number, most: number): Occasion["said"] {
  let left = MOST_MESSAGES;
  for (const said of log.backwards(after)) {
    if (left-- === 0 || said.size > MOST_READ) return null;
    const message = said.read();
    if (isChatMessage(message)) return saidIn(message, most);
  }
  return null;
}

function saidIn(message: ChatMessage, most: number): NonNullable<Occasion["said"]> {
  return { source: message.source, text: shortened(toText(message), most) };
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${beginningOf(text, most - 1)}…`;
}

/** The most messages to search for the answer: the last ones may be a human's, or events. */
const MOST_SEARCHED = 50;
const MOST_SEARCHED_BYTES = 2_000_000;
/** The most characters of an answer. Receivers request larger ones. */
const LARGEST_ANSWER = 64_000;
/** The most characters of all questions together. */
const LARGEST_REQUESTS = 256_000;

/** The content of push notifications besides the run itself; undefined without a config or content. */
export function runPush(
  stores: ListedStores,
  record: RunRecord,
  configs: NonNullable<RunRecord["push"]>,
  listed: () => ListedRequest[],
): RunPush | undefined {
  const { status } = record;
  if (configs.length === 0) return undefined;
  const { context } = stores.team.record.conversation ?? {};
  const common = { configs, ...(context !== undefined && { context }) };
  switch (status) {
    case "waiting":
      return { ...common, requests: fitting(listed()), answer: null };
    case "completed":
      return { ...common, requests: [], answer: answerOf(stores, record) };
    case "failed":
    case "cancelled":
      return { ...common, requests: [], answer: null };
    default:
      return undefined;
  }
}

function fitting(requests: readonly ListedRequest[]): ListedRequest[] {
  let room = LARGEST_REQUESTS;
  return requests.filter((request) => (room -= JSON.stringify(request).length) >= 0);
}

/** The last message of an agent. */
function answerOf({ log, runs }: ListedStores, { id, first_event }: RunRecord): JsonObject | null {
  const stored = runs.byId(id);
  const given = new Set((stored && runs.task(stored))?.map((message) => message.id));
  const said: Message[] = [];
  let room = MOST_SEARCHED_BYTES;
  for (const message of log.backwards(first_event)) {
    room -= message.size;
    if (said.length === MOST_SEARCHED || room < 0) break;
    said.push(message.read());
  }
  const humans = humanSources(said);
  const answer = said.find(
    (message) => isChatMessage(message) && !humans.has(message.source) && !given.has(message.id),
  );
  if (answer === undefined || JSON.stringify(answer).length > LARGEST_ANSWER) return null;
  return { ...answer } as JsonObject;
}
