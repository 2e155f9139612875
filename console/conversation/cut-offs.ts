import type { Message, RunInfo, TeamState } from "troupe/client";
import { type Card, Cards, type ConversationEntry, emptyCard, messagesIn } from "./entries.ts";

type Text = TeamState["texts"][number];
type Now = Pick<TeamState, "status" | "messages" | "texts" | "run">;

/** The part of a turn that a run had not finished when it was cancelled or failed. */
export interface CutOff {
  run: string;
  /** The messages that stay before it. */
  before: readonly Message[];
  /** The messages that were retracted. */
  messages: readonly Message[];
  /** The answers of which only the beginning came. */
  texts: readonly Text[];
  words: "Interrupted" | "Not finished";
}

const ENDED: ReadonlySet<RunInfo["status"]> = new Set(["completed", "cancelled", "failed"]);

/**
 * Keeps what the stream retracts and discards at the end of a run. The server has it no longer, so it is known only to the
 * page that has shown it. What is written once more within the same run is not kept.
 */
export class CutOffs {
  #last: Now | undefined;
  #found: readonly CutOff[] = [];
  #messages: readonly Message[] = [];
  #texts: readonly Text[] = [];

  /** Returns everything cut off so far. @param now the next state of the team */
  next(now: Now): readonly CutOff[] {
    const last = this.#last;
    this.#last = now;
    if (last === undefined || last === now) return this.#found;
    if (now.status === "connecting" || now.status === "unavailable") return this.#forget();
    const run = last.run;
    const isSame = now.run?.id === run?.id;
    this.#collect(last, now, isSame);
    if (run === null || ENDED.has(run.status)) return this.#found;
    const status = isSame ? now.run?.status : undefined;
    if (isSame && status !== undefined && !ENDED.has(status)) return this.#found;
    if (status !== "completed" && this.#messages.length + this.#texts.length > 0) {
      const words = status === "failed" ? "Not finished" : "Interrupted";
      const [messages, texts] = [this.#messages, this.#texts];
      // The next task may have come at the same moment.
      const after = new Set(now.messages.map(({ id }) => id));
      const before = last.messages.filter(({ id }) => after.has(id));
      this.#found = [...this.#found, { run: run.id, before, messages, texts, words }];
    }
    this.#messages = [];
    this.#texts = [];
    return this.#found;
  }

  #forget(): readonly CutOff[] {
    this.#messages = [];
    this.#texts = [];
    this.#found = [];
    return this.#found;
  }

  /** @param isSame false if another run has begun, whose texts and messages may have come at the same moment */
  #collect(last: Now, now: Now, isSame: boolean): void {
    const added = new Set<string>();
    const ids = new Set<string>();
    if (now.messages !== last.messages) {
      const before = new Set(last.messages.map(({ id }) => id));
      const after = new Set(now.messages.map(({ id }) => id));
      const retracted = last.messages.filter(({ id }) => !after.has(id));
      for (const { id, source } of now.messages) {
        if (before.has(id)) continue;
        added.add(source);
        ids.add(id);
      }
      this.#messages = [...this.#messages.filter(({ id }) => !after.has(id)), ...retracted];
    }
    if (now.texts === last.texts && added.size === 0) return;
    const written = new Set(now.texts.map(({ source }) => source));
    const lost = [...this.#texts, ...last.texts];
    this.#texts = lost.filter(({ id, source }) =>
      isSame ? !written.has(source) && !added.has(source) : !ids.has(id),
    );
  }
}

/** The entries with a card for each text that was cut off, after the last message that stayed. */
export function withCutOffs(
  entries: readonly ConversationEntry[],
  cuts: readonly CutOff[],
  printers: ReadonlySet<string>,
): ConversationEntry[] {
  const all = [...entries];
  for (const cut of cuts) {
    const stayed = new Set(cut.before.map(({ id }) => id));
    const after = all.findLastIndex((entry) => messagesIn(entry).some(({ id }) => stayed.has(id)));
    all.splice(after + 1, 0, ...cardsOf(cut, printers));
  }
  return all;
}

function cardsOf(cut: CutOff, printers: ReadonlySet<string>): Card[] {
  const cards = new Cards(cut.messages, { printers }).entries.filter(
    (entry): entry is Card => entry.kind === "card",
  );
  for (const text of cut.texts) {
    const open = cards.findIndex(({ source, answer }) => source === text.source && !answer);
    const card = cards[open] ?? emptyCard(text.source, "");
    cards.splice(open < 0 ? cards.length : open, open < 0 ? 0 : 1, { ...card, text });
  }
  return cards.map((card, index) => ({
    ...card,
    key: `cut ${cut.run} ${index}`,
    cut: cut.words,
  }));
}
