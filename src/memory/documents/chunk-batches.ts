import type { DocumentChunk } from "../../contract/gateways/memory-gateway.ts";

/** Chunks that are written in one transaction: those take some hundredths of a second. */
const AT_ONCE = 16;

/** The chunks of a document, a few at a time. @param stream lines of JSON */
export async function* chunkBatches(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<DocumentChunk[]> {
  let batch: DocumentChunk[] = [];
  for await (const line of linesOf(stream)) {
    batch.push(JSON.parse(line) as DocumentChunk);
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines.filter((line) => line !== "");
      if (done) return;
    }
  } finally {
    // The sender holds the rest of a body until it is cancelled.
    await reader.cancel();
  }
}
