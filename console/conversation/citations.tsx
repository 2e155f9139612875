import { lazy, Suspense } from "react";
import { Link } from "wouter";
import { useBeside } from "../parts/beside.ts";
import { Icon } from "../parts/icon.tsx";
import { addressOf } from "../memory/document-file.ts";
import { useMay } from "../shell/access.tsx";
import { visibleName } from "../text/foreign.ts";

const CitedPart = lazy(() => import("../memory/cited-part.tsx"));

/** A part of a document that a message rests on. */
interface Citation {
  collection: string;
  document: string;
  chunk: number;
  heading: string | null;
  page: number | null;
}

/** The parts of documents that the message cites. Each opens beside the conversation, or on its document's page. */
export function Citations({ metadata }: { metadata: Readonly<Record<string, string>> }) {
  const citations = citationsIn(metadata["citations"]);
  if (citations.length === 0) return null;
  return (
    <ul className="citations" aria-label="Citations">
      {citations.map((citation) => (
        <li key={JSON.stringify(citation)}>
          <Chip citation={citation} />
        </li>
      ))}
    </ul>
  );
}

function Chip({ citation }: { citation: Citation }) {
  const { collection, document, chunk, heading, page } = citation;
  const beside = useBeside();
  const mayRead = useMay("teams:read");
  const place = [document, heading, page === null ? null : `page ${page}`];
  const name = visibleName(place.filter((part) => part !== null).join(", "));
  const content = (
    <>
      <Icon name="book" />
      {name}
    </>
  );
  if (!mayRead) return <span className="chip citation">{content}</span>;
  if (beside === undefined) {
    return (
      <Link className="chip citation" href={addressOf(collection, document, chunk)}>
        {content}
      </Link>
    );
  }
  const open = (): void =>
    beside({
      title: document,
      content: (
        <Suspense>
          <CitedPart
            key={JSON.stringify(citation)}
            collection={collection}
            document={document}
            chunk={chunk}
          />
        </Suspense>
      ),
    });
  return (
    <button className="chip citation" type="button" title="Open the cited part" onClick={open}>
      {content}
    </button>
  );
}

/** The citations of a message's metadata; what has another form is left out. */
function citationsIn(json: string | undefined): Citation[] {
  if (json === undefined) return [];
  try {
    const input: unknown = JSON.parse(json);
    return Array.isArray(input) ? input.filter(isCitation) : [];
  } catch {
    return [];
  }
}

function isCitation(raw: unknown): raw is Citation {
  if (typeof raw !== "object" || raw === null) return false;
  const { collection, document, chunk, heading, page } = raw as Record<string, unknown>;
  return (
    typeof collection === "string" &&
    typeof document === "string" &&
    Number.isSafeInteger(chunk) &&
    (heading === null || typeof heading === "string") &&
    (page === null || Number.isSafeInteger(page))
  );
}
