import type { JsonObject } from "../../../core/json.ts";
import { readObjectSchema } from "../../../core/json-schema/read-object-schema.ts";
import type { JsonOutput, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import { checkToolName } from "../chat/tool-name.ts";
import { OPEN, OPENAI_STRICT, type SchemaDialect } from "./dialects.ts";
import { SchemaWriter } from "./schema-writer.ts";
import { strictSchema } from "./strict-schema.ts";

/** A schema as a maker takes it. */
export interface AcceptedSchema {
  schema: JsonObject;
  /** True if the maker is to hold its model to the schema. */
  strict: boolean;
  /** A sentence about the parts of the given schema that the maker does not take. */
  note?: string | undefined;
}

/** Keywords that no server takes at the top of a tool's parameters, where an object has to be. */
const NOT_AT_THE_TOP = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"];

const outputs = new WeakMap<JsonObject, Map<SchemaDialect, AcceptedSchema>>();

/**
 * The parameters of a tool in the dialect of a maker: an equivalent where there is one, otherwise a schema that allows more.
 * The model's arguments are checked against the tool's own schema. A strict tool whose schema OpenAI's strict mode cannot
 * express is sent as one that is not strict.
 */
function acceptedTool(tool: ToolSchema, dialect: SchemaDialect): AcceptedSchema {
  const { name, parameters = {}, strict = false } = tool;
  const accept = strict ? acceptStrict : acceptOpen;
  return accept(parameters, dialect, `the tool "${name}"`);
}

/** The schema of a tool that the model gives its answer with. */
export function acceptedAnswer(schema: JsonObject, dialect: SchemaDialect): AcceptedSchema {
  return acceptOpen(schema, dialect, "the answer");
}

/** The schema of a structured answer in the dialect of a maker. The answer is checked against the given schema. */
export function acceptedOutput(schema: JsonObject, dialect: SchemaDialect): AcceptedSchema {
  const existing = outputs.get(schema) ?? new Map<SchemaDialect, AcceptedSchema>();
  outputs.set(schema, existing);
  let accepted = existing.get(dialect);
  if (accepted === undefined) {
    const strict = strictSchema(schema);
    accepted =
      readObjectSchema(strict) === undefined
        ? { schema: strict, strict: true }
        : acceptStrict(strict, dialect, "the answer");
    existing.set(dialect, accepted);
  }
  return accepted;
}

/** A tool as a client writes it. */
export interface WrittenTool<Wire> {
  wire: Wire;
  note?: string | undefined;
}

/** Writes each tool once: the same for as long as the tool is the same, so that prompts begin as before. */
export class ToolWriter<Wire> {
  readonly #dialect: SchemaDialect;
  readonly #write: (tool: ToolSchema, accepted: AcceptedSchema) => Wire;
  readonly #written = new WeakMap<ToolSchema, WrittenTool<Wire>>();

  constructor(dialect: SchemaDialect, write: (tool: ToolSchema, accepted: AcceptedSchema) => Wire) {
    this.#dialect = dialect;
    this.#write = write;
  }

  /** @throws ValueError for a name that model APIs do not accept */
  write(tool: ToolSchema): WrittenTool<Wire> {
    let found = this.#written.get(tool);
    if (found === undefined) {
      checkToolName(tool.name);
      const accepted = acceptedTool(tool, this.#dialect);
      found = { wire: this.#write(tool, accepted), note: accepted.note };
      this.#written.set(tool, found);
    }
    return found;
  }
}

/** The note about the parts that the schema of a structured answer has lost. */
export function outputNote(
  output: JsonOutput | null | undefined,
  dialect: SchemaDialect,
): string | undefined {
  const isSchema = typeof output === "object" && output !== null;
  return isSchema ? acceptedOutput(output.schema, dialect).note : undefined;
}

function acceptStrict(input: JsonObject, dialect: SchemaDialect, owner: string): AcceptedSchema {
  if (dialect !== OPEN) return { ...acceptOpen(input, dialect, owner), strict: true };
  const { schema, losses, conflicts } = written(input, OPENAI_STRICT);
  if (conflicts.length === 0)
    return { schema, strict: true, note: noteOf(losses, OPENAI_STRICT, owner) };
  const open = acceptOpen(input, dialect, owner);
  const reason = `${owner} is not strict, because ${OPENAI_STRICT.maker} does not take ${conflicts.join(", ")}`;
  return { ...open, note: open.note === undefined ? reason : `${reason}; ${open.note}` };
}

function acceptOpen(raw: JsonObject, dialect: SchemaDialect, owner: string): AcceptedSchema {
  const { schema, losses } = written(raw, dialect);
  return { schema, strict: false, note: noteOf(losses, dialect, owner) };
}

function noteOf(
  losses: readonly string[],
  { maker }: SchemaDialect,
  owner: string,
): string | undefined {
  if (losses.length === 0) return undefined;
  return `the schema of ${owner} was loosened, because ${maker} does not take ${losses.join(", ")}`;
}

function written(
  input: JsonObject,
  dialect: SchemaDialect,
): { schema: JsonObject; losses: string[]; conflicts: string[] } {
  const object = readObjectSchema(input);
  const { nullable: _, ...top }: JsonObject = object ?? {};
  const dropped = NOT_AT_THE_TOP.filter((keyword) => keyword in input && keyword !== "allOf");
  for (const keyword of NOT_AT_THE_TOP) delete top[keyword];
  if (object?.["type"] !== "object") top["type"] = "object";
  if (!("properties" in top)) top["properties"] = {};
  const writer = new SchemaWriter(top, dialect);
  const schema = writer.write();
  const atTop = dropped.map((keyword) => `"${keyword}" at the top`);
  const unread = object === undefined ? ["what is not the schema of an object"] : [];
  return {
    schema,
    losses: [...unread, ...atTop, ...writer.losses],
    conflicts: [...writer.conflicts, ...(dialect.strict ? [...unread, ...atTop] : [])],
  };
}
