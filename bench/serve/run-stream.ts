/** A streamed run. Times are milliseconds from the request. */
export interface Streamed {
  first: number;
  whole: number;
}

/** A token of a paced model: the time at which it was sent. */
const TOKEN = /\d{15} /g;
const TOKEN_LENGTH = 16;

/**
 * Reads the stream of a run to its end, in whatever format it is.
 *
 * @param open starts the run
 * @param tokens how many the model sends
 * @throws Error when one is missing
 */
export async function readRun(open: () => Promise<Response>, tokens: number): Promise<Streamed> {
  const began = performance.now();
  const { body } = await open();
  if (body === null) throw new TypeError("the stream has no body");
  const seen = new Set<string>();
  const decoder = new TextDecoder();
  let first = 0;
  let rest = "";
  for await (const bytes of body as AsyncIterable<Uint8Array>) {
    const text = rest + decoder.decode(bytes, { stream: true });
    for (const [token] of text.matchAll(TOKEN)) seen.add(token);
    if (first === 0 && seen.size > 0) first = performance.now() - began;
    rest = text.slice(1 - TOKEN_LENGTH);
  }
  if (seen.size < tokens) throw new Error(`the stream has ${seen.size} of ${tokens} tokens`);
  return { first, whole: performance.now() - began };
}
