import worker, { type Env, TeamObject as DeployedTeam } from "troupe/worker";

export { TenantObject } from "troupe/worker";

/** A team that says how many rows it wrote from each transaction to the next: those of one turn. */
export class TeamObject extends DeployedTeam {
  readonly #commits: number[];

  constructor(ctx: DurableObjectState, env: Env) {
    const commits: number[] = [];
    Object.defineProperty(ctx, "storage", { value: counting(ctx.storage, commits) });
    super(ctx, env);
    this.#commits = commits;
  }

  /** Rows per transaction since this was asked last. */
  takeRows(): number[] {
    return this.#commits.splice(0);
  }
}

/** The object as seen from outside. */
interface RowsStub {
  takeRows(): Promise<number[]>;
}

/** The deployed Worker, and `/rows/{team}` beside it. */
export default {
  async fetch(request, env) {
    const team = /\/rows\/(.+)$/.exec(request.url)?.[1];
    if (team === undefined) return worker.fetch(request, env);
    const stub = env.TEAM.getByName(`local/${team}`) as unknown as RowsStub;
    return Response.json(await stub.takeRows());
  },
} satisfies ExportedHandler<Env>;

/** The same storage. Setting the alarm counts as a row, as the platform bills it. */
function counting(storage: DurableObjectStorage, commits: number[]): DurableObjectStorage {
  let rows = 0;
  const sql = new Proxy(storage.sql, {
    get: (target, name) => {
      if (name !== "exec") return Reflect.get(target, name, target) as unknown;
      return (query: string, ...bindings: unknown[]) => {
        const cursor = target.exec(query, ...bindings);
        rows += cursor.rowsWritten;
        return cursor;
      };
    },
  });
  return new Proxy(storage, {
    get: (target, name) => {
      if (name === "sql") return sql;
      if (name === "setAlarm" || name === "deleteAlarm") rows++;
      if (name === "transactionSync") {
        return <T>(changes: () => T): T => {
          const result = target.transactionSync(changes);
          commits.push(rows);
          rows = 0;
          return result;
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
