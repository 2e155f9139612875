import { markOf } from "../../../core/memory/as-data.ts";
import { loadStemmers } from "../../../core/search/stem.ts";
import type { MemoryOfTeam, MemoryTurn } from "../../../contract/gateways/memory-gateway.ts";
import { searchText } from "../../../core/memory/memory-content.ts";
import type {
  CollectionReader,
  MemoryChange,
  MemoryEntry,
  MemoryHost,
  MemoryScope,
  MemoryStore,
  RecallQuery,
  RecallResult,
} from "../../../core/memory/memory-host.ts";
import type { SkillSource } from "../../../core/skills/skill-source.ts";
import type { MemoryTarget } from "../../storage/outbox/memory-outbox.ts";
import type { TeamMemory } from "../../storage/team-memory.ts";
import type { Stores } from "../../storage/stores.ts";
import type { JournaledRun } from "./journaled-run.ts";

/** Memories in other objects, as a team reaches them. */
export interface OtherMemories {
  /** Delivers what earlier turns have written there, and gives the object. @throws when it cannot be reached */
  reach(target: MemoryTarget): Promise<MemoryOfTeam>;
  collection(name: string): CollectionReader;
  /** A turn has written there and was committed. */
  written(): void;
}

/** Changes that a turn makes in one scope, until it commits. */
abstract class TurnStore implements MemoryStore {
  abstract readonly remote: boolean;
  readonly target: MemoryTarget | "own";
  readonly #changes: MemoryChange[] = [];
  readonly #turn: Omit<MemoryTurn, "changes">;

  constructor(target: MemoryTarget | "own", turn: Omit<MemoryTurn, "changes">) {
    this.target = target;
    this.#turn = turn;
  }

  abstract recall(query: RecallQuery): Promise<RecallResult>;
  abstract get(ids: readonly string[]): Promise<(MemoryEntry | null)[]>;
  protected abstract storedVectors(
    space: string,
    texts: readonly string[],
  ): Promise<(readonly number[] | null)[]>;

  /** The writes of the turn so far. */
  get staged(): MemoryTurn {
    return { ...this.#turn, changes: this.#changes };
  }

  write(change: MemoryChange): void {
    this.#changes.push(change);
  }

  async vectors(space: string, texts: readonly string[]): Promise<(readonly number[] | null)[]> {
    const stored = await this.storedVectors(space, texts);
    return texts.map((text, index) => this.#stagedVector(space, text) ?? stored[index] ?? null);
  }

  #stagedVector(space: string, text: string): readonly number[] | undefined {
    for (const change of this.#changes) {
      if (change.op !== "put" || change.embedding?.space !== space) continue;
      if (searchText(change.content.content) === text) return change.embedding.values;
    }
    return undefined;
  }
}

/** The team's own entries: what is committed, and what the turn has written. */
class OwnStore extends TurnStore {
  readonly remote = false;
  readonly #memory: TeamMemory;

  constructor(memory: TeamMemory, turn: Omit<MemoryTurn, "changes">) {
    super("own", turn);
    this.#memory = memory;
  }

  async recall(query: RecallQuery): Promise<RecallResult> {
    await loadStemmers();
    return this.#memory.recall(query, this.staged);
  }

  async get(ids: readonly string[]): Promise<(MemoryEntry | null)[]> {
    return this.#memory.entries.withIds(ids, this.staged);
  }

  protected async storedVectors(
    space: string,
    texts: readonly string[],
  ): Promise<(readonly number[] | null)[]> {
    return this.#memory.entries.index.vectors(space, texts);
  }
}

/** The entries of a user or of the tenant, in their object. */
class OtherStore extends TurnStore {
  readonly remote = true;
  readonly #reach: () => Promise<MemoryOfTeam>;

  constructor(
    target: MemoryTarget,
    turn: Omit<MemoryTurn, "changes">,
    reach: () => Promise<MemoryOfTeam>,
  ) {
    super(target, turn);
    this.#reach = reach;
  }

  async recall(query: RecallQuery): Promise<RecallResult> {
    return (await this.#reach()).recallMemories(query, this.staged);
  }

  async get(ids: readonly string[]): Promise<(MemoryEntry | null)[]> {
    return (await this.#reach()).memoriesWith(ids, this.staged);
  }

  protected async storedVectors(
    space: string,
    texts: readonly string[],
  ): Promise<(readonly number[] | null)[]> {
    return (await this.#reach()).memoryVectors(space, texts);
  }
}

/** Reads and writes memories for a turn. The writes are stored when it commits, or not at all. */
export class TurnMemory implements MemoryHost {
  readonly skills: SkillSource | undefined;
  readonly #stores: Pick<Stores, "memory" | "memoryOutbox" | "team">;
  readonly #others: OtherMemories | undefined;
  readonly #user: string | undefined;
  readonly #turn: Omit<MemoryTurn, "changes">;
  readonly #used = new Map<MemoryScope, TurnStore>();

  /** @param others undefined without the binding MEMORY @param skills undefined without the binding TENANT */
  constructor(
    stores: Stores,
    active: Pick<JournaledRun, "record" | "turnOfTeam" | "turnStarted">,
    others: OtherMemories | undefined,
    skills: SkillSource | undefined,
  ) {
    this.skills = skills;
    this.#stores = stores;
    this.#others = others;
    const { record, turnOfTeam, turnStarted } = active;
    this.#user = record.user;
    this.#turn = {
      source: { team: stores.team.record.id, run: record.id, turn: turnOfTeam },
      started_at: turnStarted.at,
    };
  }

  get mark(): string {
    return markOf(this.#stores.team.session);
  }

  store(scope: MemoryScope): MemoryStore | undefined {
    const store = this.#used.get(scope) ?? this.#open(scope);
    if (store !== undefined) this.#used.set(scope, store);
    return store;
  }

  collection(name: string): CollectionReader | undefined {
    return this.#others?.collection(name);
  }

  /** True if the turn has written to another object. */
  get hasMail(): boolean {
    return this.#written.some(({ target }) => target !== "own");
  }

  /** True if the turn has written to the team's own memories. */
  get hasOwn(): boolean {
    return this.#written.some(({ target }) => target === "own");
  }

  /** Imports what the commit needs to index the words of the team's own memories: a transaction cannot wait for it. */
  async ready(): Promise<void> {
    if (this.hasOwn) await loadStemmers();
  }

  /** Makes the changes; `ready` comes before. @returns what makes them inside the transaction of the commit */
  prepare(): () => void {
    const written = this.#written;
    if (this.hasOwn) this.#stores.memory.create();
    return () => {
      for (const { target, staged } of written) {
        if (target === "own") this.#stores.memory.commit(staged);
        else this.#stores.memoryOutbox.add(target, staged);
      }
    };
  }

  get #written(): TurnStore[] {
    return [...this.#used.values()].filter(({ staged }) => staged.changes.length > 0);
  }

  #open(scope: MemoryScope): TurnStore | undefined {
    if (scope === "team") return new OwnStore(this.#stores.memory, this.#turn);
    const others = this.#others;
    const target = this.#target(scope);
    if (others === undefined || target === undefined) return undefined;
    return new OtherStore(target, this.#turn, () => others.reach(target));
  }

  #target(scope: "user" | "tenant"): MemoryTarget | undefined {
    if (scope === "tenant") return { scope };
    return this.#user === undefined ? undefined : { scope, user: this.#user };
  }
}
