/** The event that ends a stream of chat completions. */
export const DONE = "data: [DONE]\n\n";

export function dataEvent(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

export function namedEvent<T extends { type: string }>(data: T): string {
  return `event: ${data.type}\n${dataEvent(data)}`;
}

/** The response of a request without `stream`: the only event of the form `whole`. */
export interface WholeAnswer {
  status: number;
  body: object;
}

export function wholeEvent(answer: WholeAnswer): string {
  return dataEvent(answer);
}
