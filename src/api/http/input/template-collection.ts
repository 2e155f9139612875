import type { TemplateCollection } from "../../../core/component/template.ts";
import { ChunkLines } from "../../documents/chunk-lines.ts";
import { unwrap } from "../endpoint/problem.ts";
import type { Services } from "../endpoint/services.ts";

const MARKDOWN = "text/markdown";

/** Makes the collection that a template searches, unless the tenant has one of that name. A server without collections has none. */
export async function makeTemplateCollection(
  { id, description, documents }: TemplateCollection,
  tenant: string,
  { memories }: Pick<Services, "memories">,
): Promise<void> {
  const collection = memories?.collection(tenant, id);
  if (collection === undefined || (await collection.collection()).ok) return;
  const { splitDocument } = await import("../../documents/split-document.ts");
  unwrap(await collection.putCollection({ description, embedding: null, language: "auto" }));
  for (const { id: document, content } of documents) {
    const bytes = new Uint8Array(new TextEncoder().encode(content));
    const sent = { bytes, mimeType: MARKDOWN, charset: "utf-8" };
    const lines = new ChunkLines();
    const title = await splitDocument(sent, undefined, (chunk) => lines.add(chunk));
    const about = { id: document, title, mime_type: MARKDOWN, metadata: {} };
    unwrap(await collection.putDocument(about, lines.stream()));
  }
}
