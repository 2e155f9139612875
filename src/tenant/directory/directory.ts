import type {
  Acknowledgement,
  Delivery,
  LaterUsage,
  ListedRequest,
  ListedTeam,
  OutboxEntry,
  TeamFacts,
} from "../../contract/directory.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";
import type { Database } from "../../sqlite/database.ts";
import type { ChangeClock } from "./change-clock.ts";
import {
  type Activity,
  ActivityStore,
  NO_ACTIVITY,
  type PlacedActivity,
} from "./activity-store.ts";
import { shownConversation } from "../../contract/team/shown-conversation.ts";
import { ConversationStore } from "./conversation-store.ts";
import { ClosedRequests, DeletedTeams } from "./recent-removals.ts";
import { ToolStore } from "./tool-store.ts";
import { completeRun, isOpen, type OpenRuns, type RunRow } from "./open-runs.ts";
import { DirectoryRunStore } from "./directory-run-store.ts";
import { addDays, type DayUsage, laterUsageOf, usageOf, usedOn } from "../usage/day-usage.ts";
import { DayTotals } from "../usage/day-totals.ts";
import type { UsageStore } from "../usage/usage-store.ts";

/** A change of the directory, for its watchers. `team_user`: to whom the team belongs. */
export type Change = { team_user?: string | undefined } & (
  | { changed: number; kind: "team"; id: string }
  | { changed: number; kind: "run"; row: RunRow; later?: LaterUsage | undefined }
  | { changed: number; kind: "request"; request: ListedRequest }
  | { changed: number; kind: "request_closed"; team_id: string; id: string }
  | { changed: number; kind: "team_deleted"; id: string }
);

type Deleted = Extract<OutboxEntry, { kind: "deleted" }>;

/** Ended runs kept per team row; a watcher that reconnects is sent at most this many. */
const MOST_ENDED = 10;
/** The result of a delivery: the changes it made, and its entries that were not applied before. */
export type Applied = Acknowledgement & {
  changes: Change[];
  applied: readonly OutboxEntry[];
  /** Stores that the entries were applied when their changes did not store it. Otherwise they may be applied again. */
  note: () => void;
};

/** The stored data of an open question. */
interface StoredRequest {
  request: ListedRequest;
  changed: number;
  /** To whom its team belongs. */
  team_user?: string;
}

/** The field by which rows of runs and questions name their team's user. */
function ofUser({ user }: Activity): { team_user?: string } {
  return user === undefined ? {} : { team_user: user };
}

/**
 * The number of the change of a team that follows a change of its run. Each has a number of its own, because a client may be
 * disconnected between the two; that of a team with an open run is not stored.
 */
function afterRun(changed: number): number {
  return changed + 1;
}

/** The projection of all teams of a tenant: applies the entries that teams deliver. */
export class Directory {
  readonly #db: Database;
  readonly #clock: ChangeClock;
  readonly #usage: UsageStore;
  readonly #activity: ActivityStore;
  readonly #deleted: DeletedTeams;
  readonly #closed: ClosedRequests;
  readonly #runs: DirectoryRunStore;
  readonly conversations: ConversationStore;
  readonly tools: ToolStore;
  /** The usage of all teams by day. */
  readonly days: DayTotals;
  /** The places of the rows of teams with an active run. */
  readonly #places = new Map<string, number>();
  #size: number | undefined;
  #storedBytes: number | undefined;

  constructor(db: Database, clock: ChangeClock, usage: UsageStore) {
    this.#db = db;
    this.#clock = clock;
    this.#usage = usage;
    this.#activity = new ActivityStore(db);
    this.#deleted = new DeletedTeams(db);
    this.#closed = new ClosedRequests(db);
    this.#runs = new DirectoryRunStore(db);
    this.conversations = new ConversationStore(db);
    this.tools = new ToolStore(db);
    this.days = new DayTotals({ db, usage, lastDays: (from) => this.lastDays(from) });
    for (const { team, runs } of this.open.teams()) {
      for (const { place } of runs) if (place !== null) this.#places.set(team, place);
    }
    clock.startAfter(this.lastChange);
  }

  /** The number of the last change that is stored. */
  get lastChange(): number {
    const { last } = this.#db.first<{ last: number | null }>(
      `select max(changed) as last from (
         select max(changed) as changed from activity union all select max(changed) from gone
         union all select max(changed) from closed union all select max(record ->> 'changed') from request
       )`,
    ) ?? { last: null };
    const open = [...this.open.teams()].map(({ changed }) => afterRun(changed));
    return Math.max(last ?? 0, ...open);
  }

  /** The runs without an outcome. */
  get open(): OpenRuns {
    return this.#runs.open;
  }

  activityOf(team: string): Activity {
    return this.#find(team, this.#places.get(team) ?? null).activity;
  }

  /** Applies new entries in their order; must be called inside a transaction. */
  apply({ team, place, entries, stored }: Delivery, now: number): Applied {
    let { at, activity } = this.#find(team, place);
    let counted = activity.bytes ?? 0;
    /** Counts what the team's row says that it stores. */
    const count = ({ bytes = 0 }: Activity): void => {
      if (this.#storedBytes !== undefined) this.#storedBytes += bytes - counted;
      counted = bytes;
    };
    if (stored !== undefined) activity = { ...activity, bytes: stored };
    if (at === null) activity = { ...activity, number: this.#deletedWith(team, place, entries) };
    const changes: Change[] = [];
    const fresh: OutboxEntry[] = [];
    let noted = true;
    for (const entry of entries) {
      if (entry.number <= activity.number) continue;
      fresh.push(entry);
      const own = this.#clock.next(now);
      const changed = entry.kind === "run" ? this.#clock.next(now) : own;
      if (entry.kind === "deleted") {
        this.#remove(team, at, activity, entry, changed);
        const { user: team_user } = activity;
        changes.push({ changed, kind: "team_deleted", id: team, team_user });
        [at, activity] = [null, { ...NO_ACTIVITY, number: entry.number }];
        count(activity);
        noted = true;
        continue;
      }
      const applied = this.#applyEntry(team, entry, activity, { own, changed, place: at });
      activity = { ...applied.activity, number: entry.number };
      const { user: team_user } = activity;
      changes.push(...applied.changes.map((change) => ({ ...change, team_user })));
      // The start of a run is stored in its own row alone. In memory, the team's place in the list follows it.
      noted = applied.moves || at === null;
      if (noted) {
        this.#activity.move(team, at, changed, activity);
        count(activity);
        at = changed;
      }
    }
    if (at !== null && this.open.of(team).length > 0) this.#places.set(team, at);
    else this.#places.delete(team);
    const resync = at !== null && !this.has(team);
    const note = (): void => {
      if (noted || at === null) return;
      this.#activity.move(team, at, at, activity);
      count(activity);
    };
    return { number: activity.number, place: at ?? 0, resync, changes, applied: fresh, note };
  }

  /** The fields of a team's row in the list that no search needs. */
  shown(team: string, activity: Activity): Pick<ListedTeam, "last_run" | "tool"> {
    const tool = this.tools.summaryOf(team);
    return { last_run: this.#lastRun(team, activity), ...(tool && { tool }) };
  }

  /** The run of the team that ended last. */
  #lastRun(team: string, { ended: [last] }: Activity): ListedTeam["last_run"] {
    const run = last && this.#runs.get(team, last)?.run;
    if (run === undefined || isOpen(run.status)) return null;
    const { id, status, error, answer, ended_at } = run;
    return { id, status, error, answer, ended_at };
  }

  /** Without what a search does not need. */
  listed(id: string, facts: TeamFacts, activity: Activity): Omit<ListedTeam, "last_run"> {
    const { label, metadata, provider, component_version, created_at } = facts;
    const { conversation, user = null, expires_in = null, participants = [] } = facts;
    const { forked_from = null, description } = facts;
    const updated = [
      activity.updated_at,
      facts.updated_at,
      ...this.open.of(id).map(({ run }) => run.started_at ?? run.created_at),
    ];
    return {
      id,
      label,
      metadata,
      provider,
      ...(description !== undefined && { description }),
      component_version,
      ...this.open.statusOf(id),
      participants: [...participants],
      usage: activity.usage,
      forked_from,
      conversation: shownConversation(conversation),
      user,
      expires_in,
      created_at,
      updated_at: updated.toSorted().at(-1) ?? created_at,
    };
  }

  /** The current state of everything that has changed after a change, oldest first, each item once. */
  since(after: number): Change[] {
    const moved = this.#activity.since(after);
    const teams = new Map(moved.map(({ changed, id, team_user }) => [id, { changed, team_user }]));
    const busy = [...this.open.teams()].filter(({ changed }) => afterRun(changed) > after);
    for (const { team, changed, runs } of busy) {
      const last = Math.max(teams.get(team)?.changed ?? 0, afterRun(changed));
      teams.set(team, { changed: last, team_user: runs[0]?.team_user });
    }
    const ended = moved.flatMap(({ id }) => this.#endedSince(id, after));
    const open = busy.flatMap(({ runs }) => runs.filter(({ changed }) => changed > after));
    const runs = [...open, ...ended];
    const requests = this.#db
      .all<{ record: string }>("select record from request")
      .map(({ record }) => JSON.parse(record) as StoredRequest)
      .filter(({ changed }) => changed > after);
    const changes: Change[] = [
      ...[...teams].map(([id, about]) => ({ ...about, kind: "team" as const, id })),
      ...this.#deleted.since(after).map((gone) => ({ ...gone, kind: "team_deleted" as const })),
      ...runs.map((row) => ({
        changed: row.changed,
        kind: "run" as const,
        row,
        team_user: row.team_user,
      })),
      ...requests.map((change) => ({ ...change, kind: "request" as const })),
      ...this.#closed.since(after).map((closed) => ({
        ...closed,
        kind: "request_closed" as const,
      })),
    ];
    return changes.toSorted((one, other) => one.changed - other.changed);
  }

  /** Moves a team to the front of the list, because its tenant has changed what the list shows of it. Call it in a transaction. */
  moved(team: string, now: number): Change[] {
    const { at, activity } = this.#find(team, this.#places.get(team) ?? null);
    if (at === null) return [];
    const changed = this.#clock.next(now);
    this.#activity.move(team, at, changed, activity);
    if (this.#places.has(team)) this.#places.set(team, changed);
    return [{ changed, kind: "team", id: team, team_user: activity.user }];
  }

  team(id: string): TeamFacts | undefined {
    const row = this.#db.first<{ record: string }>("select record from team where id = ?", id);
    return row && (JSON.parse(row.record) as TeamFacts);
  }

  has(id: string): boolean {
    return this.#db.first("select 1 as found from team where id = ?", id) !== undefined;
  }

  /** The number of teams. */
  get size(): number {
    this.#size ??= this.#db.first<{ n: number }>("select count(*) as n from team")?.n ?? 0;
    return this.#size;
  }

  /** The bytes of all teams, as they have reported them. */
  get storedBytes(): number {
    this.#storedBytes ??= this.#activity.storedBytes;
    return this.#storedBytes;
  }

  /** Lists a team of which nothing but the id is known, so that it can be deleted. Call it in a transaction. */
  noteTeam(id: string): void {
    this.#db.write("insert or ignore into team values (?, '{}')", id);
    this.#size = undefined;
  }

  /** Ids of a few teams, in order. @param after only ids after this one */
  some(most: number, after = ""): string[] {
    return this.#db
      .all<{ id: string }>("select id from team where id > ? order by id limit ?", after, most)
      .map(({ id }) => id);
  }

  /** As {@link ActivityStore.rows}. */
  rows(...query: Parameters<ActivityStore["rows"]>): ReturnType<ActivityStore["rows"]> {
    return this.#activity.rows(...query);
  }

  /** The last days of all teams, or of those of a user, that are not before `from` (epoch milliseconds). */
  lastDays(from: number, user?: string): Iterable<{ team: string; usage: DayUsage }> {
    return this.#activity.lastDays(from, user);
  }

  /** A team forgets its place when an acknowledgement is lost. A team that is not listed has no place. */
  #find(team: string, place: number | null): PlacedActivity {
    if (place !== null) return this.#activity.find(team, place);
    if (!this.has(team)) return { at: null, activity: NO_ACTIVITY };
    return this.#activity.search(team);
  }

  /** The number of the entry that deleted the team, if it is among these entries: its acknowledgement was lost. */
  #deletedWith(team: string, place: number | null, entries: readonly OutboxEntry[]): number {
    const last = entries.findLast(({ kind }) => kind === "deleted");
    return last && this.#deleted.has(team, last.number, place ?? 0) ? last.number : 0;
  }

  /** The runs of the team that ended after a change, at most as many as its row names. */
  #endedSince(team: string, after: number): RunRow[] {
    return this.activityOf(team)
      .ended.filter(({ changed }) => changed > after)
      .map((run) => this.#runs.get(team, run))
      .filter((row) => row !== undefined);
  }

  /** @param numbers `changed`: of the last change that the entry makes, `own`: of the first */
  #applyEntry(
    team: string,
    entry: Exclude<OutboxEntry, Deleted>,
    activity: Activity,
    { own, changed, place }: { own: number; changed: number; place: number | null },
  ): { activity: Activity; changes: Change[]; moves: boolean } {
    switch (entry.kind) {
      case "team":
        this.#saveTeam(team, entry.team);
        return {
          activity: {
            ...activity,
            updated_at: entry.team.updated_at,
            ...(entry.team.user !== undefined && { user: entry.team.user }),
          },
          changes: [{ changed, kind: "team", id: team }],
          moves: true,
        };
      case "run": {
        const row = { run: completeRun(entry.run), changed: own, place, ...ofUser(activity) };
        const moves = !isOpen(entry.run.status);
        this.#runs.save(row);
        return {
          activity: moves ? this.#ended(team, row, entry, activity) : activity,
          changes: [
            { changed: own, kind: "run", row, later: entry.later },
            { changed, kind: "team", id: team },
          ],
          moves,
        };
      }
      case "request": {
        const { request } = entry;
        this.#db.write(
          "insert or replace into request values (?, ?, ?, ?)",
          Date.parse(request.created_at),
          team,
          request.id,
          JSON.stringify({ request, changed, ...ofUser(activity) } satisfies StoredRequest),
        );
        return { activity, changes: [{ changed, kind: "request", request }], moves: false };
      }
      case "request_closed":
        this.#db.write(
          "delete from request where created = ? and team = ? and id = ?",
          Date.parse(entry.created_at),
          team,
          entry.id,
        );
        this.#closed.add(team, entry.id, changed, activity.user);
        return {
          activity,
          changes: [{ changed, kind: "request_closed", team_id: team, id: entry.id }],
          moves: false,
        };
      case "message":
      case "push_deleted":
        return { activity, changes: [], moves: false };
      case "runs_deleted":
        for (const run of entry.runs) this.#runs.delete(team, run);
        return { activity, changes: [], moves: false };
    }
  }

  /** True if a request is open. @param created_at as the request has it */
  hasRequest(created_at: string, team: string, id: string): boolean {
    const query = "select 1 as found from request where created = ? and team = ? and id = ?";
    return this.#db.first(query, Date.parse(created_at), team, id) !== undefined;
  }

  /**
   * The row of a team after one of its runs has ended. On a new day, the usage of the last day is stored separately.
   */
  #ended(
    team: string,
    { run, changed }: RunRow,
    { team_usage: usage, later }: { team_usage: TokenUsage; later?: LaterUsage },
    { ended, day, ...activity }: Activity,
  ): Activity {
    const used = later ? laterUsageOf(run, later) : usageOf(run);
    this.days.add(used);
    if (day !== null && day.day !== used.day) this.#usage.put(team, day, activity.user);
    if (run.user !== undefined) this.#usage.addOfUser(team, run.user, usedOn(used));
    const { status, id, created_at } = run;
    const key = { status, created: Date.parse(created_at), id, changed };
    return {
      ...activity,
      usage,
      updated_at: (later ? undefined : run.ended_at) ?? activity.updated_at,
      // The order is that of their ends.
      ended: later
        ? ended.map((one) => (one.id === id ? key : one))
        : [key, ...ended].slice(0, MOST_ENDED),
      day: day?.day === used.day ? addDays(day, used) : used,
    };
  }

  /** Confirms the team's reservation on the first entry. */
  #saveTeam(id: string, facts: TeamFacts): void {
    const isNew = this.team(id) === undefined;
    const size = this.size + (isNew ? 1 : 0);
    if (isNew && facts.conversation) this.conversations.add(id, facts.conversation);
    this.#db.write("delete from reservation where id = ?", id);
    this.#db.write(
      "insert into team values (?, ?) on conflict (id) do update set record = excluded.record",
      id,
      JSON.stringify(facts),
    );
    this.#size = size;
  }

  /** Removes everything of the team except its usage. */
  #remove(
    team: string,
    place: number | null,
    { day, user }: Activity,
    { idempotency, number }: Deleted,
    changed: number,
  ): void {
    if (day !== null) this.#usage.put(team, day, user);
    if (place !== null) this.#activity.remove(team, place);
    const conversation = this.team(team)?.conversation;
    if (conversation) this.conversations.remove(team, conversation);
    this.conversations.orphan(team);
    this.#db.write("delete from team where id = ?", team);
    this.#db.write("delete from reservation where id = ?", team);
    this.tools.drop(team);
    this.#db.write("delete from request where team = ?", team);
    this.#runs.deleteOpen(team);
    if (idempotency !== null) {
      this.#db.write("delete from idempotency where key = ? and team = ?", idempotency, team);
    }
    this.#deleted.add(team, number, changed, user);
    this.#size = undefined;
  }
}
