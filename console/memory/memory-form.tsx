import { useState } from "react";
import type { CreateMemories, Memory } from "troupe/client";
import { useTroupe } from "troupe/react";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { jsonIn } from "../text/json-value.tsx";
import { textOf } from "./memory-address.ts";

interface MemoryFormProps {
  /** The memory to correct; undefined for a new one. */
  memory: Memory | undefined;
  /** The place of a new one. */
  place: Pick<CreateMemories, "scope" | "team" | "user">;
  onClose: () => void;
  onSaved: () => void;
}

/** Adds or corrects a memory. The content of one that is a JSON object stays one. */
export function MemoryForm({ memory, place, onClose, onSaved }: MemoryFormProps) {
  const client = useTroupe();
  const [text, setText] = useState(() => (memory === undefined ? "" : textOf(memory)));
  const isJson = memory !== undefined && typeof memory.content !== "string";
  const json = isJson ? jsonIn(text) : undefined;
  const wrong = isJson && (json === undefined || Array.isArray(json));

  const save = async (): Promise<void> => {
    const content = json === undefined ? text.trim() : (json as Record<string, never>);
    if (memory === undefined) await client.memories.add({ ...place, content });
    else await client.memories.change(memory.id, { content });
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={memory === undefined ? "New memory" : "Edit memory"}
      button={memory === undefined ? "Create memory" : "Save"}
      complete={text.trim() !== "" && !wrong}
      wide
      onSubmit={save}
      onClose={onClose}
    >
      <label className="field">
        <span>{isJson ? "Content (a JSON object)" : "Fact (one sentence)"}</span>
        <textarea
          rows={5}
          data-focus
          className={isJson ? "code" : undefined}
          spellCheck={!isJson}
          aria-invalid={wrong}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </FormDialog>
  );
}
