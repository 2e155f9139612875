import { DatabaseSync } from "node:sqlite";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

/**
 * LangGraph's own checkpointer over Node's SQLite: `better-sqlite3`, which it is written for, has native code that is downloaded
 * or compiled when it is installed. The statements and the file are the same.
 */
export function sqliteSaver(file: string): SqliteSaver {
  const database = new DatabaseSync(file);
  const like = {
    exec: (sql: string) => database.exec(sql),
    pragma: (text: string) => database.exec(`PRAGMA ${text}`),
    prepare: (sql: string) => database.prepare(sql),
    transaction:
      <A extends unknown[]>(action: (...args: A) => void) =>
      (...args: A) => {
        database.exec("BEGIN");
        try {
          action(...args);
          database.exec("COMMIT");
        } catch (error) {
          database.exec("ROLLBACK");
          throw error;
        }
      },
  };
  return new SqliteSaver(like as unknown as ConstructorParameters<typeof SqliteSaver>[0]);
}
