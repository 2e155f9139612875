import { createParser } from "eventsource-parser";
import { type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import { beginningOf } from "../../../core/cut.ts";
import { incompleteJson, ServerFailure } from "./errors.ts";
import { quoted, unreadable } from "./fields.ts";

/** The form of a body, which divides it into pieces. */
export interface AnswerFormat {
  feed(text: string): void;
  /** Called at the end of the body: the last piece may lack its delimiter. */
  end(): void;
}

/** A piece of an answer: the JSON of an event, of a line or of the whole body. */
export interface ArrivedPiece {
  /** The name of its event, if it has one. */
  event?: string | undefined;
  /** `undefined` for the end: `[DONE]` of a stream of events, or that of a body which is one JSON document. */
  value: Json | undefined;
}

/** A piece that may be read: one with a value is an object or, where they are kept, a list. */
export interface Piece extends ArrivedPiece {
  value: JsonObject | Json[] | undefined;
}

/**
 * The form of a body that begins with this text: events, lines of JSON or one document. The content type is not relied on:
 * gateways and small servers give a wrong one.
 *
 * @param pieces gets the pieces
 * @throws ModelError `bad_response` for a page
 */
export function formatOf(start: string, pieces: ArrivedPiece[]): AnswerFormat {
  if (start.startsWith("<")) throw pageInstead(start);
  return /^[{[]/.test(start) ? new JsonLines(pieces) : new Events(pieces);
}

/** The part of a body that an error quotes if no event is in it. */
const LONGEST_BEGINNING = 200;

/** Names of events without a meaning, whose data may be any text. */
const KEEP_ALIVE = /^(ping|heartbeat|keep-?alive)$/i;

/** @throws ServerFailure for an error in plain text */
function parsed(text: string, event: string | undefined): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    if (event === "error") throw new ServerFailure(text);
    if (event !== undefined && KEEP_ALIVE.test(event)) return undefined;
    // The rest is missing.
    if (/^[{["]/.test(text)) throw unreadable("an event that is not complete JSON", text);
    throw unreadable("an event that is not JSON", text);
  }
}

/** Server-sent events. */
class Events implements AnswerFormat {
  readonly #pieces: ArrivedPiece[];
  readonly #parser: ReturnType<typeof createParser>;
  /** The beginning of the body, which is quoted where no event follows. */
  #beginning = "";
  #hasEvents = false;

  constructor(pieces: ArrivedPiece[]) {
    this.#pieces = pieces;
    this.#parser = createParser({
      onEvent: ({ data, event }) => this.#read(data, event),
      onComment: () => {
        this.#hasEvents = true;
      },
      onError: ({ type, line }) => {
        if (type !== "unknown-field" || line === undefined) return;
        // A gateway writes its own error between the events of the server.
        if (/^\s*[{[]/.test(line)) this.#read(line);
        else if (/^\s*</.test(line)) throw pageInstead(line);
      },
    });
  }

  feed(text: string): void {
    if (this.#beginning.length < LONGEST_BEGINNING) this.#beginning += text;
    this.#parser.feed(text);
  }

  end(): void {
    // Some servers leave out the empty line after their last event.
    this.#parser.feed("\n\n");
    if (!this.#hasEvents) throw unreadable("a text instead of an answer", this.#beginning.trim());
  }

  #read(data: string, event?: string): void {
    this.#hasEvents = true;
    const text = data.trim();
    // An empty event keeps the connection alive.
    if (text === "") return;
    if (/^\[DONE\]$/i.test(text)) this.#pieces.push({ value: undefined });
    else {
      const value = parsed(text, event);
      if (value !== undefined) this.#pieces.push({ event, value });
    }
  }
}

/** Lines of JSON, or one document of several lines. */
class JsonLines implements AnswerFormat {
  readonly #pieces: ArrivedPiece[];
  #count = 0;
  /** The parts of a line whose end has not arrived. Joined once, so that a long line costs linear time. */
  #parts: string[] = [];
  /** True if the body is one document, which is parsed at its end. */
  #isDocument = false;

  constructor(pieces: ArrivedPiece[]) {
    this.#pieces = pieces;
  }

  feed(text: string): void {
    const lines = this.#isDocument ? [text] : text.split("\n");
    const rest = lines.pop() ?? "";
    for (const [index, line] of lines.entries()) {
      this.#keep(line);
      if (this.#line()) continue;
      this.#isDocument = true;
      this.#keep(`\n${[...lines.slice(index + 1), rest].join("\n")}`);
      return;
    }
    this.#keep(rest);
  }

  end(): void {
    const text = this.#parts.join("").trim();
    if (text !== "") this.#add(documentOf(text));
    if (this.#count === 1) this.#pieces.push({ value: undefined });
  }

  #add(value: Json): void {
    this.#count++;
    this.#pieces.push({ value });
  }

  #keep(text: string): void {
    this.#parts.push(text);
  }

  /** True if the line that has arrived is JSON of its own. */
  #line(): boolean {
    const line = this.#parts.join("").trim();
    let value: Json | undefined;
    try {
      value = line === "" ? undefined : parseJson(line);
    } catch {
      return false;
    }
    this.#parts = [];
    if (value !== undefined) this.#add(value);
    return true;
  }
}

function documentOf(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw incompleteJson();
  }
}

/** The beginning of a page in which its title is looked for. */
const LONGEST_HEAD = 4096;

/** A gateway answers with a page, also with the status 200, while its server is away. */
function pageInstead(page: string): ModelError {
  const [, title] = /<(?:title|h1)[^>]*>([^<]*)</i.exec(beginningOf(page, LONGEST_HEAD)) ?? [];
  const said = title?.trim();
  return new ModelError(
    "bad_response",
    `The model server sent a page instead of an answer${said ? `: ${quoted(said)}` : ""}`,
  );
}
