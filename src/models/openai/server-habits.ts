/** What a server was found to take for a model. */
export interface ServerHabits {
  /** Of the route that answered, where another one was refused. */
  path?: string;
  /** Whether it gives summaries of reasoning: OpenAI does so for verified organizations only. */
  summaries: boolean;
  /** Whether it gives encrypted reasoning. */
  encryption: boolean;
}

/** Limit of servers and models kept. */
const MOST_KEPT = 500;

const known = new Map<string, ServerHabits>();

/** The habits of a server for a model, shared by all clients of the isolate. */
export function habitsOf(url: string, model: string): ServerHabits {
  const key = `${url} ${model}`;
  let habits = known.get(key);
  if (habits === undefined) {
    habits = { summaries: true, encryption: true };
    known.set(key, habits);
    const [oldest] = known.keys();
    if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
  }
  return habits;
}
