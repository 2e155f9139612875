import type { Conversation } from "../../../contract/directory.ts";
import type { Database } from "../../storage/database.ts";

/** In place of a team that was deleted. */
const NO_AGENT = "";

/** Which teams are conversations, and whose. Those with a team that was deleted are to be deleted, too. */
export class ConversationStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(id: string, { agent, owner }: Conversation): void {
    this.#db.write("insert into conversation values (?, ?, ?)", agent, owner, id);
  }

  remove(id: string, { agent, owner }: Conversation): void {
    this.#db.write(
      "delete from conversation where agent in (?, ?) and owner = ? and id = ?",
      agent,
      NO_AGENT,
      owner,
      id,
    );
  }

  /** The team that they are conversations with was deleted. */
  orphan(agent: string): void {
    if (
      this.#db.first("select 1 as found from conversation where agent = ?", agent) === undefined
    ) {
      return;
    }
    this.#db.write("update conversation set agent = ? where agent = ?", NO_AGENT, agent);
  }

  /** Ids of a few that are to be deleted. */
  orphans(most: number): string[] {
    return this.#db
      .all<{ id: string }>("select id from conversation where agent = ? limit ?", NO_AGENT, most)
      .map(({ id }) => id);
  }
}
