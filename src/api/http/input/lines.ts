import { discard, requireNoCoding, tooLarge } from "./body.ts";
import { invalid, ProblemError } from "../endpoint/problem.ts";

export interface LinesLimits {
  bytes: number;
  /** The limit of one line. */
  line: number;
}

/**
 * The lines of a body in UTF-8, while they arrive: never more than one of them is in memory. What is left is read to its end,
 * also when the consumer stops.
 *
 * @throws ProblemError 413, 415, 400 for what is not UTF-8, 422 for a line that is too long
 */
export async function* readLines(
  request: Request,
  { bytes: most, line: longest }: LinesLimits,
): AsyncGenerator<string, void, void> {
  requireNoCoding(request.headers.get("content-encoding"));
  if (Number(request.headers.get("content-length") ?? 0) > most) throw tooLarge(most);
  if (request.body === null) return;
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let bytes = 0;
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      bytes += value?.byteLength ?? 0;
      if (bytes > most) throw tooLarge(most);
      const text = decode(decoder, value);
      // A line that continues is not searched again.
      const lines = text.split("\n");
      lines[0] = rest + (lines[0] ?? "");
      rest = lines.pop() ?? "";
      if (rest.length > longest)
        throw invalid("invalid_state", `A line is longer than ${longest} bytes.`);
      yield* lines;
      if (done) break;
    }
    if (rest !== "") yield rest;
  } finally {
    // The client may leave.
    await discard(reader).catch(() => undefined);
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array | undefined): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    throw new ProblemError({
      status: 400,
      code: "malformed_json",
      detail: "The body is not valid UTF-8.",
    });
  }
}
