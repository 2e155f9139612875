import type { CreateResult } from "../../../core/models/chat-completion-client.ts";
import { attemptOptions, type SendOptions } from "./read-stream.ts";

/**
 * One request in several forms. Provider data may be refused later (another key, another resource, an old
 * state), and only the server can tell; then the request is made again without that data.
 */
export interface RequestForms {
  /** The body, JSON text. */
  text: string;
  /** The data that this form leaves out; afterwards, that of the accepted form. */
  note?: string | undefined;
  /** The forms to send if this one is refused, in order of preference. */
  others?: readonly OtherForm[];
  /** Called when another form was accepted. */
  onOther?: () => void;
}

export interface OtherForm {
  write: () => string;
  note: string;
}

/**
 * Sends the first form that the server accepts.
 * @throws the last error of `send`; after several refusals the first one, because it is about the requested form
 */
export async function sendForms<T>(
  forms: RequestForms,
  options: SendOptions,
  send: (text: string, options: SendOptions) => Promise<T>,
): Promise<T> {
  const { text, note, others = [] } = forms;
  let refusal: unknown;
  for (const [index, form] of [{ write: () => text, note }, ...others].entries()) {
    try {
      const answer = await send(form.write(), attemptOptions(options, index));
      forms.note = form.note;
      if (index > 0) forms.onOther?.();
      return answer;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/** The forms of a request, each with notes that all of them have. */
export function withNotes<Forms extends RequestForms>(
  forms: Forms,
  notes: readonly (string | undefined)[],
): Forms {
  const given = notes.filter((note) => note !== undefined);
  if (given.length === 0) return forms;
  const joined = (note: string | undefined): string =>
    [...(note ? [note] : []), ...given].join("; ");
  const { note, others } = forms;
  return {
    ...forms,
    note: joined(note),
    ...(others && { others: others.map((form) => ({ ...form, note: joined(form.note) })) }),
  };
}

/** The result of a request, with the data that the accepted form left out. */
export function noted(result: CreateResult, { note }: RequestForms): CreateResult {
  return note === undefined ? result : { ...result, note };
}

/** @param error an SDK's, a ServerFailure or a ModelError */
function isRefusal(error: unknown): boolean {
  const { status } = error as { status?: unknown };
  return status === 400 || status === 422;
}
