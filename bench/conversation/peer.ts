/** A conversation with a model. The peer keeps its messages. */
export interface ConversationOptions {
  /** URL of the model server, ending in `/v1`. */
  baseURL: string;
  model: string;
  /** Whether replies are streamed, to the client as well. */
  stream: boolean;
  /** Messages that exist before the first turn: even, half of them by the user. */
  history: number;
  /** How many of the last messages the model sees; null: all. */
  context: number | null;
}

/** What one turn costs on average. */
export interface Cost {
  milliseconds: number;
  /** Milliseconds of CPU of the process that leads the conversation, all threads. */
  cpu: number;
}

export interface Conversation {
  /** The user says something and waits for the end of the reply, `count` times. */
  turns(count: number): Promise<Cost>;
}

/** A library or service that leads conversations, in a process of its own. */
export interface Peer extends AsyncDisposable {
  readonly name: string;
  /** What survives a kill of its process. */
  readonly durable: string;
  open(options: ConversationOptions): Promise<Conversation>;
}

export const SYSTEM = "You are a helpful assistant.";

/** Message number `index` of a conversation; the user's are the even ones. */
export function message(index: number): { role: "user" | "assistant"; content: string } {
  return { role: index % 2 === 0 ? "user" : "assistant", content: text(index) };
}

/** What the user says. */
export function text(index: number): string {
  return `Message ${index}: ${"a sentence of ordinary length that says little. ".repeat(4)}`;
}

/** Takes turns one after the other. @param cpu milliseconds of CPU used so far */
export async function takeTurns(
  say: (text: string) => Promise<unknown>,
  count: number,
  cpu: () => number,
): Promise<Cost> {
  const [used, started] = [cpu(), performance.now()];
  for (let turn = 0; turn < count; turn++) await say(text(turn));
  return {
    milliseconds: (performance.now() - started) / count,
    cpu: (cpu() - used) / count,
  };
}
