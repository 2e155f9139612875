import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { Link } from "wouter";
import { Problem } from "../parts/problem.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Chunks } from "./chunks.tsx";
import { addressOf } from "./document-file.ts";

interface CitedPartProps {
  collection: string;
  document: string;
  chunk: number;
}

/** The part of a document that a message cites, between those before and after it. */
export default function CitedPart({ collection, document, chunk }: CitedPartProps) {
  const client = useTroupe();
  const load = useCallback(() => {
    const query = { from: Math.max(0, chunk - 1), limit: chunk === 0 ? 2 : 3 };
    return client.collections.chunks(collection, document, query);
  }, [client, collection, document, chunk]);
  const { value, error } = useLoaded(load);
  if (value === undefined) {
    return error === undefined ? (
      <p className="loading" role="status">
        Loading
      </p>
    ) : (
      <Problem error={error} />
    );
  }
  return (
    <>
      {!value.chunks.some((one) => one.chunk === chunk) && (
        <p className="muted">
          The document has changed since it was cited and no longer has this part.
        </p>
      )}
      <Chunks chunks={value.chunks} cited={chunk} />
      <p>
        <Link href={addressOf(collection, document, chunk)}>Open document</Link>
      </p>
    </>
  );
}
