import * as z from "zod";
import { readObjectSchema } from "../../../core/json-schema/read-object-schema.ts";
import { beginningOf } from "../../../core/cut.ts";
import { asJson, isJsonObject, type JsonObject } from "../../../core/json.ts";

// Lists of servers, read entry by entry: an entry is mended where its meaning is clear, and left out where it is not. The SDK would
// refuse the whole list for one entry.

/** The most characters of a name in a note. */
const MAX_LABEL = 100;

/** A field that is left out where it has another type. */
const text = z.string().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
const size = z.number().optional().catch(undefined);
const object = z.looseObject({}).optional().catch(undefined);

const icons = z
  .array(
    z.looseObject({
      src: z.string(),
      mimeType: text,
      sizes: z.array(z.string()).optional().catch(undefined),
      theme: z.enum(["light", "dark"]).optional().catch(undefined),
    }),
  )
  .optional()
  .catch(undefined);

/** Hints about who a part is for. */
export const annotationsSchema = z
  .looseObject({
    audience: z
      .array(z.enum(["user", "assistant"]))
      .optional()
      .catch(undefined),
    priority: z.number().min(0).max(1).optional().catch(undefined),
    lastModified: z.iso.datetime({ offset: true }).optional().catch(undefined),
  })
  .optional()
  .catch(undefined);

const toolAnnotations = z
  .looseObject({
    title: text,
    readOnlyHint: flag,
    destructiveHint: flag,
    idempotentHint: flag,
    openWorldHint: flag,
  })
  .optional()
  .catch(undefined);

const about = { title: text, description: text, icons, _meta: object };
const content = { ...about, mimeType: text, size, annotations: annotationsSchema };

const resourceEntry = z.looseObject({ ...content, uri: z.string().min(1), name: text });
const templateEntry = z.looseObject({ ...content, uriTemplate: z.string().min(1), name: text });
const promptEntry = z.looseObject({
  ...about,
  name: z.string().min(1),
  arguments: z.array(z.unknown()).optional().catch(undefined),
});
const promptArgument = z.looseObject({
  name: z.string().min(1),
  description: text,
  required: flag,
});

/** An entry as the SDK takes it, or the reason why it is left out. */
type ReadEntry = JsonObject | string;

interface ListKind {
  /** The field of the result that has the list. */
  field: string;
  /** The noun for an entry in notes. */
  noun: string;
  read: (entry: unknown) => ReadEntry;
}

/** The methods that answer with lists. */
export const LISTS: ReadonlyMap<string, ListKind> = new Map<string, ListKind>([
  ["tools/list", { field: "tools", noun: "tool", read: readTool }],
  ["resources/list", { field: "resources", noun: "resource", read: readResource }],
  [
    "resources/templates/list",
    { field: "resourceTemplates", noun: "resource template", read: readTemplate },
  ],
  ["prompts/list", { field: "prompts", noun: "prompt", read: readPrompt }],
]);

/**
 * The entries of a list that can be used. A list may also be an object with the entries by their names.
 *
 * @param leftOut gets the reason for each of the others
 */
export function readEntries(
  { field, noun, read }: ListKind,
  result: unknown,
  leftOut: (reason: string) => void,
): JsonObject[] {
  const list = Array.isArray(result) ? result : isJsonObject(result) ? result[field] : undefined;
  const entries: unknown[] = isJsonObject(list)
    ? Object.entries(list).map(([name, entry]) =>
        isJsonObject(entry) ? { name, ...entry } : entry,
      )
    : Array.isArray(list)
      ? list
      : [];
  return entries.flatMap((entry, index) => {
    const found = read(entry);
    if (typeof found !== "string") return [found];
    leftOut(`${noun} ${labelOf(entry) ?? index + 1} ${found}`);
    return [];
  });
}

function labelOf(entry: unknown): string | undefined {
  if (!isJsonObject(entry)) return undefined;
  const label = [entry["name"], entry["uri"], entry["uriTemplate"]]
    .filter((one) => typeof one === "string")
    .find((one) => one !== "");
  return label === undefined ? undefined : JSON.stringify(beginningOf(label, MAX_LABEL));
}

const NO_OBJECT = "is not an object";
/** The mark of a tool that models must not get. */
const FOR_PAGES: JsonObject = { ui: { visibility: ["app"] } };

/** The fields for models and the rules for calls; icons and output schemas may be large. */
function readTool(entry: unknown): ReadEntry {
  if (!isJsonObject(entry)) return NO_OBJECT;
  const { name } = entry;
  if (typeof name !== "string" || name === "") return "has no name";
  // Some servers use the names of model APIs.
  const schema = entry["inputSchema"] ?? entry["input_schema"] ?? entry["parameters"];
  const inputSchema = readObjectSchema(schema);
  if (inputSchema === undefined) return "has an inputSchema that is not the schema of an object";
  const description = text.parse(entry["description"]);
  const annotations = toolAnnotations.parse(entry["annotations"]);
  return {
    name,
    inputSchema,
    ...(description !== undefined && { description }),
    ...(annotations !== undefined && { annotations: withoutGaps(annotations) }),
    ...(!isForModels(entry) && { _meta: FOR_PAGES }),
  };
}

/** False for a tool that its server offers to its own pages only (`_meta.ui.visibility` of MCP Apps). */
export function isForModels({ _meta: meta }: { _meta?: unknown }): boolean {
  const { ui } = isJsonObject(meta) ? meta : {};
  const { visibility } = isJsonObject(ui) ? ui : {};
  return visibility == null || [visibility].flat().includes("model");
}

function readResource(entry: unknown): ReadEntry {
  const { data } = resourceEntry.safeParse(entry);
  if (data === undefined) return isJsonObject(entry) ? "has no uri" : NO_OBJECT;
  return withoutGaps({ ...data, name: data.name ?? data.uri });
}

function readTemplate(entry: unknown): ReadEntry {
  const { data } = templateEntry.safeParse(entry);
  if (data === undefined) return isJsonObject(entry) ? "has no uriTemplate" : NO_OBJECT;
  return withoutGaps({ ...data, name: data.name ?? data.uriTemplate });
}

function readPrompt(entry: unknown): ReadEntry {
  const { data } = promptEntry.safeParse(entry);
  if (data === undefined) return isJsonObject(entry) ? "has no name" : NO_OBJECT;
  const readArguments = data.arguments?.flatMap((one) => {
    const argument = promptArgument.safeParse(one).data;
    return argument === undefined ? [] : [withoutGaps(argument)];
  });
  return withoutGaps({ ...data, arguments: readArguments });
}

/** Without the fields that were left out. */
export function withoutGaps(value: object): JsonObject {
  const json = asJson(value);
  return isJsonObject(json) ? json : {};
}
