import type { SendOptions } from "./read-stream.ts";

/**
 * One request in several forms. Data that a maker gave out may be refused later (another key, another resource, an old
 * state), and nothing but the server can tell; then the request is made again without it.
 */
export interface RequestForms {
  /** The body, JSON text. */
  text: string;
  /** What to send where that is refused, the better ones first. */
  others?: readonly (() => string)[];
  /** One of the others was accepted. */
  onOther?: () => void;
}

/**
 * Sends the first form that the server accepts.
 * @throws what `send` threw at last; of several refusals the first, because it is about what was asked for
 */
export async function sendForms<T>(
  { text, others = [], onOther }: RequestForms,
  options: SendOptions,
  send: (text: string, options: SendOptions) => Promise<T>,
): Promise<T> {
  let refusal: unknown;
  for (const [index, form] of [() => text, ...others].entries()) {
    try {
      const answer = await send(form(), attemptOptions(options, index));
      if (index > 0) onOther?.();
      return answer;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
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
