import * as z from "zod";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import { requirePositive } from "../context/base-chat-completion-context.ts";
import { ValueError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import {
  anything,
  aNumber,
  aText,
  checkArgument,
  checkOptions,
  type OptionsSchema,
} from "../options/options.ts";
import { parseState } from "../state/load-state.ts";
import type { StreamTool } from "../tools/tool.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import { asData } from "../memory/as-data.ts";
import type { Memory } from "./memory.ts";
import { type MemoryContent, searchText } from "../memory/memory-content.ts";
import { OwnTool } from "../tools/function/own-tool.ts";

const MOST_CHARACTERS = 8000;

const nameSchema = z.string().trim().min(1).max(100);
const notesSchema = z.record(nameSchema, z.string());

const configSchema = z.object({
  name: z.string().nullish(),
  max_characters: z.int().min(1).max(100_000).default(MOST_CHARACTERS),
  notes: notesSchema.nullish(),
});

const stateSchema = z.object({ notes: notesSchema });

export interface NotesMemoryOptions {
  name?: string | null | undefined;
  /** The most characters of all notes together, with their names. Default 8000. */
  maxCharacters?: number | undefined;
  /** The notes to begin with, by name. */
  notes?: { readonly [name: string]: string } | null | undefined;
}

const optionsSchema: OptionsSchema<NotesMemoryOptions> = z.object({
  name: aText.nullish(),
  maxCharacters: aNumber.optional(),
  notes: anything,
});

/**
 * Named notes that the model always sees, in its system message, and edits with the tools `note_write` and `note_delete`: a
 * profile of the user, a plan, a draft. They are part of the team's state and change when a turn commits.
 *
 * @throws ValueError for notes with more than `maxCharacters`
 *
 * @example
 * const memory = new NotesMemory({ notes: { plan: "1. Ask for the city." } });
 */
export class NotesMemory implements Memory {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.memory.NotesMemory",
    componentType: "memory",
    role: "memory",
    version: 1,
    configSchema,
    fromConfig: ({ name, max_characters, notes }) =>
      new NotesMemory({ name, maxCharacters: max_characters, notes }),
  });

  readonly definition = NotesMemory.component;
  readonly name: string;
  readonly tools: readonly StreamTool[];
  readonly #most: number;
  readonly #initial: { readonly [name: string]: string };
  #notes: ReadonlyMap<string, string>;

  constructor(options: NotesMemoryOptions = {}) {
    const checked = checkOptions(optionsSchema, options, "NotesMemory");
    this.name = checked.name || "notes_memory";
    this.#most = requirePositive("max_characters", checked.maxCharacters ?? MOST_CHARACTERS);
    this.#initial = checkArgument(notesSchema, checked.notes ?? {}, "NotesMemory", "notes");
    this.#notes = this.#fitting(new Map(Object.entries(this.#initial)), "notes");
    this.tools = this.#tools();
  }

  /** The notes are in the system message, not among the messages of the context. */
  updateContext(): Promise<MemoryContent[]> {
    return Promise.resolve([]);
  }

  systemText({ memory }: TurnContext): string | undefined {
    const used = sizeOf(this.#notes);
    const rules = `Your notes take ${used} of ${this.#most} characters; write or delete them with note_write and note_delete.`;
    if (this.#notes.size === 0) return `You have no notes. ${rules}`;
    const notes = [...this.#notes].map(([name, text]) => `## ${name}\n${text}`).join("\n\n");
    return `${rules} ${asData("notes", notes, memory)}`;
  }

  /** All notes, whatever the query. */
  query(): Promise<MemoryContent[]> {
    return Promise.resolve(
      [...this.#notes].map(([name, content]) => ({
        content,
        mime_type: "text/markdown",
        metadata: { name },
      })),
    );
  }

  /** Writes a note. Its name is `name` of the metadata; without one it is numbered. */
  add({ content, metadata }: MemoryContent): Promise<void> {
    const chosenName = metadata?.["name"];
    let number = this.#notes.size + 1;
    while (this.#notes.has(`note ${number}`)) number++;
    this.#write(
      typeof chosenName === "string" ? chosenName : `note ${number}`,
      searchText(content),
    );
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.#notes = new Map();
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  saveState(): JsonObject {
    return { notes: Object.fromEntries(this.#notes) };
  }

  loadState(state: JsonObject): void {
    const { notes } = parseState(stateSchema, state, `a state of the memory "${this.name}"`);
    this.#notes = new Map(Object.entries(notes));
  }

  toConfig(): JsonObject {
    const notes = Object.keys(this.#initial).length > 0 ? this.#initial : null;
    return withoutNulls({ name: this.name, max_characters: this.#most, notes });
  }

  /** @throws ValueError that says how much room there is */
  #write(name: string, text: string): void {
    const next = new Map(this.#notes);
    next.set(name, text);
    this.#notes = this.#fitting(next, "text");
  }

  #fitting(notes: ReadonlyMap<string, string>, path: string): ReadonlyMap<string, string> {
    const size = sizeOf(notes);
    if (size <= this.#most) return notes;
    const message = `would make the notes ${size} characters long, and they may have ${this.#most}: shorten or delete some`;
    throw new ValueError(`${path} ${message}`, { issues: [{ path, message }] });
  }

  #tools(): StreamTool[] {
    return [
      new OwnTool(this.definition, {
        name: "note_write",
        description:
          "Writes a note that you will see from now on. A note with the same name is replaced.",
        parameters: z.object({
          name: nameSchema.describe("The note's name."),
          text: z.string().min(1).describe("The whole note, as Markdown."),
        }),
        run: ({ name, text }) => {
          this.#write(name, text);
          return Promise.resolve(`The note "${name}" is written.`);
        },
      }),
      new OwnTool(this.definition, {
        name: "note_delete",
        description: "Deletes one of your notes.",
        parameters: z.object({ name: nameSchema.describe("The note's name.") }),
        run: ({ name }) => {
          const left = new Map(this.#notes);
          const existed = left.delete(name);
          this.#notes = left;
          const names = [...left.keys()].map((one) => `"${one}"`).join(", ") || "none";
          return Promise.resolve(
            existed
              ? `The note "${name}" is deleted.`
              : `There is no note "${name}"; the notes are: ${names}.`,
          );
        },
      }),
    ];
  }
}

function sizeOf(notes: ReadonlyMap<string, string>): number {
  return [...notes].reduce((sum, [name, text]) => sum + name.length + text.length, 0);
}
