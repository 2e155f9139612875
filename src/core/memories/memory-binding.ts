import type { Note, NoteLoader } from "../component/component.ts";

/**
 * The note on a component that needs memories outside of its team, on a server that has none.
 *
 * @param path the field that names them
 * @param consequence what the component does then
 */
export function memoryBindingNotes(
  { hasMemories }: NoteLoader,
  path: string,
  consequence: string,
): Note[] {
  if (hasMemories) return [];
  const message = `needs the binding MEMORY, which this server does not have, so ${consequence}. Add the binding to wrangler.toml, with the class MemoryObject`;
  return [{ path, message }];
}
