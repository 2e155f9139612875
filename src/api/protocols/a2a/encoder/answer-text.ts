import type { ChatMessage } from "../../../../core/messages/message.ts";
import { toText } from "../../../../core/messages/views.ts";
import type { TextPlace } from "../../shared/run-item.ts";
import { ANSWER, answerOf, isText, textPart } from "./content.ts";
import type { TaskArtifactUpdate } from "../wire/wire.ts";

/** A change of the artifact. */
export type AnswerUpdate = Pick<TaskArtifactUpdate, "artifact" | "append" | "lastChunk">;

/** Text for the artifact: more of it, or all of it. */
export interface AnswerPiece {
  source: string;
  text: string;
  append: boolean;
}

interface OpenText {
  source: string;
  text: string;
}

/**
 * The artifact `answer` while texts are made: it shows one of them at a time, the first that began. What it shows is
 * replaced when the next text begins.
 */
export class AnswerText {
  readonly #open = new Map<string, OpenText>();
  #shown: string | undefined;
  /** The text of the artifact; undefined before the first. */
  #text: string | undefined;

  start(place: TextPlace): void {
    const key = keyOf(place);
    this.#open.set(key, { source: place.source, text: "" });
    this.#shown ??= key;
  }

  /** @returns the change, if the artifact shows this text */
  grow(place: TextPlace, delta: string): AnswerPiece | undefined {
    const key = keyOf(place);
    const open = this.#open.get(key);
    if (open === undefined) return undefined;
    const append = open.text !== "";
    open.text += delta;
    if (this.#shown !== key) return undefined;
    this.#text = append ? (this.#text ?? "") + delta : delta;
    return { source: open.source, text: delta, append };
  }

  end(place: TextPlace, isVoid: boolean): AnswerUpdate[] {
    const key = keyOf(place);
    const ended = this.#open.get(key);
    this.#open.delete(key);
    if (ended === undefined || this.#shown !== key) return [];
    const [next] = this.#open;
    this.#shown = next?.[0];
    if (next !== undefined && next[1].text !== "") return [this.#put(next[1].source, next[1].text)];
    return isVoid && ended.text !== "" ? [this.#put(ended.source, "")] : [];
  }

  /** The last change: the artifact is this message. */
  close(message: ChatMessage): AnswerUpdate {
    const artifact = answerOf(message);
    if (!isText(message) || this.#text !== toText(message)) return { artifact, lastChunk: true };
    return { artifact: { ...artifact, parts: [textPart("")] }, append: true, lastChunk: true };
  }

  #put(source: string, text: string): AnswerUpdate {
    this.#text = text;
    return updateOf({ source, text, append: false });
  }
}

export function updateOf({ source, text, append }: AnswerPiece): AnswerUpdate {
  const artifact = {
    artifactId: ANSWER,
    name: source,
    parts: [textPart(text)],
    metadata: { "troupe/source": source },
  };
  return { artifact, ...(append && { append }) };
}

function keyOf({ messageId, attempt }: TextPlace): string {
  return `${attempt} ${messageId}`;
}
