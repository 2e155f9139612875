import { useState } from "react";
import type { CollectionInfo } from "troupe/client";
import { useTroupe } from "troupe/react";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { IdField } from "../dialogs/id-field.tsx";
import { jsonIn } from "../text/json-value.tsx";

interface CollectionFormProps {
  /** The collection to change; undefined for a new one. */
  collection: CollectionInfo | undefined;
  /** The ids that exist. */
  taken: readonly string[];
  onClose: () => void;
  onSaved: () => void;
}

/** Embedding clients to begin with. */
const EXAMPLES = {
  OpenAI: {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "text-embedding-3-small", api_key: "env:OPENAI_API_KEY" },
  },
  "Workers AI": { provider: "troupe.embeddings.WorkersAIEmbeddingClient", config: {} },
};

export function CollectionForm({ collection, taken, onClose, onSaved }: CollectionFormProps) {
  const client = useTroupe();
  const [id, setId] = useState(collection?.id ?? "");
  const [description, setDescription] = useState(collection?.description ?? "");
  const [embedding, setEmbedding] = useState(() =>
    collection?.embedding ? JSON.stringify(collection.embedding, null, 2) : "",
  );
  const exists = collection === undefined && taken.includes(id);
  const component = jsonIn(embedding);
  const wrong = embedding.trim() !== "" && (component === undefined || Array.isArray(component));

  const save = async (): Promise<void> => {
    await client.collections.put(id, {
      description: description.trim() || null,
      embedding: component === undefined ? null : (component as Record<string, never>),
    });
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={collection === undefined ? "New collection" : `Edit ${collection.id}`}
      button={collection === undefined ? "Create collection" : "Save"}
      complete={!exists && !wrong}
      wide
      onSubmit={save}
      onClose={onClose}
    >
      {collection === undefined && <IdField id={id} onChange={setId} />}
      <label className="field">
        <span>Description (optional)</span>
        <input
          maxLength={2_000}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
      </label>
      <label className="field">
        <span>Embedding client as JSON (optional; empty to search by words only)</span>
        <textarea
          className="code"
          rows={7}
          spellCheck={false}
          aria-invalid={wrong}
          value={embedding}
          onChange={({ target }) => setEmbedding(target.value)}
        />
      </label>
      <div className="examples" role="group" aria-label="Embedding clients">
        {Object.entries(EXAMPLES).map(([name, example]) => (
          <button
            key={name}
            className="button small"
            type="button"
            onClick={() => setEmbedding(JSON.stringify(example, null, 2))}
          >
            {name}
          </button>
        ))}
      </div>
      {exists && <p className="problem">A collection with this ID exists. Choose another ID.</p>}
      {wrong && <p className="problem">The embedding client must be a JSON object.</p>}
    </FormDialog>
  );
}
