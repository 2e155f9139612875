import { mapTexts } from "../../../core/json.ts";
import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import { PieceRedaction, type SecretForms, type Secrets } from "../../../outgoing/dependencies.ts";
import type { Piece } from "./answer-formats.ts";
import type { AnswerReader } from "./read-stream.ts";

/**
 * A reader of answers that removes the secrets of the request, which a server may repeat: from the shown text, and from texts,
 * thoughts and calls of the result.
 *
 * @param make the reader of the server's form; gets what makes the text so far void
 */
export function withoutSecrets(
  { inAnswers: forms }: Pick<Secrets, "inAnswers">,
  startOver: CreateOptions["startOver"],
  make: (startOver: CreateOptions["startOver"]) => AnswerReader<CreateResult>,
): AnswerReader<CreateResult> {
  if (forms.isEmpty) return make(startOver);
  const shown = new PieceRedaction(forms);
  const again = (): void => {
    shown.clear();
    startOver?.();
  };
  return new RedactedReader(make(startOver && again), shown, forms);
}

class RedactedReader implements AnswerReader<CreateResult> {
  readonly #reader: AnswerReader<CreateResult>;
  readonly #shown: PieceRedaction;
  readonly #forms: SecretForms;

  constructor(reader: AnswerReader<CreateResult>, shown: PieceRedaction, forms: SecretForms) {
    this.#reader = reader;
    this.#shown = shown;
    this.#forms = forms;
  }

  get ended(): boolean {
    return this.#reader.ended;
  }

  get hasBegun(): boolean {
    return this.#reader.hasBegun === true;
  }

  get keepsLists(): boolean {
    return this.#reader.keepsLists === true;
  }

  read(piece: Piece): string {
    return this.#shown.add(this.#reader.read(piece));
  }

  end(): string {
    return this.#shown.add(this.#reader.end()) + this.#shown.end();
  }

  result(): CreateResult {
    const result = this.#reader.result();
    let found = false;
    const redact = (text: string): string => {
      const clean = this.#forms.redact(text);
      found ||= clean !== text;
      return clean;
    };
    const { content, thought, troupe, logprobs } = result;
    const clean = {
      ...result,
      ...mapTexts(redact, { content, ...(thought != null && { thought }) }),
    };
    // The tokens of a secret are in pieces.
    if (found && logprobs) clean.logprobs = null;
    if (troupe !== undefined) {
      found = false;
      mapTexts(redact, troupe);
      // A signed thought is valid as it is, or not at all.
      if (found) delete clean.troupe;
    }
    return clean;
  }
}
