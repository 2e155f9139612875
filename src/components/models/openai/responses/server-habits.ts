/** Learned facts about which requests a server accepts for a model. */
export interface ServerHabits {
  /** Facts about the server for all accounts. */
  server: {
    /** The path of the route that answered, where another one was refused. */
    path?: string;
  };
  /** Facts about the server for one account. */
  account: {
    /** True if it gives summaries of reasoning: OpenAI does so for verified organizations only. */
    summaries: boolean;
    /** True if it gives encrypted reasoning. */
    encryption: boolean;
  };
}

/** The most entries. */
const MOST_KEPT = 500;

const servers = new Map<string, ServerHabits["server"]>();
const accounts = new Map<string, ServerHabits["account"]>();

/** The habits of a server for a model, shared by all clients of the isolate; those for an account, by its own. */
export function habitsOf(url: string, model: string, apiKey: string): ServerHabits {
  const server = `${url} ${model}`;
  return {
    server: kept(servers, server, {}),
    account: kept(accounts, `${server} ${apiKey}`, { summaries: true, encryption: true }),
  };
}

function kept<T>(known: Map<string, T>, key: string, initial: T): T {
  const value = known.get(key) ?? initial;
  known.set(key, value);
  const [oldest] = known.keys();
  if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
  return value;
}
