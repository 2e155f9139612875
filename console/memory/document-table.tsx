import { useRef } from "react";
import type { DocumentInfo } from "troupe/client";
import { Link } from "wouter";
import { IconButton } from "../parts/icon-button.tsx";
import { Name } from "../parts/name.tsx";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { addressOf } from "./document-file.ts";

interface DocumentTableProps {
  collection: string;
  documents: readonly DocumentInfo[];
  /** Undefined for users who may only read. */
  actions:
    | { onPut: (id: string, file: File) => void; onDelete: (document: DocumentInfo) => void }
    | undefined;
}

export function DocumentTable({ collection, documents, actions }: DocumentTableProps) {
  const chooser = useRef<HTMLInputElement>(null);
  const chosen = useRef("");
  return (
    <>
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label="Replacement file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) actions?.onPut(chosen.current, file);
          currentTarget.value = "";
        }}
      />
      <table className="table documents-table">
        <thead>
          <tr>
            <th scope="col">Document</th>
            <th scope="col">Status</th>
            <th scope="col" className="number">
              Modified
            </th>
            <th scope="col">
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {documents.map((document) => (
            <tr key={document.id}>
              <td>
                <Link className="document-name" href={addressOf(collection, document.id)}>
                  <Name name={document.title ?? document.id} />
                </Link>
                {document.title !== null && (
                  <span className="muted document-id">
                    <Name name={document.id} />
                  </span>
                )}
              </td>
              <td>
                <Progress document={document} />
              </td>
              <td className="number muted">
                <Ago time={document.updated_at} />
              </td>
              <td className="row-actions">
                {actions && (
                  <>
                    <IconButton
                      icon="upload"
                      name={`Replace ${document.id}`}
                      title="Replace"
                      onClick={() => {
                        chosen.current = document.id;
                        chooser.current?.click();
                      }}
                    />
                    <IconButton
                      icon="bin"
                      name={`Delete ${document.id}`}
                      title="Delete"
                      onClick={() => actions.onDelete(document)}
                    />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The progress of a document's embedding, or the reason for its failure. */
function Progress({
  document: { id, status, chunks, embedded, error },
}: {
  document: DocumentInfo;
}) {
  return (
    <div className="document-progress">
      <Status status={status} />
      {status === "embedding" && (
        <>
          <progress aria-label={`Embedded parts of ${id}`} value={embedded} max={chunks} />
          <span className="muted">
            {embedded} of {chunks}
          </span>
        </>
      )}
      {error !== null && <p className="item-problem">{error}</p>}
    </div>
  );
}
