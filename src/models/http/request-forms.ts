import type { CreateResult } from "../../core/models/chat-completion-client.ts";
import type { SendOptions } from "./read-stream.ts";

/**
 * One request in several forms. Data that a maker gave out may be refused later (another key, another resource, an old
 * state), and nothing but the server can tell; then the request is made again without it.
 */
export interface RequestForms {
  /** The body, JSON text. */
  text: string;
  /** What was asked for and is not in the form that is sent; afterwards, in the one that was accepted. */
  note?: string | undefined;
  /** What to send where that is refused, the better ones first. */
  others?: readonly OtherForm[];
  /** One of the others was accepted. */
  onOther?: () => void;
}

export interface OtherForm {
  write: () => string;
  note: string;
}

/**
 * Sends the first form that the server accepts.
 * @throws what `send` threw at last; of several refusals the first, because it is about what was asked for
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

/** The result of a request with what the form that was accepted left out. */
export function noted(result: CreateResult, { note }: RequestForms): CreateResult {
  return note === undefined ? result : { ...result, note };
}

/**
 * The options of an attempt to make a request in another way. A gateway may answer a repeated key with the answer that it has.
 * @param count how many attempts were refused
 */
export function attemptOptions(options: SendOptions, count: number): SendOptions {
  const { idempotencyKey } = options;
  if (count === 0 || idempotencyKey === undefined) return options;
  return { ...options, idempotencyKey: `${idempotencyKey}-${count}` };
}

/** @param error an SDK's, or a ModelError */
function isRefusal(error: unknown): boolean {
  const { status } = error as { status?: unknown };
  return status === 400 || status === 422;
}
