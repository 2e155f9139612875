import { ModelError } from "../../../core/models/model-error.ts";
import { AnswerChunks, LARGEST_JSON_BYTES, tooLarge } from "../http/answer-chunks.ts";
import { answerError, errorText } from "../http/errors.ts";
import { type ChatAnswer, chatAnswerSchema, errorOf } from "./wire.ts";

/** The chunks of an answer that is streamed as one JSON object per line. */
export class JsonLines extends AnswerChunks<ChatAnswer> {
  readonly #redact: (text: string) => string;
  /** The parts of a line whose end has not arrived. Joined once, so that a long line costs linear time. */
  #parts: string[] = [];
  #length = 0;

  /** @param redact removes the secrets of the request from a text */
  constructor(response: Response, redact: (text: string) => string) {
    super(response);
    this.#redact = redact;
  }

  protected feed(text: string): void {
    const lines = text.split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      this.#parts.push(line);
      this.flush();
    }
    if (rest === "") return;
    this.#parts.push(rest);
    this.#length += rest.length;
    if (this.#length > LARGEST_JSON_BYTES) throw tooLarge(LARGEST_JSON_BYTES);
  }

  protected flush(): void {
    const line = this.#parts.join("").trim();
    this.#parts = [];
    this.#length = 0;
    if (line === "") return;
    const chunk = parseAnswer(line, this.#redact);
    this.add(chunk);
    if (chunk.done === true) this.end();
  }
}

/**
 * One JSON object of an answer.
 *
 * @throws SyntaxError when it is not JSON
 * @throws ModelError `bad_response` when it is not an answer of `/api/chat`; of another kind when it reports an error
 */
export function parseAnswer(text: string, redact: (text: string) => string): ChatAnswer {
  const parsed = chatAnswerSchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    throw new ModelError("bad_response", "The model server's answer is not one of Ollama's chat");
  const error = errorOf(parsed.data);
  if (error !== undefined) throw answerError({}, errorText(error, redact));
  return parsed.data;
}
