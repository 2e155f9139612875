import type { TeamOfMemories, TextsToEmbed } from "../../contract/gateways/memory-gateway.ts";
import { ModelError } from "../../core/models/model-error.ts";
import { within } from "../../core/wait.ts";
import type { Database } from "../../sqlite/database.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";
import type { PlaceEmbedder, UsedEmbedding } from "../../sqlite/recall/place-embedder.ts";

/** An embedding that agents of a team use here. */
interface UsedByTeam extends UsedEmbedding {
  team: string;
}

/** Teams that are remembered for one embedding: when one is deleted, another one is asked. */
const MOST_TEAMS = 3;
const MOST = 12;
/** Longer than the clients wait for their servers. */
const TEAM_MS = 60_000;

export interface UsedEmbeddingsHost {
  db: Database;
  scope: TextsToEmbed["scope"];
  /** Finds a team of the same tenant. */
  team: (id: string) => TeamOfMemories;
}

/**
 * The teams of the tenant that compare the meanings of the entries, and their spaces. Clients and their keys are not stored
 * here: a team that is asked embeds with its own, as its component says now.
 */
export class UsedEmbeddings implements PlaceEmbedder {
  readonly #host: UsedEmbeddingsHost;
  readonly #table: LazyTable;
  #list: readonly UsedByTeam[] | undefined;

  constructor(host: UsedEmbeddingsHost) {
    this.#host = host;
    const columns = "n integer primary key, record text not null";
    this.#table = new LazyTable(host.db, "memory_embeddings", `(${columns})`);
  }

  /** An agent of the team uses the embedding. @returns whether that is new */
  add(use: UsedByTeam): boolean {
    const same = this.#all.filter(
      ({ space, collection }) => space === use.space && collection === use.collection,
    );
    if (same.length >= MOST_TEAMS || same.some(({ team }) => team === use.team)) return false;
    this.#save([...this.#all.slice(1 - MOST), use]);
    return true;
  }

  async used(): Promise<readonly UsedEmbedding[]> {
    return this.#all;
  }

  async embed({ space }: UsedEmbedding, texts: readonly string[]): Promise<number[][] | undefined> {
    let failure: ModelError | undefined;
    const teams = new Set(this.#all.filter((one) => one.space === space).map(({ team }) => team));
    for (const team of teams) {
      const request = { scope: this.#host.scope, space, texts };
      const answer = await within(TEAM_MS, this.#host.team(team).embedTexts(request));
      if (answer.is === "embedded") return answer.vectors;
      if (answer.is === "failed") {
        failure = new ModelError("server", answer.reason, { retryable: answer.retryable });
      } else {
        this.#save(this.#all.filter((one) => one.space !== space || one.team !== team));
      }
    }
    if (failure !== undefined) throw failure;
    return undefined;
  }

  clear(): void {
    if (this.#all.length > 0) this.#save([]);
  }

  /** After a transaction that was rolled back, and after everything was erased. */
  forget(): void {
    this.#list = undefined;
  }

  get #all(): readonly UsedByTeam[] {
    this.#list ??= this.#read();
    return this.#list;
  }

  #read(): readonly UsedByTeam[] {
    if (!this.#table.exists) return [];
    const row = this.#host.db.first<{ record: string }>("select record from memory_embeddings");
    return row === undefined ? [] : (JSON.parse(row.record) as UsedByTeam[]);
  }

  #save(list: readonly UsedByTeam[]): void {
    if (list.length === 0 && !this.#table.exists) return;
    this.#table.create();
    const statement = "insert or replace into memory_embeddings values (1, ?)";
    this.#host.db.write(statement, JSON.stringify(list));
    this.#list = list;
  }
}
