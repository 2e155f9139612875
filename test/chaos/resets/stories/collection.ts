import type { Session } from "../session.ts";
import type { Story } from "./story.ts";

const SECTIONS = 90;
const DOCUMENT = Array.from({ length: SECTIONS }, (_, n) => `# Section ${n}\n\nText ${n}.\n\n`);

interface DocumentAnswer {
  status: string;
  chunks: number;
  embedded: number;
}

/** Puts a document and waits until it is embedded: each of its sections once. */
export async function embeds(session: Session, id: string): Promise<void> {
  const path = `/collections/guide/documents/${id}`;
  await session.put(path, { mime_type: "text/markdown", content: DOCUMENT.join("") });
  let found: DocumentAnswer | undefined;
  const isOver = async (): Promise<boolean> => {
    found = await session.get<DocumentAnswer>(path);
    return found.status === "ready" || found.status === "failed";
  };
  await session.until("the document is ready", isOver, () => JSON.stringify(found));
  const { status, chunks, embedded } = found ?? {};
  if (status !== "ready" || chunks !== SECTIONS || embedded !== SECTIONS)
    throw new Error(`the document is ${JSON.stringify(found)}, ${SECTIONS} sections expected`);
}

export const COLLECTION: Story = {
  name: "a collection under embedding",
  async happens(session) {
    await session.put("/collections/guide", { embedding: session.embedding });
    await embeds(session, "first");
    const query = { q: "section 7", k: 3 };
    const { mode, results } = await session.post<{ mode: string; results: object[] }>(
      "/collections/guide/search",
      query,
    );
    if (mode !== "hybrid" || results.length !== query.k)
      throw new Error(`a search by ${mode} finds ${results.length}`);
    await session.delete("/collections/guide/documents/first");
    await embeds(session, "second");
    const { documents } = await session.get<{ documents: { id: string }[] }>(
      "/collections/guide/documents",
    );
    const ids = documents.map(({ id }) => id).join();
    if (ids !== "second") throw new Error(`the collection has the documents ${ids}`);
    await session.delete("/collections/guide");
    await session.untilGone("/collections/guide");
  },
};
