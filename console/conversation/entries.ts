import type { Message, RunInfo, TeamState } from "troupe/client";

type Of<Type extends Message["type"]> = Extract<Message, { type: Type }>;
type CallRequest = Of<"ToolCallRequestEvent">["content"][number];
type Result = Of<"ToolCallExecutionEvent">["content"][number];
type Text = TeamState["texts"][number];

export interface ToolCall {
  call: CallRequest;
  /** Undefined while the tool runs, or if its result was not recorded. */
  result: Result | undefined;
}

/** A run that failed, was cancelled or has notes. */
export interface EndedRun {
  run: RunInfo;
  /** The run that started after it. */
  next: RunInfo | undefined;
  interrupted: boolean;
  retried: boolean;
}

/** The work of an agent before its answer. */
export type Work =
  | { kind: "tools"; key: string; message: Message; calls: readonly ToolCall[] }
  | { kind: "event"; key: string; message: Message };

/** Consecutive work and words of an agent. `key` stays the same while it grows. */
export interface Card {
  kind: "card";
  key: string;
  source: string;
  work: readonly Work[];
  /** Its message; undefined while it works. */
  answer: Message | undefined;
  /** The text in progress. */
  text: Text | undefined;
  /** True if the answer is output of code. */
  printed: boolean;
  /** The words for a card whose run ended before it was finished. */
  cut?: string;
}

/** A part of the conversation as it is shown. */
export type ConversationEntry =
  | Card
  | { kind: "event"; key: string; message: Message }
  | { kind: "end"; key: string; end: EndedRun };

/** The tool of AutoGen's `PythonCodeExecutionTool`. */
const CODE_TOOL = "CodeExecutor";
/** Events of a team's manager, which has no card. */
const BETWEEN: ReadonlySet<Message["type"]> = new Set(["SelectSpeakerEvent", "SelectorEvent"]);
/** Events that another part of the page shows. */
const ELSEWHERE: ReadonlySet<Message["type"]> = new Set([
  "UserInputRequestedEvent",
  "ModelClientStreamingChunkEvent",
]);

export interface CardsOptions {
  /** Agents whose messages are output of code. */
  printers?: ReadonlySet<string>;
  /**
   * The keys of cards by the ids of their messages, which this adds to. With those of the messages so far, a card keeps its key
   * when earlier messages are loaded.
   */
  keys?: Map<string, string>;
  /** True if there are messages before the first one. */
  hasEarlier?: boolean;
}

/**
 * Messages as cards: the thoughts, tool calls and other events of an agent belong to its next message. A task of the user
 * ends what was started.
 */
export class Cards {
  readonly entries: ConversationEntry[] = [];
  /** The cards without an answer, by their agents. */
  readonly #open = new Map<string, Card & { work: Work[] }>();
  /** The message that ended the last card of each agent, and the last one that ended all. */
  readonly #ended = new Map<string, string>();
  #allEnded: string;
  /** Agents whose last tool calls ran code. */
  readonly #ranCode = new Set<string>();
  readonly #results = new Map<string, Result>();
  readonly #called = new Set<string>();
  readonly #keys: Map<string, string>;

  constructor(messages: TeamState["messages"], options: CardsOptions = {}) {
    const { printers = new Set(), keys = new Map(), hasEarlier = false } = options;
    this.#keys = keys;
    // The items that ended before the first message are not loaded.
    this.#allEnded = hasEarlier ? `before ${messages[0]?.id}` : "";
    for (const message of messages) {
      if (message.type === "ToolCallExecutionEvent") {
        for (const result of message.content) this.#results.set(result.call_id, result);
      } else if (message.type === "ToolCallRequestEvent") {
        for (const call of message.content) this.#called.add(call.id);
      }
    }
    for (const message of messages) this.#add(message, printers);
  }

  /** The card that the agent is working at, or undefined. */
  openOf(source: string): Card | undefined {
    return this.#open.get(source);
  }

  /** The key that the agent's next card will have. */
  nextKey(source: string): string {
    return `${source}\n${this.#ended.get(source) ?? this.#allEnded}`;
  }

  #add(message: Message, printers: ReadonlySet<string>): void {
    const { id, type, source } = message;
    if (ELSEWHERE.has(type)) return;
    if (BETWEEN.has(type)) {
      this.entries.push({ kind: "event", key: id, message });
    } else if (type.endsWith("Event")) {
      const work = this.#workOf(message);
      if (work !== undefined) this.#card(message).work.push(work);
    } else {
      if (source === "user") this.#endAll(id);
      const card = this.#card(message);
      card.answer = message;
      card.printed =
        (type === "TextMessage" && printers.has(source)) ||
        (type === "ToolCallSummaryMessage" && this.#ranCode.has(source));
      this.#open.delete(source);
      this.#ended.set(source, id);
    }
  }

  #endAll(id: string): void {
    this.#open.clear();
    this.#ended.clear();
    this.#allEnded = id;
  }

  /** The card to which a message belongs. */
  #card({ id, source }: Message): Card & { work: Work[] } {
    let card = this.#open.get(source);
    if (card === undefined) {
      card = { ...emptyCard(source, this.nextKey(source)), work: [] };
      this.#open.set(source, card);
      this.entries.push(card);
    }
    card.key = this.#keys.get(id) ?? card.key;
    this.#keys.set(id, card.key);
    return card;
  }

  #workOf(message: Message): Work | undefined {
    const { id: key, source } = message;
    if (message.type === "ToolCallRequestEvent") {
      const calls = message.content.map((call) => ({ call, result: this.#results.get(call.id) }));
      return { kind: "tools", key, message, calls };
    }
    if (message.type !== "ToolCallExecutionEvent") return { kind: "event", key, message };
    if (message.content.every(({ name }) => name === CODE_TOOL)) this.#ranCode.add(source);
    else this.#ranCode.delete(source);
    const orphans = message.content.filter(({ call_id }) => !this.#called.has(call_id));
    if (orphans.length === 0) return undefined;
    const calls = orphans.map((result) => ({
      call: { id: result.call_id, name: result.name, arguments: "" },
      result,
    }));
    return { kind: "tools", key, message, calls };
  }
}

export function emptyCard(source: string, key: string): Card {
  return {
    kind: "card",
    key,
    source,
    work: [],
    answer: undefined,
    text: undefined,
    printed: false,
  };
}

/** The entries, with a mark after each run that failed, was cancelled or has notes. */
export function withEnds(
  entries: readonly ConversationEntry[],
  ends: readonly EndedRun[],
): ConversationEntry[] {
  if (ends.length === 0) return [...entries];
  const marked = [...entries];
  for (const end of ends) {
    const at = placeOf(marked, end);
    if (at !== undefined) marked.splice(at, 0, { kind: "end", key: `end ${end.run.id}`, end });
  }
  return marked;
}

/** The messages of an entry, in their order. */
export function messagesIn(entry: ConversationEntry): Message[] {
  if (entry.kind === "end") return [];
  if (entry.kind === "event") return [entry.message];
  const { work, answer } = entry;
  return [...work.map(({ message }) => message), ...(answer ? [answer] : [])];
}

/**
 * The index of a run's end: before the next run's task or, if that is unknown, by its time. Undefined if it is on an earlier
 * page.
 */
function placeOf(
  entries: readonly ConversationEntry[],
  { run, next, retried }: EndedRun,
): number | undefined {
  if (next === undefined) return entries.length;
  const [task] = retried ? [] : ((next.task ?? []) as { id?: string }[]);
  const index = entries.findIndex((entry) => messagesIn(entry).some(({ id }) => id === task?.id));
  if (index >= 0) return index;
  const ended = run.ended_at ?? "";
  const after = entries.findLastIndex((entry) => {
    const last = messagesIn(entry).at(-1);
    return last !== undefined && (last.created_at ?? "") <= ended;
  });
  return after >= 0 ? after + 1 : undefined;
}
