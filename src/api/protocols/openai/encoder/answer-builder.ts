import type { HumanRequest, RunInfo } from "../../../../contract/run.ts";
import type { StreamFrame } from "../../../../contract/stream/stream-frame.ts";
import type { PiecePlace, TextPieces } from "../../../../contract/stream/text-pieces.ts";
import type { ChatMessage } from "../../../../core/messages/message.ts";
import { toText } from "../../../../core/messages/views.ts";
import type { Role, RunItem } from "../../shared/run-item.ts";
import { RunProjector } from "../../shared/run-projector.ts";
import { type AnswerItem, at, type End, reasoning } from "./answer-item.ts";
import type { AnswerOptions } from "./answer-options.ts";
import { LiveText } from "./live-text.ts";

/** Messages kept for the case that later ones are void. */
const KEPT = 20;

interface Said {
  message: ChatMessage;
  role: Role;
}

/** The abilities of a protocol. */
export interface ProtocolAbilities {
  /** True for a question that is part of the text. */
  isSpoken: (request: HumanRequest) => boolean;
  /** True if a text that was streamed earlier is sent in the same pieces. */
  inPieces: boolean;
}

/**
 * Turns the frames of a run into its answer: the last message, and for those who want to see all, what led to it. The texts
 * of a live agent are shown while they stream.
 */
export class AnswerBuilder {
  readonly #options: AnswerOptions;
  readonly #projector: RunProjector;
  readonly #form: ProtocolAbilities;
  #run: RunInfo | undefined;
  #said: Said[] = [];
  #live: LiveText | undefined;
  /** The id of the message that was shown as the answer. */
  #shown: string | undefined;
  /** True if something was shown as the answer that the log does not have. */
  #changed = false;
  /** Texts of the reasoning that are open. */
  readonly #reasoning = new Set<string>();
  #lastReasoning: { source: string; text: string } | undefined;
  /** The text whose reasoning between tags was shown before its answer. */
  #thought: string | undefined;
  #isLive = false;
  ended = false;

  constructor(options: AnswerOptions, form: ProtocolAbilities) {
    this.#options = options;
    this.#form = form;
    this.#projector = new RunProjector({ answering: options.answering, inPieces: form.inPieces });
  }

  /** @param pieces those that the frame's text was streamed in */
  take(frame: StreamFrame, pieces?: TextPieces): AnswerItem[] {
    const items = this.#projector.take(frame, pieces);
    const written: AnswerItem[] = [];
    for (const item of items) {
      if (this.ended) break;
      written.push(...this.#write(item, items));
    }
    return written;
  }

  /** @param batch the items of the same frame */
  #write(item: RunItem, batch: readonly RunItem[]): AnswerItem[] {
    switch (item.type) {
      case "run":
        this.#run = item.run;
        return [item, ...this.#paused()];
      case "text_start":
        return this.#textStart(item, batch);
      case "text_delta":
        return this.#textDelta(item, batch);
      case "text_end":
        return this.#textEnd(item, batch);
      case "thought":
        return this.#all && !this.#wasThought(item, batch)
          ? reasoning(item.id, item.source, item.content)
          : [];
      case "message":
        return this.#message(item);
      case "tool_calls":
      case "tool_results":
      case "event":
        return this.#other(item);
      case "retract":
        this.#said = this.#said.filter(({ message }) => !item.messageIds.includes(message.id));
        this.#changed ||= this.#shown !== undefined && item.messageIds.includes(this.#shown);
        return this.#other(item);
      case "live":
        this.#isLive = true;
        if (batch.some(({ type }) => type === "waiting")) return [];
        return this.#options.now ? this.#end({ type: "unfinished" }) : this.#paused();
      case "paused":
        // The stream has ended, before texts in progress were void.
        return [];
      case "waiting":
        return this.#waiting(item.run);
      case "completed": {
        const { usage, stop_reason: stopReason } = item.result;
        return [...this.#final(), ...this.#end({ type: "completed", usage, stopReason })];
      }
      case "cancelled":
        this.#run = item.run;
        return this.#end({ type: "cancelled" });
      case "failed": {
        const { problem } = item;
        const text = problem.code === "token_limit" ? this.#final() : [];
        return [...text, ...this.#end({ type: "failed", problem })];
      }
    }
  }

  /** Before it is live, what led to the pause is still to come. */
  #paused(): AnswerItem[] {
    return this.#isLive && this.#run?.status === "paused" ? this.#end({ type: "paused" }) : [];
  }

  get #all(): boolean {
    return this.#options.show === "all";
  }

  #other(item: RunItem): AnswerItem[] {
    return this.#all ? [{ type: "other", item }] : [];
  }

  #textStart(
    { messageId, source, attempt, place }: RunItem & { type: "text_start" },
    batch: readonly RunItem[],
  ): AnswerItem[] {
    if (source === this.#options.live) {
      if (!this.#changed) this.#liveStart(messageId, source);
      return [];
    }
    if (!this.#all || this.#wasShown(source, batch)) return [];
    const id = attempt === 1 ? messageId : `${messageId}-${attempt}`;
    this.#reasoning.add(messageId);
    return [{ type: "text_start", id, role: "reasoning", source, ...at(place) }];
  }

  /** True if the thought was shown while it streamed. */
  #wasThought({ id, source }: RunItem & { type: "thought" }, batch: readonly RunItem[]): boolean {
    if (this.#thought === id) return true;
    // A live text that is still open is the answer behind a thought.
    const isAnswer = source === this.#options.live && this.#live !== undefined;
    return !isAnswer && batch.some((one) => one.type === "text_end" && one.messageId === id);
  }

  /** True if the message was shown already, behind the thought before it. */
  #wasShown(source: string, batch: readonly RunItem[]): boolean {
    const last = this.#lastReasoning;
    const said = batch.find((item) => item.type === "message" && item.message.source === source);
    if (last?.source !== source || said?.type !== "message") return false;
    const text = toText(said.message);
    return text !== "" && last.text.endsWith(text);
  }

  /** The text of a repeated model call may continue where the one before it broke off. */
  #liveStart(id: string, source: string): void {
    if (this.#live === undefined) this.#live = new LiveText(id, source);
    else this.#live.restart();
  }

  #textDelta(
    { messageId, source, attempt, delta, place }: RunItem & { type: "text_delta" },
    batch: readonly RunItem[],
  ): AnswerItem[] {
    const live = this.#live;
    if (source === this.#options.live && live !== undefined) {
      // The message has the rest of what was shown, and all of what was not streamed.
      if (hasMessageOf(source, batch) && place === undefined) return [];
      const first = live.shown === "";
      const items = shownOf(live, live.add(delta), first, place);
      if (live.changed) return this.#endLive(undefined, false);
      const thought = live.takeThought();
      if (!this.#all || thought === "") return items;
      this.#thought = messageId;
      return [...reasoning(messageId, source, thought), ...items];
    }
    if (!this.#reasoning.has(messageId)) return [];
    const id = attempt === 1 ? messageId : `${messageId}-${attempt}`;
    return [{ type: "text_delta", id, role: "reasoning", delta, ...at(place) }];
  }

  #textEnd(
    { messageId, source, attempt, content, void: isVoid }: RunItem & { type: "text_end" },
    batch: readonly RunItem[],
  ): AnswerItem[] {
    const thought = batch.find((item) => item.type === "thought" && item.source === source);
    const live = this.#live;
    if (source === this.#options.live && live !== undefined) {
      if (hasMessageOf(source, batch)) return [];
      // The text before a tool call is a thought. One between tags was not shown, only the text after it.
      const streamed = live.shown.trim();
      const isSaid = !isVoid || (streamed !== "" && saidIn(batch, source).endsWith(streamed));
      return isSaid ? this.#endLive(live.shown, false) : [];
    }
    if (!this.#reasoning.delete(messageId)) return [];
    const id = attempt === 1 ? messageId : `${messageId}-${attempt}`;
    const text = isVoid && thought === undefined ? undefined : content;
    this.#lastReasoning = { source, text: text ?? "" };
    return [{ type: "text_end", id, role: "reasoning", source, text, final: false }];
  }

  /** Ends the text that was shown while it streamed, if there is one. @param text undefined where it is void */
  #endLive(text: string | undefined, final: boolean): AnswerItem[] {
    const live = this.#live;
    this.#live = undefined;
    if (live === undefined) return [];
    const { id, source, shown } = live;
    const rest = text === undefined ? "" : live.complete(text);
    const end = { type: "text_end" as const, id, role: "answer" as const, source, final };
    if (live.changed || (text === undefined && shown !== "")) {
      this.#changed = true;
      return [{ ...end, text: undefined }];
    }
    return live.shown === "" ? [] : [...shownOf(live, rest, shown === ""), { ...end, text }];
  }

  #message({ message, role }: RunItem & { type: "message" }): AnswerItem[] {
    this.#said = [...this.#said.slice(1 - KEPT), { message, role }];
    const other = this.#other({ type: "message", message, role });
    if (message.source !== this.#options.live || this.#changed) return other;
    this.#live ??= new LiveText(message.id, message.source);
    const items = this.#endLive(this.#textOf(message), true);
    if (items.length > 0) this.#shown = message.id;
    return [...items, ...other];
  }

  /** The last message, unless it was shown already. */
  #final(): AnswerItem[] {
    const last = this.#said.at(-1)?.message;
    if (last === undefined || last.id === this.#shown) return [];
    return this.#speak(last.id, last.source, this.#textOf(last), true);
  }

  #waiting(run: RunInfo): AnswerItem[] {
    const { requests } = run;
    const spoken = requests.filter((request) => this.#form.isSpoken(request));
    // A question may be in what was said before it is asked.
    const last = this.#said.findLast(({ role }) => role === "agent")?.message;
    const before =
      spoken.length === 0 || last === undefined || last.id === this.#shown
        ? []
        : this.#speak(last.id, last.source, this.#textOf(last), false);
    const questions = spoken.flatMap(({ id, source, prompt }) =>
      this.#speak(id, source, prompt, true).map((item) =>
        item.type === "text_start" ? { ...item, asks: true as const } : item,
      ),
    );
    return [...before, ...questions, ...this.#end({ type: "waiting", requests })];
  }

  #speak(id: string, source: string, text: string, final: boolean): AnswerItem[] {
    // It would follow what is void.
    if (this.#changed) return [];
    return [
      { type: "text_start", id, role: "answer", source },
      ...(text === ""
        ? []
        : [{ type: "text_delta" as const, id, role: "answer" as const, delta: text }]),
      { type: "text_end", id, role: "answer", source, text, final },
    ];
  }

  #end(wanted: End): AnswerItem[] {
    this.ended = true;
    // A text that has not ended by now is not in the log.
    const live = this.#endLive(undefined, false);
    const isAnswer =
      wanted.type === "completed" ||
      wanted.type === "waiting" ||
      (wanted.type === "failed" && wanted.problem.code === "token_limit");
    const end: End = this.#changed && isAnswer ? { type: "changed" } : wanted;
    const last = this.#said.at(-1)?.message;
    const attached =
      end.type === "completed" && last?.type === "MultiModalMessage"
        ? last.content.filter((part) => typeof part !== "string")
        : [];
    return [...live, { type: "end", end, run: this.#run, attached }];
  }

  #textOf(message: ChatMessage): string {
    const { content } = message;
    const structured = this.#options.json && typeof content === "object" && !Array.isArray(content);
    return structured ? JSON.stringify(content) : toText(message);
  }
}

function hasMessageOf(source: string, batch: readonly RunItem[]): boolean {
  return batch.some((item) => item.type === "message" && item.message.source === source);
}

/** The text of a thought or another event of the source. */
function saidIn(batch: readonly RunItem[], source: string): string {
  for (const item of batch) {
    if (item.type === "thought" && item.source === source) return item.content.trim();
    if (item.type !== "event" || item.event.source !== source) continue;
    const content = "content" in item.event ? item.event.content : "";
    if (typeof content === "string") return content.trim();
  }
  return "";
}

function shownOf(
  { id, source }: LiveText,
  delta: string,
  first: boolean,
  place?: PiecePlace,
): AnswerItem[] {
  if (delta === "") return [];
  return [
    ...(first
      ? [{ type: "text_start" as const, id, role: "answer" as const, source, ...at(place) }]
      : []),
    { type: "text_delta", id, role: "answer", delta, ...at(place) },
  ];
}
