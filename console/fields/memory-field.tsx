import { useId, useState } from "react";
import { configOf, listOf, textOf } from "../picture/component-json.ts";
import { kindOf } from "../teams/kinds.ts";
import { visibleName } from "../text/foreign.ts";
import type { ComponentData } from "../component/catalogue.ts";
import { type ValuePath, valueAt, withValue } from "../component/value-path.ts";
import { MistakesAt } from "../inputs/mistakes.tsx";
import { PartChoice, PartItem, partAt } from "./part-item.tsx";
import type { FieldsProps } from "../inputs/settings-fields.tsx";
import { at } from "../inputs/wanted.ts";

const COLLECTION = "troupe.memory.CollectionMemory";

interface MemoryFieldProps extends FieldsProps {
  /** The names of the collections of documents. */
  collections: readonly string[];
}

/** The memories of an agent, and the collections of documents that it knows. */
export function MemoryField({
  component,
  path,
  catalogue,
  collections,
  onChange,
}: MemoryFieldProps) {
  const id = useId();
  const [added, setAdded] = useState<number>();
  const list: ValuePath = [...path, "config", "memory"];
  const memories = listOf(valueAt(component, list));
  const known = new Set(memories.map((memory) => textOf(configOf(memory)["collection"])));
  const add = (chosen: string): void => {
    const collection = /^collection (.+)$/.exec(chosen)?.[1];
    const made = catalogue.empty(collection === undefined ? chosen : COLLECTION);
    const memory =
      collection === undefined ? made : { ...made, config: { ...made.config, collection } };
    // A collection is complete by its name.
    setAdded(collection === undefined ? memories.length : undefined);
    onChange(withValue(component, list, [...memories, memory]));
  };
  return (
    <fieldset className="editor-group" {...at(list)}>
      <legend>Memory and knowledge</legend>
      {memories.length === 0 && (
        <p className="muted">This agent knows the conversation, and nothing else.</p>
      )}
      <ul className="editor-list" aria-label="Memory and knowledge">
        {memories.map((_, index) => (
          <PartItem
            key={index}
            component={component}
            path={[...list, index]}
            catalogue={catalogue}
            icon="book"
            name={nameOf(partAt(component, [...list, index]))}
            begin={added === index}
            onChange={onChange}
          />
        ))}
      </ul>
      <MistakesAt path={list} own id={`${id}-memory`} />
      <PartChoice
        label="Add a memory or documents"
        groups={[
          {
            title: "Collections of documents",
            choices: collections
              .filter((name) => !known.has(name))
              .map((name) => ({ value: `collection ${name}`, name: visibleName(name) })),
          },
          {
            title: "Memories",
            choices: catalogue
              .fitting("memory")
              .map(({ provider, name }) => ({ value: provider, name })),
          },
        ]}
        onChoose={add}
      />
    </fieldset>
  );
}

function nameOf(memory: ComponentData): string {
  const { collection, name } = configOf(memory);
  const kind = kindOf(memory.provider);
  const own = textOf(collection) || textOf(name);
  return visibleName(own === "" ? kind : `${kind}: ${own}`);
}
