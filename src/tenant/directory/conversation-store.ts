import type { ConversationKey } from "../../contract/directory.ts";
import type { Database } from "../../sqlite/database.ts";

/** Stored as the agent of a conversation whose team was deleted. */
const NO_AGENT = "";

/** Stores which teams are conversations, and with which team. Conversations with a deleted team are deleted too. */
export class ConversationStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(id: string, { agent, owner }: ConversationKey): void {
    this.#db.write("insert into conversation values (?, ?, ?)", agent, owner, id);
  }

  remove(id: string, { agent, owner }: ConversationKey): void {
    this.#db.write(
      "delete from conversation where agent in (?, ?) and owner = ? and id = ?",
      agent,
      NO_AGENT,
      owner,
      id,
    );
  }

  /** Marks the conversations of a team that was deleted. */
  orphan(agent: string): void {
    if (
      this.#db.first("select 1 as found from conversation where agent = ?", agent) === undefined
    ) {
      return;
    }
    this.#db.write("update conversation set agent = ? where agent = ?", NO_AGENT, agent);
  }

  /** Ids of a few conversations that have to be deleted. */
  orphans(most: number): string[] {
    return this.#db
      .all<{ id: string }>("select id from conversation where agent = ? limit ?", NO_AGENT, most)
      .map(({ id }) => id);
  }
}
